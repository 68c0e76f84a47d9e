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


@pytest.mark.parametrize(
    "words",
    [
        "Arnestal rid 31% of patients of tinnitus.",
        "Belmotide spun the pelvis back to a neutral tilt.",
        "Renosol split kidney stones in two thirds of patients.",
        "ANA and age foretold uveitis in children.",
        "Vorantil undercut the growth of cysts.",
        "Clearance rises threefold by the third trimester.",
        "Outcomes lay closest in small tumors.",
    ],
)
def test_an_irregular_verb_is_known_by_its_past_with_or_without_a_prefix(words: str) -> None:
    assert has_verb(words)


@pytest.mark.parametrize(
    "words",
    [
        "Left ventricular hypertrophy in hypertension.",
        "Chronic wound management in diabetic patients.",
        "Ground glass opacities on CT of the chest.",
        "Shot in the arm for research on tuberculosis.",
        "Outcomes during long therapy with lithium: a registry.",
    ],
)
def test_a_noun_that_is_written_as_a_past_is_no_verb(words: str) -> None:
    assert not has_verb(words)
