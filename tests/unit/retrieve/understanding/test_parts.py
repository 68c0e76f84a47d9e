"""Several questions in one text are searched for one by one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.loader import load
from workers.retrieve.understanding.parts import parts
from workers.retrieve.understanding.read import understand


@pytest.mark.parametrize(
    ("question", "found"),
    [
        (
            "When will COBRA finish? How many patients? Is it still recruiting?",
            [
                "When will COBRA finish?",
                "How many patients? (COBRA)",
                "Is it still recruiting? (COBRA)",
            ],
        ),
        (
            "Tell me about TOMBOLA. And what about MODERN?",
            ["Tell me about TOMBOLA.", "And what about MODERN?"],
        ),
        (
            "What is the dose of metformin and can it be given in pregnancy?",
            ["What is the dose of metformin", "can it be given in pregnancy? (metformin)"],
        ),
        (
            "Is ctDNA recommended by NCCN, and is it covered by Medicare?",
            ["Is ctDNA recommended by NCCN", "is it covered by Medicare? (ctDNA)"],
        ),
        (
            "What did DYNAMIC III find? How many took part?",
            ["What did DYNAMIC III find?", "How many took part? (DYNAMIC-III)"],
        ),
    ],
)
def test_each_question_keeps_what_it_is_on(question: str, found: list[str]) -> None:
    assert [one.text for one in understand(question).sub_queries] == found


@pytest.mark.parametrize(
    "question",
    [
        "What is the dose of apixaban?",
        "Should patients who have AF and are on apixaban stop it before surgery?",
        "Are aspirin and is heparin used?",
        "Does it help? Is it safe?",
        "A man of 82 takes apixaban. He fell. Should it be stopped? What else helps?",
        "What is A? What is B? What is C? What is D? What is E? What is apixaban?",
    ],
)
def test_what_is_one_question_or_tells_of_a_patient_stays_whole(question: str) -> None:
    assert parts(question, ()) == [question]


_WORDS = [
    "What",
    "is",
    "the",
    "dose",
    "of",
    "apixaban",
    "and",
    "can",
    "it",
    "be",
    "given",
    "?",
    ".",
]


@given(st.lists(st.sampled_from(_WORDS), max_size=30).map(" ".join))
def test_no_word_of_a_question_is_lost_but_what_joins_it(question: str) -> None:
    found = parts(question, ())
    assert 1 <= len(found) <= load("questions/questions")["most_parts"]
    told = " ".join(found)
    assert set(question.split()) - {"and"} <= {word.strip("()") for word in told.split()} | set(
        told.split()
    )
