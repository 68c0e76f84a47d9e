"""Values in forms that real documents have: capitals, brackets, two days of a month, spoons."""

from typing import Any

import pytest

from workers.extract.intake.readability import assess
from workers.extract.parts import Parts
from workers.extract.rules.choosing import extract_field


def values(field: str, text: str) -> list[dict[str, Any]]:
    return [one.value.model_dump() for one in extract_field(field, Parts(text)).items]


@pytest.mark.parametrize(
    "text", ["MET: no exon 14 skipping", "ERBB2: no exon 20 insertion", "KIT: no exon 11 deletion"]
)
def test_an_event_that_is_denied_is_none(text: str) -> None:
    assert values("mutations", f"Molecular pathology\n{text}\n") == []


def test_a_drug_behind_a_label_in_brackets() -> None:
    text = "[Current therapy] daratumumab 1800 mg s.c., lenalidomide 15 mg\n"
    assert [one["name"] for one in values("medications", text)] == ["daratumumab", "lenalidomide"]


@pytest.mark.parametrize("unit", ["tsp", "teaspoons"])
def test_a_dose_in_spoons(unit: str) -> None:
    (drug,) = values("medications", f"Discharge medications\nSyp Hepamerz 2 {unit} BD\n")
    assert (drug["name"], drug["dose"]) == ("Hepamerz", 2.0)


def test_units_in_capitals() -> None:
    found = values("lab_values", "LABS\nHB 11.4 G/DL, S.CREATININE 0.9 MG/DL\n")
    assert [(one["name"], one["unit"]) for one in found] == [
        ("hemoglobin", "G/DL"), ("creatinine", "MG/DL")
    ]  # fmt: skip


def test_nodes_that_hold_metastasis() -> None:
    (found,) = values("lymph_nodes", "Eleven hilar nodes were found, two of which hold metastasis.")
    assert (found["positive"], found["examined"]) == (2, 11)


def test_a_drawn_frame_makes_no_text_unreadable() -> None:
    row = "│ Conclusion │ Tear of the medial meniscus, ligaments intact │\n"
    assert assess("┌" + "─" * 50 + "┐\n" + row * 3 + "└" + "─" * 50 + "┘\n").readable


@pytest.mark.parametrize(
    "text",
    [
        "About 200 ml of blood were lost.",
        "She lost 200 mL of blood.",
        "He lost about 200 cc blood.",
    ],
)
def test_blood_that_was_lost(text: str) -> None:
    (found,) = values("blood_loss", f"Operation note\n\nAll went well. {text}\n")
    assert found["number"] == 200.0


def test_a_drug_that_was_prescribed() -> None:
    (drug,) = values("medications", "He was prescribed amoxicillin 500 mg three times a day.\n")
    assert (drug["name"], drug["dose"]) == ("amoxicillin", 500.0)


@pytest.mark.parametrize(
    ("field", "text"),
    [("histology", "The tumor of his brother was melanoma."),
     ("perineural_invasion", "Perineural invasion is scored as present or absent.")],
)  # fmt: skip
def test_what_is_anothers_or_may_be_said_is_no_value(field: str, text: str) -> None:
    assert values(field, f"Hill Hospital\n\n{text}\n") == []
