"""Deficient mismatch repair is instability of microsatellites, proficient is stability."""

from tests.grid import grid
from workers.extract.fields import Status
from workers.extract.loop.extraction import extract_text
from workers.extract.parts import Parts
from workers.extract.rules.choosing import extract_field
from workers.extract.values import Microsatellites


def status(text: str) -> str | None:
    found = extract_field("msi_status", Parts(text))
    assert found.status is not Status.AMBIGUOUS
    value = found.items[0].value if found.items else None
    return value.status if isinstance(value, Microsatellites) else None


@grid(
    ("text", "wanted"),
    [
        ("MMR status: proficient", "MSS"),
        ("MMR proficient (pMMR)", "MSS"),
        ("nuclear expression retained (pMMR)", "MSS"),
        ("The tumour is MMR-proficient.", "MSS"),
        ("mismatch repair proficient", "MSS"),
        ("Interpretation: dMMR.", "MSI-H"),
        ("MMR-deficient", "MSI-H"),
        ("deficient MMR", "MSI-H"),
        ("mismatch repair deficient (dMMR)", "MSI-H"),
        ("mismatch repair protein deficiency", "MSI-H"),
        ("MMR: deficient", "MSI-H"),
        ("MSI-High: not detected", "MSS"),
        ("dMMR / MSI-H", "MSI-H"),
        ("no evidence of mismatch repair deficiency", "MSS"),
        ("Not dMMR.", None),
        ("MMR pending", None),
        ("dMMR testing requested", None),
        ("pembrolizumab is approved for dMMR tumors", None),
        ("MMR IHC to exclude dMMR", None),
        ("? dMMR", None),
    ],
)
def test_what_is_said_of_mismatch_repair_is_a_status(text: str, wanted: str | None) -> None:
    assert status(f"Adenocarcinoma of the colon.\n{text}\n") == wanted


def test_proficient_and_unstable_in_one_report_are_ambiguous() -> None:
    text = "PATHOLOGY REPORT\nAdenocarcinoma of the colon, grade 2.\npMMR.\nMSI-H by PCR.\n"
    found = extract_text(text, document_type="pathology")
    assert found.fields["msi_status"].status is Status.AMBIGUOUS
    assert found.needs_review
