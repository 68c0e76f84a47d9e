"""The payers that a question names."""

import pytest

from knowledge.subjects.payers import named, without_payers
from workers.retrieve.understanding.read import names, query_type


@pytest.mark.parametrize(
    ("question", "payer"),
    [
        ("Does Aetna cover Signatera?", "aetna"),
        ("Is Signatera covered by UnitedHealthcare?", "united"),
        ("Does Kaiser pay for Guardant Reveal?", "kaiser"),
        ("What is the coverage of Signatera under Centene?", "centene"),
    ],
)
def test_a_payer_is_read_and_is_no_trial(question: str, payer: str) -> None:
    assert [one.name for one in named(question)] == [payer]
    assert not names(question)
    assert query_type(question) == "coverage_policy"


def test_what_others_cover_speaks_to_the_question_without_its_payer() -> None:
    assert without_payers("Does Aetna cover Signatera?") == "Does  cover Signatera?"
    assert without_payers("Does Medicare cover Signatera?") == "Does Medicare cover Signatera?"


def test_a_name_in_a_question_on_something_else_is_no_payer() -> None:
    question = "What did the Kaiser Permanente cohort find on statins?"
    assert without_payers(question) == question
