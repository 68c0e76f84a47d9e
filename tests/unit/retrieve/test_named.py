"""Which identifiers a question names."""

import pytest

from store.documents import identifiers as works
from store.documents.records import Identifiers
from workers.retrieve.named_works import identifiers
from workers.retrieve.understanding.read import names


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("What does PMID 101 report?", {"pmid": {"101"}}),
        ("what did pmid: 101 find on stroke", {"pmid": {"101"}}),
        ("Summarize PMC202 and PMID 101.", {"pmid": {"101"}, "pmcid": {"PMC202"}}),
        ("What is the status of NCT00000303?", {"nct_id": {"NCT00000303"}}),
        ("Results of 10.5555/Made-Up.404?", {"doi": {"10.5555/made-up.404"}}),
        ("What does DYNAMIC report on ctDNA in 2022?", {}),
    ],
)
def test_identifiers_are_read_as_people_write_them(
    question: str, found: dict[str, set[str]]
) -> None:
    assert identifiers(names(question)) == found


SET_ID = "0a1b2c3d-0000-4000-8000-00000000beef"
WRITTEN = {
    "pmid": ("PMID 101", "101"),
    "pmcid": ("PMC202", "PMC202"),
    "doi": ("10.5555/Made-Up.404", "10.5555/made-up.404"),
    "nct_id": ("nct00000303", "NCT00000303"),
    "registry_id": ("jRCT0000000001", "jrct0000000001"),
    "set_id": (SET_ID.upper(), SET_ID),
    "lcd_id": ("l00001", "L00001"),
}
"""Each kind of identifier as a question has it, and as it is compared."""


@pytest.mark.parametrize("kind", sorted(Identifiers.model_fields))
def test_every_kind_of_identifier_is_known_wherever_works_are_asked_for_by_it(kind: str) -> None:
    written, value = WRITTEN[kind]
    asked = f"What does {written} say?"
    assert identifiers(names(asked)) == {kind: {value}}
    assert works.normal(kind, written.removeprefix("PMID ")) == value


@pytest.mark.parametrize(
    "written",
    [
        "ACTRN00000000000001",
        "UMIN000000001",
        "ISRCTN00000001",
        "jRCTs000000001",
        "EUCTR2000-000001-01-GB",
    ],
)
def test_numbers_of_all_registries_are_read(written: str) -> None:
    Identifiers(registry_id=written)
    assert identifiers(names(f"Is {written} open?")) == {"registry_id": {written.lower()}}


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Summarize LCD L00001", {"lcd_id": {"L00001"}}),
        ("When did L00001 and article A00002 take effect?", {"lcd_id": {"L00001", "A00002"}}),
        ("Is HCPCS A4253 or ICD-10 L89.152 covered?", {}),
        ("What does the LCD say on CPAP?", {}),
    ],
)
def test_policies_are_read_by_their_numbers_and_codes_are_none(
    question: str, found: dict[str, set[str]]
) -> None:
    assert identifiers(names(question)) == found
    assert not {"LCD", "NCD"} & set(names(question)), "what stands before a number names nothing"
