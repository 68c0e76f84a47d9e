"""Words of a correction are found in a document, whatever its white space."""

import pytest

from api_gateway.reviews.view import NotFound, located

TEXT = "Drug:  Metoprolol\n 25 mg.\nThe dose was 50 mg, the İ dose. 25 mg again"


@pytest.mark.parametrize(
    ("words", "stated"),
    [
        ("Metoprolol 25 mg", "Metoprolol\n 25 mg"),
        (" metoprolol  25", "Metoprolol\n 25"),
        ("toprolol 2", "toprolol\n 2"),
        ("the İ dose", "the İ dose"),
    ],
)
def test_the_place_is_that_of_the_text(words: str, stated: str) -> None:
    start, end = located(TEXT, words)

    assert TEXT[start:end] == stated


@pytest.mark.parametrize(
    ("words", "told"),
    [("25 mg", "stands 2 times"), ("75 mg", "does not stand"), (" \n", "has no words")],
)
def test_words_that_stand_nowhere_or_twice_are_refused(words: str, told: str) -> None:
    with pytest.raises(NotFound, match=told):
        located(TEXT, words)
