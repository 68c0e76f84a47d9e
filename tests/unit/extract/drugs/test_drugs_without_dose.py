"""A drug of a list of medicines is one of them though no dose stands behind it."""

import pytest

from tests.grid import grid
from workers.extract.loop.extraction import extract_text
from workers.extract.parts import Parts
from workers.extract.rules.choosing import extract_field
from workers.extract.values import Medication


def taken(text: str) -> list[tuple[str, float | None]]:
    values = [one.value for one in extract_field("medications", Parts(text)).items]
    return [(one.name.lower(), one.dose) for one in values if isinstance(one, Medication)]


@pytest.mark.parametrize(
    "text",
    [
        "Medications: warfarin, digoxin, furosemide 40 mg daily\nPlan: INR\n",
        "Current medications:\n- warfarin\n- digoxin\n- furosemide 40 mg daily\n\nPlan: INR\n",
        "Current meds - warfarin, digoxin, furosemide 40 mg daily\n",
        "DH: warfarin, digoxin, furosemide 40mg od.\n",
    ],
)
def test_a_listed_drug_needs_no_dose(text: str) -> None:
    assert taken(text) == [("warfarin", None), ("digoxin", None), ("furosemide", 40.0)]


@grid(
    "text",
    [
        "Allergies: warfarin, digoxin\n",
        "Medications: warfarin - stopped, digoxin discontinued\n",
        "Stop taking:\n- warfarin\n- digoxin\n",
        "Medications: none (warfarin declined)\n",
        "Family history: mother on warfarin\n",
        "We discussed warfarin and digoxin.\n",
        "Medications: digoxin level pending\n",
        "Medications: no aspirin\n",
    ],
)
def test_what_is_not_taken_or_only_spoken_of_is_none(text: str) -> None:
    assert taken(text) == []


def test_a_drug_with_its_dose_is_listed_once() -> None:
    text = "Medications: aspirin, metoprolol\nPlan: continue aspirin 81 mg daily.\n"
    assert set(taken(text)) == {("aspirin", 81.0), ("metoprolol", None)}


def test_the_frequency_of_a_drug_without_dose_is_read() -> None:
    found = extract_field("medications", Parts("Medications: warfarin daily, digoxin\n"))
    assert [one.value.frequency for one in found.items if isinstance(one.value, Medication)] == [
        "daily", None]  # fmt: skip


def test_the_score_does_not_call_such_a_drug_missed() -> None:
    text = (
        "Clinic note\nMedications: warfarin, digoxin\nAssessment: Atrial fibrillation\nPlan: INR\n"
    )
    found = extract_text(text, document_type="clinical-notes")
    assert [len(one.outcome.best.attempt.fields["medications"].items) for one in found.parts] == [2]
    assert "medications" not in found.parts[0].outcome.best.evaluation.feedback.review_fields


def test_the_drugs_of_the_discharge_are_not_stopped_by_its_short_form() -> None:
    text = "Meds on d/c:\namoxicillin 500 mg TDS for 3 days\nwarfarin\n"
    assert set(taken(text)) == {("amoxicillin", 500.0), ("warfarin", None)}


@grid(("head",), [("DISCHARGE MEDICATIONS",), ("TTO",), ("Current medicines",)])
def test_a_drug_of_a_list_needs_neither_a_dose_nor_a_name_that_a_table_has(head: str) -> None:
    text = (
        "DISCHARGE SUMMARY\nHill Hospital\nDiagnosis: Pneumonia\n\n"
        f"{head}\n- Tab Zyvorin one at night\n- Cap Quelaflox twice daily\n- Tab aspirin 75 mg\n"
    )
    found = extract_text(text, document_type="discharge-summary")
    (items,) = [one.outcome.best.attempt.fields["medications"].items for one in found.parts]
    names = " ".join(one.value.name.lower() for one in items if isinstance(one.value, Medication))
    assert [one for one in ("zyvorin", "quelaflox", "aspirin") if one in names] == [
        "zyvorin", "quelaflox", "aspirin"
    ]  # fmt: skip
