"""HER2: where the stain is equivocal, the hybridization decides."""

import pytest

from tests.grid import grid
from workers.extract.fields import FieldResult, Status
from workers.extract.loop.extraction import extract_text
from workers.extract.parts import Parts
from workers.extract.rules.choosing import extract_field
from workers.extract.values import Marker

EQUIVOCAL = ["HER2: 2+ (equivocal)", "HER2 IHC 2+", "HER2 equivocal (2+)"]
POSITIVE = ["FISH: amplified", "FISH amplified", "HER2 FISH: amplified", "FISH: positive",
            "HER2 gene amplification detected by FISH", "FISH for HER2: Amplified (ratio 4.2)",
            "HER2/CEP17 ratio 4.2 by FISH, amplified", "ISH positive", "HER2 by ISH: amplified",
            "Fluorescence in situ hybridization: amplified",
            "FISH shows amplification of HER2",
            "FISH is positive for HER2 amplification"]  # fmt: skip
NEGATIVE = ["FISH: not amplified", "FISH not amplified", "HER2 FISH: non-amplified",
            "FISH: negative", "HER2 is not amplified by FISH", "No HER2 amplification by FISH",
            "FISH negative for HER2 amplification", "HER2 FISH: no amplification",
            "FISH: no evidence of amplification"]  # fmt: skip
OPEN = ["FISH pending", "FISH is recommended", "HER2 FISH: to follow", "FISH: equivocal",
        "FISH was ordered; if amplified, treatment will change", "HER2 FISH cannot be assessed",
        "ALK FISH: positive", "FISH for ALK: amplified"]  # fmt: skip


def her2(words: str) -> FieldResult:
    return extract_field("ihc_markers", Parts(f"IMMUNOHISTOCHEMISTRY:\n{words}\nKi-67: 20%\n"))


def result_of(words: str) -> str | None:
    found = her2(words)
    assert found.status is Status.FOUND
    (result,) = (one.value.result for one in found.items
                 if isinstance(one.value, Marker) and one.value.marker == "HER2")  # fmt: skip
    return result


@grid("joint", ["; ", ", ", ".\n", ". ", "\n", "\nKi-67: 20%\n", "; reflex "])
@grid("stain", EQUIVOCAL)
@grid(
    ("words", "result"),
    [
        *((one, "positive") for one in POSITIVE),
        *((one, "negative") for one in NEGATIVE),
        *((one, "equivocal") for one in OPEN),
    ],
)
def test_hybridization_decides_where_the_stain_is_equivocal(
    stain: str, joint: str, words: str, result: str
) -> None:
    assert result_of(f"{stain}{joint}{words}") == result


@pytest.mark.parametrize("stain", ["HER2: 3+ (positive)", "HER2: 1+ (negative)", "HER2: negative"])
def test_a_stain_that_is_not_equivocal_stands(stain: str) -> None:
    assert str(result_of(stain)) in stain


def test_two_hybridizations_that_contradict_each_other_leave_it_open() -> None:
    found = her2("HER2: 2+ (equivocal)\nHER2 FISH: amplified\nHER2 FISH: not amplified")
    assert found.status is Status.AMBIGUOUS


def test_what_decides_is_read_so_to_the_end() -> None:
    text = (
        "SURGICAL PATHOLOGY REPORT\nFinal diagnosis: Invasive ductal carcinoma, grade 2\n"
        "IMMUNOHISTOCHEMISTRY:\nER: Positive (95%)\nHER2: 2+ (equivocal)\nHER2 FISH: amplified\n"
    )
    found = extract_text(text)
    results = {one.value.marker: one.value.result for one in found.fields["ihc_markers"].items
               if isinstance(one.value, Marker)}  # fmt: skip
    assert results == {"ER": "positive", "HER2": "positive"}
    assert found.parts[0].outcome.best.score == 1.0
