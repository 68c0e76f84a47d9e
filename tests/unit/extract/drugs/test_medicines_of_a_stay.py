"""Drugs that were given in hospital only are no medications that the patient takes now."""

import pytest

from workers.extract.parts import Parts
from workers.extract.rules.choosing import extract_field
from workers.extract.values import Medication


def drugs(text: str) -> set[str]:
    values = [one.value for one in extract_field("medications", Parts(text)).items]
    return {one.name.lower() for one in values if isinstance(one, Medication)}


STAY = """Discharge Summary

Hospital Course:
81F admitted with urosepsis. Started on meropenem 1 g IV q8h, narrowed to ertapenem 1 g IV daily.
Received enoxaparin 40 mg SC daily. Potassium replaced with potassium chloride 20 mEq.

Discharge Medications:
- Cefalexin 500 mg PO QID for 5 days
- Apixaban 2.5 mg PO BID
"""


def test_the_course_in_hospital_tells_of_no_medications_where_a_list_of_the_discharge_is() -> None:
    assert drugs(STAY) == {"cefalexin", "apixaban"}


def test_what_the_course_says_the_patient_goes_home_on_is_taken() -> None:
    text = STAY.replace(
        "Potassium replaced with potassium chloride 20 mEq.",
        "She was discharged on fosfomycin 3 g once weekly.",
    )
    assert drugs(text) == {"cefalexin", "apixaban", "fosfomycin"}


def test_a_course_is_believed_where_no_list_of_the_discharge_is() -> None:
    text = (
        "Hospital course: He improved on furosemide 40 mg PO daily and ramipril 2.5 mg PO daily.\n"
    )
    assert drugs(text) == {"furosemide", "ramipril"}


@pytest.mark.parametrize(
    "heading",
    ["Inpatient medications", "Treatment in hospital", "Medications given in ED", "ED course",
     "Treatment given", "In-patient treatment", "Drugs given during admission"],
)  # fmt: skip
def test_headings_of_a_stay_head_no_medications(heading: str) -> None:
    text = (
        f"{heading}: vancomycin 1 g IV, lorazepam 2 mg IV\n\nDischarge medications:\n"
        "1. Amlodipine 5 mg daily\n"
    )
    assert drugs(text) == {"amlodipine"}


@pytest.mark.parametrize(
    "told",
    ["In the ED she received morphine 4 mg IV and ondansetron 4 mg IV.",
     "He was given adenosine 6 mg IV en route.",
     "She was loaded with aspirin 300 mg by the ambulance crew.",
     "A single dose of furosemide 80 mg IV was given on arrival.",
     "He got one dose of dexamethasone 6 mg overnight.",
     "Cefazolin 2 g IV given at induction."],
)  # fmt: skip
def test_what_was_given_once_or_in_an_acute_place_is_not_taken(told: str) -> None:
    text = f"HPI: {told}\n\nCurrent medications:\nLisinopril 10 mg daily\n"
    assert drugs(text) == {"lisinopril"}


def test_what_was_given_as_a_prescription_is_taken() -> None:
    assert drugs("She was given amoxicillin 500 mg TID for 7 days.\n") == {"amoxicillin"}


@pytest.mark.parametrize(
    "told",
    ["Treatment: Doxorubicin and cyclophosphamide x 4 completed May 2022",
     "Oxaliplatin x 8 cycles, finished 03/2021",
     "FLUOXETINE 20MG CAPS  ended 04/2022",
     "Omeprazole 20 mg od (ended)"],
)  # fmt: skip
def test_a_course_that_was_completed_is_not_taken(told: str) -> None:
    assert drugs(f"Medications\n{told}\nBisoprolol 5 mg od\n") == {"bisoprolol"}


@pytest.mark.parametrize(
    "heading", ["Past repeats", "Inactive medications", "ENDED MEDICATIONS", "Past drugs",
                "Past prescriptions"]
)  # fmt: skip
def test_headings_of_what_is_past_head_nothing_that_is_taken(heading: str) -> None:
    text = f"Current medication\nSertraline 50 mg od\n\n{heading}\nDiazepam 2 mg prn\n"
    assert drugs(text) == {"sertraline"}


@pytest.mark.parametrize("form", ["Tab.", "Cap.", "Inj.", "Syp.", "TAB."])
def test_a_form_that_is_cut_short_ends_no_sentence(form: str) -> None:
    text = f"Rx\n1) {form} Losartan 50 mg 1-0-0\n\nStop {form} Amlodipine 5 mg\n"
    assert drugs(text) == {"losartan"}


@pytest.mark.parametrize(
    ("line", "name"),
    [("carvedilol phosphate (COREG CR) 20 mg capsule, 1 daily", "carvedilol phosphate"),
     ("diltiazem (CARDIZEM-CD) 120 mg 24 hr capsule daily", "diltiazem"),
     ("Tab. Ecosprin (aspirin) 75 mg 0-1-0", "aspirin"),
     ("Tab Janumet (sitagliptin/metformin) 50 mg bd", "janumet")],
)  # fmt: skip
def test_a_name_in_brackets_is_the_brand_or_the_drug(line: str, name: str) -> None:
    assert name in drugs(f"Current medications:\n{line}\n")
