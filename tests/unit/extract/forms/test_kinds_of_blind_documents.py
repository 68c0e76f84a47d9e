"""Kinds of faults of documents whose writers nobody knew: each by its form, in words of our own."""

from typing import Any

import pytest

from workers.extract.loop.extraction import extract_text


def read(field: str, text: str, kind: str) -> Any:
    """The value of a field as JSON data."""
    return extract_text(text, document_type=kind).fields[field].as_body()["value"]


@pytest.mark.parametrize("boxes", ["{x} General   { } Spinal", "(x) General  ( ) Spinal"])
def test_boxes_of_whatever_marks_are_boxes(boxes: str) -> None:
    text = f"Lakeside Hospital\nProcedure: Appendectomy\nAnesthesia: {boxes}\nEBL: 20 mL\n"
    assert read("anesthesia", text, "surgical-notes")["text"].strip() == "General"


@pytest.mark.parametrize("label", ["O/E:", "HPC:", "Ix:"])
def test_an_unknown_label_in_a_text_of_one_line_ends_what_stood_before(label: str) -> None:
    text = (
        "RIVERBANK CLINIC Name: A Smith Date: 03/04/2024 Complaint: cough x 3/7 Hx: dry cough, no "
        f"fever. Allergy: penicillin (rash) {label} chest clear, alert, no oedema. "
        "Diagnosis: Acute bronchitis. Plan: Fluids and rest."
    )
    assert read("allergies", text, "clinical-notes")["text"] == "penicillin (rash)"


def test_a_list_that_is_denied_at_its_end_is_denied_whole() -> None:
    text = (
        "Tembusu Genomic Laboratory\nDate of report: 16 April 2025\nSpecimen: pleural biopsy\n\n"
        "Variants of significance\nTP53 p.R248Q, allele fraction 20%\n\n"
        "Pertinent negatives\nBRAF V600E, KRAS G12C - not detected.\n"
    )
    assert [one["gene"] for one in read("mutations", text, "genomics")] == ["TP53"]


def test_a_day_that_a_sentence_tells_of_is_not_that_of_the_document() -> None:
    text = "and divided. Needle aspirate of 12 June 2024 noted. Closed in layers.\nEBL: 20 mL\n"
    assert read("date", text, "surgical-notes") is None


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("Tab. ATENOLOL 50 mg - not to be taken any more", 1),
        ("Codeine 30 mg PRN  not wanted", 1),
        ("would add allopurinol 100 mg later", 1),
        ("Atenolol 50 mg daily, not changed", 2),
        ("Ramipril 5 mg od - not to exceed 5 mg", 2),
    ],
)
def test_what_is_not_done_with_a_drug_ends_it_unless_it_goes_on(line: str, count: int) -> None:
    text = f"Hill Practice\nDate: 03/04/2024\nMedications:\nMetformin 500 mg bd\n{line}\n"
    assert len(read("medications", text, "clinical-notes")) == count


def test_what_a_value_was_changed_from_is_not_what_it_is() -> None:
    text = "River Pathology\nStage is changed from pT2 N0 to pT3a N0.\npTNM: pT3a N0\n"
    assert read("tnm", text, "pathology")["t"] == "3a"


def test_neither_a_person_nor_a_sentence_is_where_a_document_comes_from() -> None:
    text = "MERIDIAN PLAINS HEALTH   Page 1 of 2\nProvider: Ann Lee, MD\nReason for visit: cough\n"
    assert read("institution", text, "clinical-notes")["text"] == "MERIDIAN PLAINS HEALTH"


def test_headings_in_cognates_are_known_where_there_are_several() -> None:
    text = "Instituto Norte\nDiagnóstico: Breast cancer\n\nConclusão\nNo sign of recurrence.\n"
    assert read("impression", text, "radiology")["text"] == "No sign of recurrence."


def test_a_volume_of_the_gland_is_that_of_the_prostate() -> None:
    text = "Bay Imaging\nMRI PROSTATE\nFindings: The gland has a volume of 51 mL.\n"
    assert read("prostate_volume", text, "radiology")["number"] == 51


def test_what_is_assessed_before_a_plan_is_the_diagnosis() -> None:
    text = "Bay Clinic\nReason for visit: ankle\n\nAssessment/Plan\nAcute gouty arthritis. Ice.\n"
    assert read("diagnosis", text, "clinical-notes")["text"] == "Acute gouty arthritis"


def test_a_copy_between_marks_gives_no_value() -> None:
    text = (
        "Hill Practice\nMedications:\nMetformin 500 mg bd\n\n>> Copied forward from last visit <<\n"
        "Taking atenolol 50 mg daily.\n>> End copied text <<\n"
    )
    assert [one["name"] for one in read("medications", text, "clinical-notes")] == ["Metformin"]
