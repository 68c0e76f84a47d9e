"""What a person should look at: low scores, and what no score tells (seed marc_v1, section 9.3)."""

import pytest

from workers.extract.fields import Status
from workers.extract.loop.extraction import Extraction, extract_text

REPORT = """SURGICAL PATHOLOGY REPORT
Date of report: 2024-03-02
Institution: Northfield Hospital

DIAGNOSIS
Breast, left, lumpectomy: Invasive ductal carcinoma, Nottingham grade 2.
{margins}
Immunohistochemistry: ER 95% positive, PR 80% positive, HER2 negative (1+), Ki-67 15%.
{stage}
"""
LETTER = """PRESCRIPTION
Date: 2024-03-02
Northfield Clinic

Rx:
1. Metformin 500 mg twice daily
2. {drug}
3. Amoxicillin 500 mg every 8 hours
"""


def report(margins: str = "Margins negative.", stage: str = "pT2 N0.") -> Extraction:
    return extract_text(REPORT.format(margins=margins, stage=stage))


def prescription(drug: str) -> Extraction:
    return extract_text(LETTER.format(drug=drug))


def test_a_document_that_is_read_well_opens_no_review() -> None:
    assert not report().needs_review
    assert not prescription("Warfarin 5 mg daily").needs_review
    assert not prescription("Warfarin 5 mg").needs_review


def test_margins_that_are_called_both_ways_open_a_review_whatever_the_score() -> None:
    found = report("Margins: The margins are positive. The margins are free of tumor.")
    assert found.fields["margins"].status is Status.AMBIGUOUS
    assert found.score >= 0.8
    assert found.needs_review


def test_a_stage_that_is_stated_in_two_ways_opens_a_review_though_it_is_optional() -> None:
    found = report(stage="pT2 N0. Staging: pT1c N1a.")
    assert found.fields["tnm"].status is Status.AMBIGUOUS
    assert found.needs_review


@pytest.mark.parametrize(
    "drug",
    [
        "Warfarin 5 mg, to be taken with the largest of your meals, three times daily",
        "Warfarin 5 mg after each session",
        "Warfarin 5 mg q8",
        "Warfarin 5 mg as the nurse tells you, at noon and at night",
        "Prednisone 40 mg for five days then 20 mg",
    ],
)
def test_a_frequency_that_stands_there_and_is_not_read_costs_and_opens_a_review(drug: str) -> None:
    sure, unsure = prescription("Warfarin 5 mg daily"), prescription(drug)
    values = unsure.fields["medications"].items
    assert any(getattr(one.value, "frequency", None) is None for one in values)
    assert unsure.score < sure.score
    assert unsure.needs_review


def test_a_frequency_of_the_next_drug_is_not_missed_of_the_one_before() -> None:
    assert not prescription("Aspirin 81 mg, folic acid 5 mg daily").needs_review


def test_a_required_field_that_the_document_speaks_of_and_nobody_read_opens_a_review() -> None:
    text = REPORT.format(margins="", stage="")
    found = extract_text(text.replace("Nottingham grade 2", "Nottingham grade see comment"))
    assert found.fields["grade"].status is Status.NOT_PRESENT
    assert found.needs_review


def test_a_grade_that_is_only_told_of_an_earlier_tumor_is_none_or_opens_a_review() -> None:
    text = REPORT.format(margins="", stage="").replace(", Nottingham grade 2", "")
    found = extract_text(text + "Comment: Previously (2019) follicular lymphoma grade 1.\n")
    assert found.fields["grade"].status is Status.NOT_PRESENT or found.needs_review
