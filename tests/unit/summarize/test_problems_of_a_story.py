"""A story names what the patient has had for long beside what brought him: both are told apart."""

import pytest

from workers.summarize.summary import summarize

NOTE = (
    "Mr Quarshie is a 66-year-old taxi driver with a sore ankle. It began after a long flight. {} "
    "He takes tiotropium. Pitting to mid shin, chest clear. I suggested stockings.\n"
)


def problems(sentence: str) -> str:
    told = summarize(NOTE.format(sentence))["summary"]
    return " ".join(one["text"] for name in ("key_problems", "assessment") for one in told[name])


@pytest.mark.parametrize(
    ("sentence", "disease"),
    [
        ("He has chronic kidney disease and asthma.", "chronic kidney disease"),
        ("His past history is notable for atrial fibrillation.", "atrial fibrillation"),
        ("In 2019 he was told that he has type 2 diabetes.", "type 2 diabetes"),
        ("He is known to have hypertension.", "hypertension"),
    ],
)
def test_a_known_disease_of_a_story_is_a_problem(sentence: str, disease: str) -> None:
    assert disease in problems(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "He has had no hypertension.",
        "His father had atrial fibrillation.",
        "He has a cough at night.",
    ],
)
def test_denials_relatives_and_complaints_of_a_story_are_none(sentence: str) -> None:
    assert sentence not in problems(sentence)
