"""What may be left out of a sentence that is still shown as its own words."""

import pytest

from workers.verify.guards.omissions import hides_chance


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("Pain was 4.2 and 5.1 (P = 0.38) in the arms.", "Pain was 4.2 and 5.1 in the arms."),
        ("Pain fell with A, not significantly so.", "Pain fell with A."),
        ("Pain fell with A (p>0.05) in adults.", "Pain fell with A in adults."),
        ("A raised survival, but did not reach significance.", "A raised survival."),
    ],
)
def test_that_a_result_may_be_chance_must_be_told(sentence: str, words: str) -> None:
    assert hides_chance(words, sentence)


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("Pain was similar with A and B (P = 0.38).", "Pain was similar with A and B."),
        ("Pain fell with A (p = 0.3).", "Pain fell with A (p = 0.3)."),
        ("Pain fell with A (p = 0.003) in adults.", "Pain fell with A in adults."),
    ],
)
def test_what_tells_that_it_may_be_chance_hides_nothing(sentence: str, words: str) -> None:
    assert not hides_chance(words, sentence)
