"""What words leave out of the sentence that they are taken from: it is not shown as its words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grid import grid
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.omissions import guard


def found(passage: str, claim: str) -> list[str]:
    return [one.detail for one in guard(claim, Grounds(passage, text=passage))]


@grid(
    ("passage", "claim", "lost"),
    [
        ("In the placebo group, 40% recovered.", "40% recovered.", "In the placebo group"),
        ("In patients younger than 40 years, A lowered B.", "A lowered B.", "In patients younger"),
        (
            "A should be used with caution in patients with renal impairment.",
            "A should be used in patients with renal impairment.",
            "with caution",
        ),
        ("A reduced stroke compared with warfarin.", "A reduced stroke.", "compared with warfarin"),
        ("Mortality was 12% at 5 years.", "Mortality was 12%.", "at 5 years"),
        ("A lowered the relative risk of stroke.", "A lowered the risk of stroke.", "relative"),
        ("A received accelerated approval.", "A received approval.", "accelerated"),
        ("A is safe outside pregnancy.", "A is safe in pregnancy.", "outside"),
        ("A was associated with lower mortality.", "A lowered mortality.", "associated"),
        ("A, but not B, lowered mortality in C.", "A lowered mortality in C.", "but not B"),
        ("Cancer of an unknown site (CUS) was rarer than cancer of a known site.",
         "Cancer of an unknown site (CUS) was rarer.", "than cancer"),
        ("A lowered pain; however, it raised mortality.", "A lowered pain.", "however, it raised"),
        ("It is found in infants and in adult mice.", "It is found in infants.", "adult mice"),
        ("Pain fell in 30% after surgery (in 20% before surgery).",
         "Pain fell in 30% after surgery (in 20%).", "before surgery"),
        ("The disease has effects that may add to its severity in individual patients.",
         "The disease has effects that may add to its severity.", "in individual patients"),
        ("Thrombosis was rare in these patients, although cholesterol emboli can be found.",
         "Thrombosis was rare, although cholesterol emboli can be found.", "in these patients"),
        ("Mortality was lower in this group, at 3%.", "Mortality was lower, at 3%.", "this group"),
    ],
)  # fmt: skip
def test_words_that_tell_how_far_something_holds_are_missed(
    passage: str, claim: str, lost: str
) -> None:
    assert any(lost in one for one in found(passage, claim)), found(passage, claim)


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("Pain was 4.2 and 5.1 (P = 0.38) in the arms.", "Pain was 4.2 and 5.1 in the arms."),
        ("Pain fell with A, not significantly so.", "Pain fell with A."),
        ("Pain fell with A (p>0.05) in adults.", "Pain fell with A in adults."),
        ("A raised survival, but did not reach significance.", "A raised survival."),
    ],
)
def test_that_a_result_may_be_chance_must_be_told(passage: str, claim: str) -> None:
    assert "the claim leaves out that it may be chance" in found(passage, claim)


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("Pain was similar with A and B (P = 0.38).", "Pain was similar with A and B."),
        ("Pain fell with A (p = 0.3).", "Pain fell with A (p = 0.3)."),
        ("Pain fell with A (p = 0.003) in adults.", "Pain fell with A in adults."),
    ],
)
def test_what_tells_that_it_may_be_chance_leaves_nothing_out(passage: str, claim: str) -> None:
    assert found(passage, claim) == []


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("Eligible are people aged over 80 and weighing under 60 kg.",
         "Eligible are people aged over 80 or weighing under 60 kg."),
        ("Rofecoxib was approved for arthritis.", "Rofecoxib is approved for arthritis."),
        ("A was given during surgery to adults.", "A was given after surgery to adults."),
        ("Infection cleared despite late treatment.", "Infection cleared because late treatment."),
        ("Either drug lowered pain in adults.", "Both drugs lowered pain in adults."),
    ],
)  # fmt: skip
def test_a_word_of_grammar_that_says_something_else_is_found(passage: str, claim: str) -> None:
    codes = [one.code for one in guard(claim, Grounds(passage, text=passage))]
    assert "connective" in codes


@grid(
    ("passage", "claim"),
    [
        ("We found that aspirin lowered fever in adults.", "Aspirin lowered fever in adults."),
        ("However, aspirin lowered fever in adults.", "Aspirin lowered fever in adults."),
        ("Finally, aspirin lowered fever in adults.", "Aspirin lowered fever in adults."),
        ("Aspirin lowered fever in adults (95% CI 1-2).", "Aspirin lowered fever in adults."),
        ("In adults, aspirin lowered fever.", "Aspirin lowered fever in adults."),
        ("Aspirin reduced mortality in adults.", "Aspirin decreased mortality in adults."),
        ("Aspirin lowered fever; the dose was 1 g.", "Aspirin lowered fever."),
        ("Aspirin lowered fever in adults versus placebo.",
         "Aspirin lowered fever in adults compared with placebo."),
        ("Myocardial infarction (MI) was rarer with A.", "MI was rarer with A."),
    ],
)  # fmt: skip
def test_a_paraphrase_that_keeps_what_is_told_leaves_nothing_out(passage: str, claim: str) -> None:
    assert found(passage, claim) == []


SOME = ("aspirin", "lowered", "fever", "in", "adults", "and", "(mice)", "not", "only", "5", "h")
WORDS = st.lists(st.sampled_from(SOME), min_size=3, max_size=20).map(
    lambda words: f"{' '.join(words)}."
)


@given(WORDS)
def test_a_sentence_leaves_nothing_of_itself_out(sentence: str) -> None:
    assert found(sentence, sentence) == []


@given(WORDS, WORDS)
def test_any_two_texts_can_be_compared(one: str, other: str) -> None:
    assert all(finding.startswith(("the claim", "“")) for finding in found(one, other))
