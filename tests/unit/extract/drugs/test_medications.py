"""Which dose and frequency is a drug's, and which drug is no longer taken."""

import pytest

from tests.grid import grid
from workers.extract.loop.extraction import extract_text
from workers.extract.parts import Parts
from workers.extract.rules.choosing import extract_field
from workers.extract.values import Medication

Taken = tuple[str, float | None, str | None]


def taken(text: str) -> list[Taken]:
    """Name, dose and frequency of each medication."""
    items = extract_field("medications", Parts(text)).items
    values = [one.value for one in items if isinstance(one.value, Medication)]
    return [(one.name.lower(), one.dose, one.frequency) for one in values]


def names(text: str) -> list[str]:
    return [name for name, _, _ in taken(text)]


@grid(
    ("text", "expected"),
    [
        (
            "Methotrexate 15 mg every Sunday, folic acid 5 mg daily",
            [("methotrexate", 15, "every sunday"), ("folic acid", 5, "daily")],
        ),
        (
            "Methotrexate 15 mg on Mondays and folic acid 5 mg daily",
            [("methotrexate", 15, "on mondays"), ("folic acid", 5, "daily")],
        ),
        (
            "Alendronate 70 mg every Saturday, vitamin D 1000 units daily",
            [("alendronate", 70, "every saturday")],
        ),
        (
            "Methotrexate 15 mg, folic acid 5 mg daily",
            [("methotrexate", 15, None), ("folic acid", 5, "daily")],
        ),
        (
            "Aspirin 81 mg, calcium carbonate plus vitamin D 600 mg twice daily",
            [("aspirin", 81, None)],
        ),
        ("Prednisone 40 mg daily for 5 days, then 20 mg daily", [("prednisone", 40, "daily")]),
        ("Prednisone 40 mg for five days then 20 mg daily", [("prednisone", 40, None)]),
        (
            "Aspirin 81 mg, nightly atorvastatin 40 mg",
            [("aspirin", 81, None), ("atorvastatin", 40, None)],
        ),
    ],
)
def test_a_drug_takes_no_frequency_of_another_dose(text: str, expected: list[Taken]) -> None:
    assert taken(text) == expected


@grid(
    ("words", "frequency"),
    [
        ("every Sunday", "every sunday"),
        ("each Monday", "each monday"),
        ("once weekly on Sundays", "once weekly on sundays"),
        ("on Mondays, Wednesdays and Fridays", "on mondays, wednesdays and fridays"),
        ("Mon/Wed/Fri", "mon/wed/fri"),
        ("every week", "every week"),
        ("up to four times daily as needed", "up to four times daily"),
        ("3 times daily", "3 times daily"),
        ("two times a day", "two times a day"),
        ("2x daily", "2x daily"),
        ("every 4 to 6 hours", "every 4 to 6 hours"),
        ("tablets, take one tablet by mouth twice daily", "twice daily"),
        ("(Lasix) for swelling daily", "daily"),
        ("PO for 7 days BID", "bid"),
    ],
)
def test_a_frequency_is_read_whole(words: str, frequency: str) -> None:
    assert taken(f"Furosemide 40 mg {words}") == [("furosemide", 40, frequency)]


@pytest.mark.parametrize(
    "words",
    [
        "as the clinic said, folate daily",
        "with his inhaler and her usual multivitamin daily",
        "in the morning and at bedtime",
        "daily except Wednesdays",
        "not daily",
    ],
)
def test_there_is_no_frequency_behind_words_that_no_rule_reads(words: str) -> None:
    assert taken(f"Methotrexate 15 mg {words}") == [("methotrexate", 15, None)]


@grid(
    ("text", "expected"),
    [
        ("Metoprolol increased from 25 mg to 50 mg BID", [("metoprolol", 50, "bid")]),
        ("Increased metoprolol from 25 mg to 50 mg BID", [("metoprolol", 50, "bid")]),
        ("Lisinopril 10 mg daily increased to 20 mg daily", [("lisinopril", 20, "daily")]),
        ("Lisinopril 10 mg daily, was increased to 20 mg", [("lisinopril", 20, None)]),
        ("Lisinopril 10 mg -> 20 mg daily", [("lisinopril", 20, "daily")]),
        ("Increase lisinopril to 20 mg daily", [("lisinopril", 20, "daily")]),
        ("Gabapentin 300 mg TID titrated up to 600 mg TID", [("gabapentin", 600, "tid")]),
        ("Metformin 500 mg BID, increase to 1000 mg BID next week", [("metformin", 500, "bid")]),
        ("Warfarin was reduced to 2.5 mg daily", [("warfarin", 2.5, "daily")]),
        ("Oxycodone 5 mg to 10 mg every 4 hours", []),
    ],
)
def test_of_a_dose_that_was_changed_the_new_one_counts(text: str, expected: list[Taken]) -> None:
    assert taken(text) == expected


