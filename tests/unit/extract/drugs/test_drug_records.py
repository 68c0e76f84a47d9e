"""Drugs whose name, dose, route and times stand in cells of their own."""

from typing import Any

from workers.extract.parts import Parts
from workers.extract.rules.choosing import extract_field


def drugs(text: str) -> list[tuple[Any, ...]]:
    found = [one.value.model_dump() for one in extract_field("medications", Parts(text)).items]
    return [(one["name"], one["dose"], one["unit"], one["frequency"]) for one in found]


def test_a_line_of_labelled_cells_is_one_drug() -> None:
    text = (
        "Medicine: Rivaroxaban   Dose: 20 mg   Route: PO   Freq: daily\n"
        "Medicine: Perindopril arginine   Dose: 5 mg   Route: PO   Freq: mane\n"
    )
    assert drugs(text) == [
        ("Rivaroxaban", 20.0, "mg", "daily"),
        ("Perindopril arginine", 5.0, "mg", "mane"),
    ]


def test_lines_of_labels_are_one_drug_each() -> None:
    text = (
        "Drug: Metformin\nStrength: 500 mg\nDirections: twice daily\n"
        "Drug: Gliclazide\nStrength: 80 mg\nDirections: once daily\n"
    )
    assert drugs(text) == [
        ("Metformin", 500.0, "mg", "twice daily"),
        ("Gliclazide", 80.0, "mg", "once daily"),
    ]


def test_of_two_columns_of_doses_the_one_for_the_patient_counts() -> None:
    text = (
        "Drug            Dose/m2     Dose         Route\n"
        "Oxaliplatin     85 mg       155 mg       IV\n"
        "Irinotecan      150 mg      275 mg       IV\n"
    )
    assert [one[:3] for one in drugs(text)] == [
        ("Oxaliplatin", 155.0, "mg"),
        ("Irinotecan", 275.0, "mg"),
    ]


def test_a_record_under_what_was_ceased_is_none() -> None:
    text = "REGULAR\nMedicine: Apixaban   Dose: 5 mg\nCEASED\nMedicine: Ibuprofen   Dose: 400 mg\n"
    assert [one[0] for one in drugs(text)] == ["Apixaban"]


def test_a_dose_of_something_that_is_no_drug_makes_no_record() -> None:
    assert drugs("Item: total radiation\nOrgan: lung\nDose: 50 Gy\n") == []


def test_a_known_drug_before_a_dose_needs_no_label_of_drugs() -> None:
    text = "medicines:\n  - name: amoxicillin\n    dose: 500 mg\n    frequency: three times daily\n"
    assert drugs(text) == [("amoxicillin", 500.0, "mg", "three times daily")]
    assert drugs("people:\n  - name: Mary Jones\n    dose: 500 mg\n") == []
