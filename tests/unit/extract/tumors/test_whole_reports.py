"""Reports of several tumors, titles on a line, earlier diagnoses: what is read as the value."""

import pytest

from workers.extract.evaluation.completeness import spoken_of
from workers.extract.fields import Status
from workers.extract.loop.extraction import extract_text
from workers.extract.parts import Parts
from workers.extract.rules.choosing import extract_field


def said(field: str, text: str) -> tuple[Status, list[str]]:
    found = extract_field(field, Parts(text))
    return found.status, [text[one.start : one.end] for one in found.items]


def test_tumors_of_two_specimens_are_both_kept_and_a_person_looks() -> None:
    text = (
        "PATHOLOGY REPORT\nDIAGNOSIS\nA. Left breast: Invasive lobular carcinoma, grade 2.\n"
        "B. Right breast: Invasive ductal carcinoma, grade 2.\n"
    )
    status, words = said("histology", text)
    assert status is Status.AMBIGUOUS
    assert words == ["Invasive lobular carcinoma", "Invasive ductal carcinoma"]
    assert extract_text(text).needs_review


@pytest.mark.parametrize(
    "text",
    [
        "DIAGNOSIS\nA. Left breast: Invasive ductal carcinoma.\nB. Node: metastatic carcinoma.\n",
        "DIAGNOSIS\nA. Breast: Invasive ductal carcinoma.\nB. Breast: Ductal carcinoma in situ.\n",
        "DIAGNOSIS\nA. Kidney: clear cell renal cell carcinoma.\nB. Nodes: renal cell carcinoma.\n",
        "DIAGNOSIS\n1. Colon: adenocarcinoma.\n2. Polyp: tubular adenoma.\n",
    ],
)
def test_a_tumor_and_what_belongs_to_it_are_one(text: str) -> None:
    assert said("histology", text)[0] is Status.FOUND


def test_a_margin_that_is_clear_in_one_specimen_and_not_in_another_is_both() -> None:
    text = (
        "A: Back: melanoma. Peripheral margin clear by 9 mm, deep margin clear by 6 mm.\n"
        "B: Arm: basal cell carcinoma, extends to the deep margin.\n"
    )
    assert said("margins", text)[0] is Status.AMBIGUOUS


def test_margins_of_different_names_contradict_nothing() -> None:
    status, _ = said("margins", "Deep margin positive. Radial margin clear by 6 mm.\n")
    assert status is Status.FOUND


def test_what_was_diagnosed_before_is_not_the_diagnosis() -> None:
    text = (
        "Lymph node, excision: Diffuse large B-cell lymphoma.\n"
        "Comment: Previously (2019, left inguinal) follicular lymphoma grade 1-2 was diagnosed.\n"
    )
    assert said("histology", text) == (Status.FOUND, ["Diffuse large B-cell lymphoma"])


def test_a_question_on_a_line_rules_no_further_than_its_paragraph() -> None:
    text = (
        "ULTRASOUND\nClinical information: nodule, known goitre\n"
        "Right lobe 4.8 cm. Nodule 18 mm.\nOPINION: suspicious nodule.\n"
    )
    assert len(extract_field("measurements", Parts(text)).items) == 2


def test_a_history_that_goes_on_in_the_next_line_stays_background() -> None:
    text = (
        "Clinical history: 58 year old, left lumpectomy in May that showed an invasive\n"
        "ductal carcinoma of 16 mm, now for excision of the inferior margin again.\n"
        "Left breast, margin: residual tumor of 3 mm.\n"
    )
    parts = Parts(text)
    assert parts.rank(text.index("16 mm")) == 0
    assert parts.rank(text.index("3 mm")) == 1


def test_a_name_inside_a_label_begins_nothing() -> None:
    text = "Principal Diagnosis: heart failure\nSecondary Diagnoses: kidney disease\n"
    assert said("diagnosis", text)[1] == ["heart failure"]


@pytest.mark.parametrize(
    ("field", "text", "words"),
    [
        ("preoperative_diagnosis", "- Pre-op Dx: Left breast cancer\n", "Left breast cancer"),
        ("postoperative_diagnosis", "- Post-op Dx: Same\n", "Same"),
        ("allergies", "ADR: NSAIDs - bleeding\n", "NSAIDs - bleeding"),
        ("allergies", "Drug sensitivities: penicillin\n", "penicillin"),
    ],
)
def test_labels_in_short_forms_are_read(field: str, text: str, words: str) -> None:
    assert said(field, text)[1] == [words]


@pytest.mark.parametrize("text", ["Tubular adenoma with low-grade dysplasia.", "High-grade PIN."])
def test_the_grade_of_a_dysplasia_is_no_grade_that_was_missed(text: str) -> None:
    assert not spoken_of("grade", Parts(text))


def test_a_finger_in_the_rectum_is_no_stain_and_a_height_no_size() -> None:
    text = "Examination: PR: fresh blood, mass felt at 6 cm.\n"
    assert extract_field("tumor_size", Parts(text)).items == ()
    assert (
        not extract_text(f"CLINIC NOTE\n{text}Plan: rest. Allergies: none.\n")
        .fields["ihc_markers"]
        .items
    )


def test_patients_of_a_list_are_told_apart_by_the_numbers_of_their_hospital() -> None:
    text = (
        "MDT OUTCOME\n1) Name: Carla Voss  Hosp no: 5512\n   Right lung adenocarcinoma, IIA.\n"
        "2) Name: Dieter Krahl  Hosp no: 5519\n   Left lung squamous cell carcinoma, IVA.\n"
    )
    assert extract_text(text).patients == 2
