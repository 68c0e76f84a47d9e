"""How far a title rules: a diagnosis before an operation is a line or a list, and no more."""

import pytest

from workers.extract.parts import Parts
from workers.extract.rules.choosing import extract_field

STORY = (
    "The patient was brought to the theatre and placed on the left side.\n"
    "Frozen section showed clear cell renal cell carcinoma, 3.2 cm.\n"
)


def said(field: str, text: str) -> str | None:
    found = extract_field(field, Parts(text))
    return text[found.items[0].start : found.items[0].end] if found.items else None


@pytest.mark.parametrize(
    "text",
    [
        f"PREOPERATIVE DIAGNOSIS\nLeft renal mass\n{STORY}",
        f"Preoperative diagnosis: Left renal mass\n{STORY}",
        f"Pre-operative diagnosis:\nLeft renal mass\n\n{STORY}",
        f"PREOPERATIVE DIAGNOSIS\nLeft renal mass\nPROCEDURE\nLeft nephrectomy\n{STORY}",
    ],
)
def test_what_is_told_below_a_diagnosis_is_no_part_of_it(text: str) -> None:
    assert said("preoperative_diagnosis", text) == "Left renal mass"


def test_a_list_of_diagnoses_is_read_whole() -> None:
    text = "PREOPERATIVE DIAGNOSIS\n1. Left renal mass.\n2. Hematuria.\n\nPROCEDURE\nNephrectomy\n"
    assert said("preoperative_diagnosis", text) == "1. Left renal mass.\n2. Hematuria."
    text = "PREOPERATIVE DIAGNOSES\nLeft renal mass\nHematuria\n\nPROCEDURE\nNephrectomy\n"
    assert said("preoperative_diagnosis", text) == "Left renal mass\nHematuria"


def test_a_diagnosis_in_sentences_is_read_whole() -> None:
    text = (
        "POSTOPERATIVE DIAGNOSIS\nLeft renal mass, most likely clear cell carcinoma.\n"
        "Frozen section is pending at the time of this note.\n\nEBL: 20 mL\n"
    )
    found = said("postoperative_diagnosis", text)
    assert found is not None
    assert found.endswith("of this note.")


@pytest.mark.parametrize(
    "text",
    [
        f"Preoperative diagnosis: Left renal mass\n\n{STORY}",
        f"PREOPERATIVE DIAGNOSIS\nLeft renal mass\n\n{STORY}",
        f"PREOPERATIVE DIAGNOSIS\nLeft renal mass\n{STORY}",
        f"Preoperative diagnosis: Left renal mass\nProcedure: nephrectomy\n{STORY}",
    ],
)
def test_what_was_found_in_the_operation_is_no_background(text: str) -> None:
    parts = Parts(text)
    assert parts.rank(text.index("renal mass")) == 0
    assert parts.rank(text.index("renal cell")) == 1
    assert extract_field("measurements", parts).items


def test_a_diagnosis_before_the_operation_stays_background() -> None:
    text = (
        "PREOPERATIVE DIAGNOSIS\nInvasive ductal carcinoma, grade 3\n\n"
        "POSTOPERATIVE DIAGNOSIS\nInvasive lobular carcinoma, grade 2\n"
    )
    assert said("histology", text) == "Invasive lobular carcinoma"
    assert said("grade", text) == "grade 2"


SOAP = (
    "S: cough for a week\nO: T 37.9, chest clear\n"
    "A: viral bronchitis\nP: fluids, review in 5 days\n"
)


def test_a_letter_alone_is_no_title() -> None:
    assert said("plan", "Vitals\nT: 37.2\nP: 88\nR: 16\n") is None
    assert said("diagnosis", "Specimens\nA: left breast\nB: right breast\n") is None
