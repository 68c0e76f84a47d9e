"""Who is named is hidden, what is said is shown: drugs, illnesses and orders are no identity."""

import pytest

from tests.grid import grid
from workers.summarize.persons import names_a_person
from workers.summarize.summary import summarize


def shown(text: str) -> list[str]:
    return [one["text"] for items in summarize(text)["summary"].values() for one in items]


def listed(text: str, name: str) -> list[str]:
    return [one["text"] for one in summarize(text)["summary"][name]]


@grid(
    "line",
    [
        "Patient: Warfarin",
        "Patient: Lisinopril",
        "Patient: Metformin Daily",
        "Patient: Latex",
        "Patient: Sulfa Drugs",
        "Patient: Full Code",
        "Patient: Fall Risk",
        "Patient: Black Stools",
        "Patient: Bedbound",
        "Next of kin: Apixaban",
        "Physician: Tamoxifen",
        "Emergency contact: Coumadin",
        "PATIENT: WARFARIN",
        "PATIENT: FALL RISK",
        "PATIENT: JOHN DOE FELL TWICE",
        "PATIENT: LATEX ALLERGY",
    ],
)
def test_a_drug_or_an_illness_behind_a_label_of_names_is_shown(line: str) -> None:
    for text in (f"{line}\n\nPlan\nRest.\n", f"History\nWell.\n\n{line}\n\nPlan\nRest.\n"):
        assert line.partition(": ")[2] in " ".join(shown(text))


@grid(
    "line",
    [
        "PATIENT: JOHN DOE",
        "PATIENT: DOE, JOHN",
        "PATIENT: MARIA ELENA XYZZY",
        "PATIENT: MARY-ANN PLUGH",
        "NEXT OF KIN: MARY DOE, WIFE, 555-1234",
        "DOCTOR: PETER PLUGH",
        "Patient: John Doe",
        "Patient: Xyzzy Plugh",
    ],
)
def test_a_name_is_hidden_in_whatever_case(line: str) -> None:
    assert sorted(shown(f"{line}\n\nPLAN\nFluids.\n")) == ["Fluids.", "Fluids."] or (
        shown(f"{line}\n\nPLAN\nFluids.\n") == ["Fluids."]
    )


@pytest.mark.parametrize(
    ("heading", "words"),
    [
        ("BILLING\nLevel 4\n", "Patient is allergic to penicillin."),
        ("Admin: ", "Patient refuses blood products."),
        ("Attestation: ", "I saw the patient; hold heparin for platelets of 40."),
        ("Copies to: ", "Dr Plugh; start aspirin 81 mg."),
        ("Signature: ", "Dr Plugh, stop warfarin tonight."),
        ("Billing: 99213. ", "Chest pain worse on the way out."),
    ],
)
def test_what_an_administrative_line_says_of_the_patient_is_shown(heading: str, words: str) -> None:
    text = f"HISTORY\nWell.\n\n{heading}{words}\n\nPLAN\nRest.\n"
    assert words in " ".join(shown(text))


@pytest.mark.parametrize(
    "line",
    [
        "Billing: 99213, level 4, 25 minutes",
        "Copies to: Dr X Plugh, 12 High Street",
        "Electronically signed by: X Plugh, MD",
        "Time spent: 25 min",
        "Attestation: I have personally seen the patient and agree with the note.",
    ],
)
def test_an_administrative_line_that_says_nothing_of_the_patient_is_hidden(line: str) -> None:
    assert shown(f"HISTORY\nWell.\n\n{line}\n") == ["Well."]


def test_an_allergy_on_an_administrative_line_stands_among_the_allergies() -> None:
    text = "HISTORY\nWell.\n\nBILLING\nLevel 4\nPatient is allergic to penicillin.\n"
    assert listed(text, "medicines_allergies") == ["Patient is allergic to penicillin."]


@grid(
    "line",
    [
        "Patient name: Xyzzy Plugh     NHS number: 943 476 5919",
        "Pt: Xyzzy Plugh MRN 77120",
        "1) Name: Xyzzy Plugh  Hosp no: 5512",
        "Re: Mrs Xyzzy Plugh, DOB 01/03/1955",
        "Re: John Plugh",
        "Dear Dr Plugh,",
        "Dr X Plugh",
        "Yours sincerely",
        "Kind regards",
    ],
)
def test_the_head_and_the_foot_of_a_letter_are_hidden(line: str) -> None:
    assert set(shown(f"{line}\n\nPLAN\nFluids.\n")) == {"Fluids."}


@pytest.mark.parametrize(
    "line",
    ["Re: Hip Replacement", "Re: Warfarin", "Re: Abnormal Scan", "Dear Dr Plugh, she has a cough.",
     "MS Contin", "Dr Plugh stopped warfarin"],
)  # fmt: skip
def test_the_subject_of_a_letter_is_shown(line: str) -> None:
    assert line.partition(": ")[2] in " ".join(shown(f"{line}\n\nPLAN\nFluids.\n"))


def test_words_in_capitals_behind_a_speaker_are_said_unless_they_name_somebody() -> None:
    assert not names_a_person("PATIENT: MARY HELPS HER UP THE STAIRS DAILY")
    assert names_a_person("PATIENT: MARY JONES")
