"""An allergy is not lost where no label names it, and is not outvoted by "none"."""

import pytest

from workers.extract.fields import Status
from workers.extract.loop.extraction import extract_text
from workers.extract.parts import Parts
from workers.extract.rules.choosing import extract_field


def allergies(text: str) -> tuple[Status, list[str]]:
    found = extract_field("allergies", Parts(text))
    return found.status, [text[one.start : one.end] for one in found.items]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("She is allergic to docetaxel (anaphylaxis) and tape. She feels well.",
         "allergic to docetaxel (anaphylaxis) and tape"),
        ("Known allergy to latex.", "allergy to latex"),
        ("Pt states throat swelling with cefazolin!", "throat swelling with cefazolin"),
        ("Past history of penicillin allergy.", "penicillin allergy"),
        ("NKDA. Lives alone.", "NKDA"),
        ("He has no known drug allergies.", "no known drug allergies"),
        ("Intolerant of codeine, vomiting.", "Intolerant of codeine, vomiting"),
    ],
)  # fmt: skip
def test_an_allergy_in_a_sentence_is_read(text: str, words: str) -> None:
    assert allergies(text) == (Status.FOUND, [words])


@pytest.mark.parametrize(
    "text",
    ["She is not allergic to penicillin.", "No penicillin allergy.",
     "Her mother is allergic to nuts.",
     "The allergy clinic was full.", "Seen for allergies by the nurse."],
)  # fmt: skip
def test_what_is_denied_or_told_of_others_is_no_allergy(text: str) -> None:
    assert allergies(text)[0] is Status.NOT_PRESENT


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Allergies: none known\n\nHPI: He is allergic to penicillin.", "allergic to penicillin"),
        ("NKDA per chart - pt states throat swelling with cefazolin",
         "throat swelling with cefazolin"),
        ("Allergies: latex\n\nHPI: anaphylaxis to ceftriaxone in 2019.", "latex"),
    ],
)  # fmt: skip
def test_what_two_places_tell_of_allergies_is_kept_and_a_person_looks(
    text: str, first: str
) -> None:
    status, words = allergies(text)
    assert status is Status.AMBIGUOUS
    assert words[0] == first
    assert len(words) == 2


@pytest.mark.parametrize(
    "text",
    [
        "Allergies: penicillin (rash)\n\nHPI: He is allergic to penicillin.",
        "Allergies: NKDA\n\nHPI: No known drug allergies.",
    ],
)
def test_the_same_allergy_told_twice_is_one(text: str) -> None:
    status, words = allergies(text)
    assert status is Status.FOUND
    assert len(words) == 1


def test_an_allergy_that_is_spoken_of_and_not_read_opens_a_review() -> None:
    text = (
        "CLINIC NOTE\nNorthfield Clinic, date: 2024-03-02\n"
        "Allergy status reviewed, wheezy after her last dental antibiotic.\n"
        "Chief complaint: cough\n"
        "Assessment and plan: viral, no treatment.\nDiagnosis: viral infection\nPlan: rest\n"
    )
    assert extract_text(text).needs_review