@pytest.mark.parametrize(
    "text", ["Increased from 25 mg to 50 mg BID", "Take 500 mg daily", "Started on 20 mg daily"]
)
def test_a_verb_or_a_preposition_is_no_name(text: str) -> None:
    assert taken(text) == []
    note = f"Prescription\nDate: 2024-05-17\nPatient: comfortable at rest\n{text}\nPrescriber: A\n"
    assert extract_text(note, document_type="prescription").needs_review


@grid(
    "text",
    [
        "No longer on warfarin 5 mg daily.",
        "She is not on aspirin 81 mg daily",
        "Previously on warfarin 5 mg daily.",
        "Formerly on metformin 500 mg BID",
        "She is not currently on warfarin 5 mg daily",
        "Never on warfarin 5 mg daily",
        "Warfarin 5 mg daily (patient not taking)",
        "Warfarin 5 mg daily [not taking]",
        "She was previously taking warfarin 5 mg daily",
        "Warfarin 5 mg daily (she stopped taking)",
        "Completed a course of ciprofloxacin 500 mg BID",
        "Finished a 7-day course of amoxicillin 500 mg TID",
        "Completed ciprofloxacin 500 mg BID",
        "Ciprofloxacin 500 mg BID - completed",
        "Prior trials: sertraline 100 mg, fluoxetine 20 mg daily, citalopram 20 mg",
        "PRIOR TRIALS\n- sertraline 100 mg\n- fluoxetine 20 mg\n",
        "Depression; prior trials of sertraline 100 mg and fluoxetine 20 mg",
    ],
)
def test_what_is_no_longer_taken_is_no_medication(text: str) -> None:
    assert names(text) == []
    assert names(f"Clinic note\n{text}\n") == []


@grid(
    ("text", "expected"),
    [
        ("Warfarin 5 mg daily -> switched to apixaban 5 mg BID", ["apixaban"]),
        ("Warfarin 5 mg daily, changed to apixaban 5 mg BID", ["apixaban"]),
        ("Warfarin 5 mg daily was replaced by apixaban 5 mg BID", ["apixaban"]),
        ("Warfarin 5 mg BID changed to once daily", ["warfarin"]),
        ("She is on aspirin 81 mg daily", ["aspirin"]),
        ("No longer on warfarin 5 mg; now on apixaban 5 mg BID", ["apixaban"]),
        ("Amoxicillin 500 mg TID, to be completed on 5 May", ["amoxicillin"]),
        ("Completed knee surgery. On aspirin 81 mg daily", ["aspirin"]),
        ("Complete a course of amoxicillin 500 mg TID", ["amoxicillin"]),
    ],
)
def test_what_came_instead_or_goes_on_is_a_medication(text: str, expected: list[str]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Medications on admission: Warfarin 5 mg daily\n"
            "Discharge medications: Apixaban 5 mg BID\n",
            ["apixaban"],
        ),
        (
            "ADMISSION MEDICATIONS\n- warfarin 5 mg daily\n- aspirin 81 mg daily\n\n"
            "DISCHARGE MEDICATIONS\n- apixaban 5 mg BID\n- aspirin 81 mg daily\n",
            ["apixaban", "aspirin"],
        ),
        (
            "Medications on admission: Warfarin 5 mg daily\nDischarge medications: unchanged\n",
            ["warfarin"],
        ),
        (
            "Medications on admission: Warfarin 5 mg daily\n"
            "Discharge medications: continue all home medications\n",
            ["warfarin"],
        ),
        ("Medications on admission: Warfarin 5 mg daily\nPlan: rest\n", ["warfarin"]),
    ],
)
def test_where_there_is_a_list_of_discharge_that_of_admission_is_of_another_time(
    text: str, expected: list[str]
) -> None:
    assert names(text) == expected


@pytest.mark.parametrize("text", ["Twin B: male, 2400 g", "Placenta, 450 g, complete"])
def test_the_weight_of_a_newborn_or_an_organ_is_no_dose(text: str) -> None:
    assert names(text) == []


@pytest.mark.parametrize(
    ("words", "unit", "route", "frequency"),
    [
        ("62.5 micrograms OM", "mcg", None, "om"),
        ("40mg s/c once daily", "mg", "sc", "once daily"),
        ("1 gram i/v q 8 h", "g", "iv", "q 8 h"),
        ("500 milligrams p/o twice daily", "mg", "po", "twice daily"),
    ],
)
def test_units_and_routes_are_read_in_the_writings_of_other_countries(
    words: str, unit: str, route: str | None, frequency: str
) -> None:
    (item,) = extract_field("medications", Parts(f"Digoxin {words}")).items
    assert isinstance(item.value, Medication)
    assert (item.value.unit, item.value.route, item.value.frequency) == (unit, route, frequency)
