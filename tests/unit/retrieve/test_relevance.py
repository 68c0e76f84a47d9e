"""Whether a passage speaks to the question."""

import pytest

from workers.retrieve.relevance import coverage, is_relevant


def test_coverage_is_the_share_of_the_questions_weight() -> None:
    assert coverage({1: 3.0, 2: 1.0}, [1, 7]) == pytest.approx(0.75)
    assert coverage({}, [1]) == 0.0


def test_a_passage_is_relevant_by_words_alone_or_by_words_and_meaning_together() -> None:
    assert is_relevant(0.6, None)
    assert is_relevant(0.35, 0.6)
    assert not is_relevant(0.35, 0.2)
    assert not is_relevant(0.1, 0.9)
