"""Of two outcomes with opposite directions each keeps its own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.verify.guards.crossing import guard
from workers.verify.guards.grounds import Grounds

SENTENCES = (
    "Bleeding was {} and stroke was {} with apixaban than with warfarin.",
    "Apixaban showed {} bleeding but {} stroke rates than warfarin.",
    "In the treated group {} bleeding and {} stroke occurred.",
    "Bleeding was {} with apixaban, whereas stroke was {}.",
    "{} bleeding was seen and stroke was {} after a year.",
)


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("words", [("lower", "higher"), ("more", "less"), ("worse", "better")])
def test_two_directions_may_not_change_places(sentence: str, words: tuple[str, str]) -> None:
    one, other = words
    found = guard(sentence.format(other, one), Grounds(sentence.format(one, other)))
    assert {finding.code for finding in found} == {"direction"}


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Stroke was higher and bleeding was lower.", SENTENCES[0].format("lower", "higher")),
        ("Bleeding was reduced but stroke increased.", SENTENCES[1].format("lower", "higher")),
        (
            "Warfarin had more bleeding and less stroke than apixaban.",
            "Apixaban had less bleeding and more stroke than warfarin.",
        ),
        ("Bleeding was lower.", SENTENCES[3].format("lower", "higher")),
    ],
)
def test_each_direction_with_its_own_outcome_passes(claim: str, passage: str) -> None:
    assert guard(claim, Grounds(passage)) == []


def test_what_one_side_had_more_of_is_not_said_of_the_other() -> None:
    passage = "Men with lung cancer had higher mortality than women with breast cancer."
    assert guard("Women with breast cancer had higher mortality.", Grounds(passage)) != []
    assert guard("Men with lung cancer had higher mortality.", Grounds(passage)) == []


@given(
    st.lists(
        st.sampled_from(["bleeding", "stroke", "higher", "lower", "and", "was", "with", "aspirin"]),
        max_size=14,
    )
)
def test_a_text_is_never_at_odds_with_itself(words: list[str]) -> None:
    text = f"{' '.join(words)}."
    assert guard(text, Grounds(text)) == []
