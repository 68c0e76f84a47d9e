"""A sentence has a verb, whether or not a list has it."""

import pytest

from workers.generate.verbs import has_verb


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("Melatonin exerts protective effects.", True),
        ("Loss of 53BP1 alleviates hypersensitivity of mutant cells.", True),
        ("The drug interacts with warfarin and modulates clotting.", True),
        ("Here we highlight three methods.", True),
        ("Tumours shrank within weeks.", True),
        ("We present evidence of harm.", True),
        ("Adverse reactions of statins in older adults.", False),
        ("Effects of exercise on outcomes for patients with cancer.", False),
        ("", False),
    ],
)
def test_a_regular_verb_is_known_by_its_forms(words: str, found: bool) -> None:
    assert has_verb(words) is found
