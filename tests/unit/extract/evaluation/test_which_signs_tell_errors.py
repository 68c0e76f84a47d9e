"""The signs that were measured to tell wrong fields are told, those that do not tell are gone."""

import pytest

from tests.grid import grid
from workers.extract.evaluation.scores import Evaluation
from workers.extract.loop.extraction import Extraction, extract_text
from workers.extract.parts import Parts
from workers.extract.rules.choosing import extract_field
from workers.extract.values import Day, Medication


def read(text: str) -> Extraction:
    return extract_text(text, profile="batch")


def evaluation(text: str) -> Evaluation:
    return read(text).parts[0].outcome.best.evaluation


def told(text: str) -> str:
    return "\n".join(one.description for one in evaluation(text).feedback.issues)


RX = """PRESCRIPTION
Farrow Lane Surgery
Date: 2024-03-19
Allergies: none known

1. Ramipril 5 mg once daily
2. Metformin 500 mg twice daily
"""


def test_a_prescription_that_was_read_whole_opens_no_review() -> None:
    assert not read(RX).needs_review


def test_a_drug_whose_name_nobody_knows_is_a_doubt() -> None:
    text = RX.replace("Ramipril 5 mg", "Blister ramlp 5 mg")
    assert "medications" in evaluation(text).feedback.review_fields
    assert "is no name of a drug that is known" in told(text)


def test_a_drug_that_is_named_and_was_not_read_is_a_doubt() -> None:
    text = RX + "\nPlease also supply apixaban as before.\n"
    assert "medications" in evaluation(text).feedback.review_fields


def test_a_drug_that_is_only_set_aside_is_none() -> None:
    text = RX.replace("none known", "penicillin - rash") + "\nStopped: apixaban 5 mg bd\n"
    assert not read(text).needs_review


@grid(
    ("words", "often"),
    [("before breakfast", "before breakfast"), ("with lunch", "with lunch"), ("once", "once"),
     ("two puffs bd", "bd"), ("1-0-2", "1-0-2"), ("1 tab at 10 pm", "at 10 pm"),
     ("0-0-1-1", "0-0-1-1"), ("in the mornings", "in the mornings")],
)  # fmt: skip
def test_how_often_a_drug_is_taken_is_read(words: str, often: str) -> None:
    text = f"Medications:\nRamipril 5 mg {words}\n"
    values = [one.value for one in extract_field("medications", Parts(text)).items]
    assert [one.frequency for one in values if isinstance(one, Medication)] == [often]


LAB = """LABORATORY REPORT
Morrow Diagnostics
Reported: 2024-05-21

Test          Result   Unit     Reference
Sodium        141      mmol/L   135 - 145
Potassium     4.2      mmol/L   3.5 - 5.1
Chloride      103      mmol/L   98 - 107
"""


def test_a_laboratory_report_that_was_read_whole_opens_no_review() -> None:
    assert not read(LAB).needs_review


@pytest.mark.parametrize(
    "row",
    ["AST           haemolysed        10 - 40", "Lipase        clotted  U/L      13 - 60",
     "Ferritin      insufficient sample   15 - 300", "Folate   cancelled   ug/L   3 - 20"],
)  # fmt: skip
def test_a_row_without_a_result_was_not_missed(row: str) -> None:
    assert not read(LAB + row + "\n").needs_review


def test_a_result_that_was_corrected_was_not_missed() -> None:
    text = LAB + "Comment: potassium previously reported as 7.4 mmol/L on 2024-05-20.\n"
    (part,) = read(text).parts
    assert not part.outcome.best.evaluation.feedback.review_fields


def test_a_row_that_was_not_read_is_told() -> None:
    assert read(LAB + "Zonulin prox  61..9 ng/mL  10 - 48\n").needs_review


def test_a_test_that_nobody_knows_is_a_doubt() -> None:
    text = LAB + "Quarfin lower 12.0     mmol/L   3 - 9\n"
    assert "is no name of a test that is known" in told(text)


# the order of day and month


@pytest.mark.parametrize(
    ("words", "iso"),
    [("CLIA 00D0000000", "2024-03-04"), ("DEA XX0000000  NPI 0000000000", "2024-03-04"),
     ("NHS No 000 000 0000", "2024-04-03"), ("NABL accredited", "2024-04-03"),
     ("GMC 0000000", "2024-04-03")],
)  # fmt: skip
def test_where_a_document_was_written_says_which_number_is_the_day(words: str, iso: str) -> None:
    text = f"LABORATORY REPORT\n{words}\nReported: 03/04/2024\nSodium 141 mmol/L (135 - 145)\n"
    (item,) = extract_field("date", Parts(text)).items
    assert item.value == Day(iso=iso)


def test_where_nothing_says_it_both_readings_are_kept() -> None:
    text = "LABORATORY REPORT\nReported: 03/04/2024\nSodium 141 mmol/L (135 - 145)\n"
    (item,) = extract_field("date", Parts(text)).items
    assert item.value == Day(iso="2024-04-03", other="2024-03-04")


def test_another_date_says_more_than_the_place() -> None:
    text = "NHS No 000 000 0000\nCollected 03/31/2024\nReported: 04/02/2024\n"
    (item,) = extract_field("date", Parts(text)).items
    assert item.value == Day(iso="2024-04-02")


def test_signs_of_two_places_say_nothing() -> None:
    text = "NHS No 000 000 0000\nCLIA 00D0000000\nReported: 03/04/2024\n"
    (item,) = extract_field("date", Parts(text)).items
    assert isinstance(item.value, Day)
    assert item.value.other is not None


def test_a_date_in_the_head_without_a_label_is_no_doubt() -> None:
    text = LAB.replace("Reported: 2024-05-21", "2024-05-21      Collected 2024-05-19")
    assert "no label says" not in told(text)


def test_words_about_a_result_are_no_variant_that_was_missed() -> None:
    text = (
        "Hereditary cancer panel\nGenomic report\nReported: 2021-02-20\n"
        "Result: POSITIVE, see below.\nBRCA2 c.5946del (p.Ser1982Argfs*22), heterozygous\n"
    )
    assert "mutations" not in evaluation(text).feedback.review_fields


def test_a_gap_inside_an_impression_is_no_second_column() -> None:
    text = (
        "RADIOLOGY REPORT\nExam: CT chest\nDate of exam: 2023-06-13\n"
        "Findings: Clear lungs.\nImpression: No nodule.   Stable scar in the left apex.\n"
    )
    assert "two columns" not in told(text)
