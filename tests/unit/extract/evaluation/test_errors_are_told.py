"""Signs by which a wrong value differs from a right one: they cost, and a person looks."""

import pytest

from workers.extract.loop.extraction import Extraction, extract_text

REPORT = """LABORATORY REPORT
Northfield Hospital
Date of report: 2024-03-02

Test            Result   Flag   Units     Reference range
Sodium          139             mmol/L    135-145
Potassium       {potassium}   mmol/L    3.5-5.1
Creatinine      71              umol/L    45-84
Albumin         31       L      g/L       35-50
{more}
"""
RIGHT = "4.2            "


def report(potassium: str = RIGHT, more: str = "") -> Extraction:
    return extract_text(REPORT.format(potassium=potassium, more=more))


def issues(found: Extraction) -> str:
    evaluation = found.parts[0].outcome.best.evaluation
    return " ".join(one.description for one in evaluation.feedback.issues)


def test_a_report_whose_values_agree_with_flags_and_ranges_opens_no_review() -> None:
    found = report()
    assert len(found.fields["lab_values"].items) == 4
    assert not found.needs_review
    assert found.parts[0].outcome.best.score > 0.95


@pytest.mark.parametrize(
    ("potassium", "said"),
    [
        ("42             ", "no living patient"),
        ("4.2      H     ", "flag of potassium"),
        ("5.9      L     ", "flag of potassium"),
        ("6.4            ", "outside its range"),
        ("6.4      N     ", "flag of potassium"),
    ],
)
def test_a_value_that_contradicts_its_flag_or_range_or_is_impossible_costs_and_opens_a_review(
    potassium: str, said: str
) -> None:
    found = report(potassium)
    assert said in issues(found)
    assert found.parts[0].outcome.best.score < report().parts[0].outcome.best.score - 0.05
    assert found.parts[0].outcome.best.score < 0.95
    assert found.needs_review


def test_a_value_outside_its_range_is_no_doubt_where_a_report_prints_no_flags() -> None:
    text = "LABORATORY REPORT\nNorthfield Hospital\nDate of report: 2024-03-02\n\n"
    found = extract_text(text + "Sodium 129 mmol/L (135-145)\nPotassium 4.1 mmol/L (3.5-5.1)\n")
    assert "outside its range" not in issues(found)


@pytest.mark.parametrize("unit", ["K/uL", "x10E3/uL", "10^9/L", "Thousand/uL"])
def test_a_count_is_impossible_in_whatever_way_its_unit_is_written(unit: str) -> None:
    found = report(more=f"Platelets       245000          {unit}    150-400")
    assert "no living patient" in issues(found)
    assert found.needs_review


def test_a_value_without_a_unit_beside_others_with_units_is_doubted() -> None:
    found = report(more="Urea            7.1                       2.5-7.8")
    assert "without a unit" in issues(found)
    assert found.needs_review


def test_two_values_of_one_analyte_in_a_report_open_a_review() -> None:
    found = report(more="\nTelephoned result: potassium 6.1 mmol/L\n")
    assert "two values" in issues(found)
    assert found.needs_review


def test_a_row_that_nobody_read_opens_a_review_of_a_laboratory_report() -> None:
    found = report(more="Oddase          41 -- 12              35-50 U/L")
    assert found.needs_review


def test_a_date_of_the_document_that_is_the_day_of_birth_or_before_it_opens_a_review() -> None:
    text = (
        "CLINIC NOTE\nNorthfield Clinic\nVisit date: {}\nDOB: 22/05/1961\n"
        "Diagnosis: gout\nPlan: rest\n"
    )
    assert not extract_text(text.format("23/04/2024")).needs_review
    assert extract_text(text.format("23/04/1957")).needs_review
    assert extract_text(text.format("22/05/1961")).needs_review


LETTER = """Northfield Hospital
Re: Mr Invented

Serum sodium was 139 mmol/L, potassium 4.1 mmol/L, creatinine 80 umol/L.
{}
"""


def test_a_letter_that_is_taken_for_laboratory_results_opens_a_review() -> None:
    told = "Diagnosis: gout\nHe takes allopurinol 100 mg daily and ramipril 5 mg daily.\n"
    plain = extract_text(LETTER.format(""), document_type="lab-report")
    letter = extract_text(LETTER.format(told), document_type="lab-report")
    assert "hardly gives" not in issues(plain)
    assert "hardly gives" in issues(letter)
    assert letter.needs_review


@pytest.mark.parametrize(
    "text",
    [
        "Dear colleague, thank you for the pleasant afternoon at the lake. The weather was kind "
        "and the children were delighted with the boats.",
        "The committee met in the small room. Minutes were read and approved by all who came.",
    ],
)
def test_a_text_of_unknown_type_opens_a_review(text: str) -> None:
    found = extract_text(text)
    assert found.classification.document_type == "unknown"
    assert found.needs_review


def test_words_that_run_over_the_gap_between_two_columns_are_left_or_open_a_review() -> None:
    text = (
        "DISCHARGE SUMMARY\nNorthfield Hospital\nAdmission date: 2024-03-02\n"
        "Discharge date: 2024-03-05\nDischarge diagnosis: Left pyelonephritis{}\n\n"
        "Discharge medications:\nRamipril 5 mg daily\n"
    )
    assert not extract_text(text.format("")).needs_review
    found = extract_text(text.format("\nElse noted        Type 1 diabetes"))
    (diagnosis,) = found.fields["diagnosis"].items
    assert found.needs_review or diagnosis.value.model_dump()["text"] == "Left pyelonephritis"


def test_a_drug_with_two_doses_opens_a_review() -> None:
    text = (
        "CLINIC NOTE\nNorthfield Clinic\nVisit date: 2024-03-02\nDiagnosis: hypothyroidism\n"
        "Medications: levothyroxine 75 mcg daily\n{}\n"
    )
    assert not extract_text(text.format("Plan: repeat TSH in eight weeks")).needs_review
    assert extract_text(text.format("Plan: levothyroxine 100 mcg daily")).needs_review


def test_an_entry_of_a_list_of_medicines_that_gave_no_drug_opens_a_review() -> None:
    text = (
        "DISCHARGE SUMMARY\nNorthfield Hospital\nAdmission date: 2024-03-02\n"
        "Discharge date: 2024-03-05\nDischarge diagnosis: pyelonephritis\n\n"
        "Discharge medications:\n- Ramipril 5 mg daily\n- {}\n- Bisoprolol 5 mg daily\n"
    )
    assert not extract_text(text.format("Aspirin 75 mg daily")).needs_review
    assert extract_text(text.format("Oddozole one sachet after meals")).needs_review
    assert not extract_text(text.format("Stop ibuprofen 400 mg")).needs_review
    assert not extract_text(text.format("No new medicines")).needs_review


@pytest.mark.parametrize(
    "comment",
    [
        "A fasting potassium below 3.0 mmol/L is diagnostic of severe depletion.",
        "Desirable range <100 mg/dL for primary prevention, <70 mg/dL for others",
        "The therapeutic interval for most patients is 0.6 - 1.0 mmol/L",
    ],
)
def test_a_limit_that_a_comment_explains_is_no_row_that_was_missed(comment: str) -> None:
    (part,) = report(more=f"  {comment}").parts
    assert "lab_values" not in part.outcome.best.evaluation.feedback.review_fields
