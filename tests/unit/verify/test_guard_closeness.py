"""A claim that a language model wrote stays close to one sentence of its passage."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.verify.guards.closeness import guard
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.vetoes import vetoes, vetoes_of_model

FIRST = "Serial plasma sampling was completed by 91% of the enrolled adults."
SECOND = "Severe neuropathy occurred in 4% of the chemotherapy recipients."
BOTH = f"{FIRST} {SECOND}"


def strays(claim: str, passage: str, title: str = "") -> bool:
    found = guard(claim, Grounds(passage, title))
    assert {one.code for one in found} <= {"closeness"}
    return bool(found)


@pytest.mark.parametrize(
    "claim",
    [
        "Serial plasma sampling occurred in 4% of the chemotherapy recipients.",
        "Severe neuropathy was completed by 91% of the enrolled adults.",
        "Chemotherapy was completed by 91% of the enrolled adults.",
    ],
)
def test_what_is_said_of_one_thing_is_not_said_of_another(claim: str) -> None:
    assert strays(claim, BOTH)


def test_a_figure_of_the_next_sentence_is_not_this_one_s() -> None:
    passage = (
        "Response was seen in 60% of positive patients. Survival was 97% in positive patients."
    )
    assert strays("Response was 97% in positive patients.", passage)
    assert not strays("Survival reached 97% in positive patients.", passage)


@pytest.mark.parametrize(
    "claim",
    [
        f"{FIRST.rstrip('.')}, and experts agree that further testing is unnecessary.",
        "Plasma doubles survival.",
        "Serial plasma sampling makes surgery unnecessary.",
    ],
)
def test_a_remark_that_the_sentence_has_not_is_vetoed(claim: str) -> None:
    assert strays(claim, FIRST)


def test_the_same_words_in_another_order_say_something_else() -> None:
    passage = "In adults, bleeding was more frequent with warfarin than growth delay with apixaban."
    moved = "Bleeding was more frequent with warfarin than growth delay with apixaban in adults."
    exchanged = (
        "In adults, bleeding was more frequent with apixaban than growth delay with warfarin."
    )
    assert not strays(moved, passage)
    assert strays(exchanged, passage)


@pytest.mark.parametrize(
    "claim",
    [
        FIRST,
        "The study found that serial plasma sampling was completed by 91 percent of the adults.",
        "In the words of the source: “Serial plasma sampling was completed by 91% of the enrolled"
        " adults.”",
        "91% of the enrolled adults completed serial plasma sampling.",
        "Serial plasma sampling was completed by 91% of the enrolled adults (PMID 99900001).",
        BOTH,
    ],
)
def test_a_close_paraphrase_stands(claim: str) -> None:
    assert not strays(claim, BOTH)


def test_a_claim_may_name_from_the_title_what_its_sentence_only_points_at() -> None:
    title = "The COBRA trial of chemotherapy"
    assert not strays("The COBRA trial enrolled 635 adults with colon cancer.",
                      "It enrolled 635 adults with colon cancer.", title)  # fmt: skip
    assert strays("The COBRA trial enrolled 635 adults with colon cancer.",
                  "Another registry enrolled 635 adults with colon cancer.", title)  # fmt: skip


def test_only_claims_that_a_model_wrote_are_asked_for_it() -> None:
    grounds = Grounds(BOTH)
    claim = "Serial plasma sampling occurred in 4% of the chemotherapy recipients."
    assert "closeness" not in {one.code for one in vetoes(claim, grounds)}
    assert "closeness" in {one.code for one in vetoes_of_model(claim, grounds)}


def test_a_subject_may_not_come_from_further_on_in_the_sentence() -> None:
    passage = "Prevalence of diabetes was lower among adults with SCT when defined by HbA1c values."
    claim = "HbA1c with SCT was lower among adults with SCT when defined by HbA1c values."
    assert strays(claim, passage)


@pytest.mark.parametrize("end", ["within 24 h", "in two cells (A and B)"])
def test_a_sentence_ends_behind_a_unit_and_behind_a_bracket(end: str) -> None:
    passage = (
        f"The outcome of interest was vomiting {end}. Estimates were derived by meta-analysis."
    )
    assert strays("The outcome of interest was derived by meta-analysis.", passage)


def test_a_negation_is_neither_added_nor_dropped() -> None:
    passage = "They were found in lesions with papillary tumors and in those that are not."
    assert strays(
        "They were found in lesions with papillary tumors and in those that are.", passage
    )


def test_one_word_of_direction_is_not_turned() -> None:
    passage = "The share of correct answers was 85.6%, which rose to 89.3% on the second test."
    assert strays(passage.replace("rose", "fell"), passage)
    assert not strays(passage.replace("rose", "increased"), passage)


WORDS = [
    "survival",
    "was",
    "not",
    "higher",
    "with",
    "aspirin",
    "than",
    "placebo",
    "12%",
    "in",
    "it",
]
sentences = st.lists(st.sampled_from(WORDS), min_size=3, max_size=12).map(
    lambda words: " ".join(words).capitalize() + "."
)


@given(sentences, sentences, sentences)
def test_a_whole_sentence_of_the_passage_never_strays(before: str, one: str, after: str) -> None:
    assert vetoes_of_model(one, Grounds(f"{before} {one} {after}")) == vetoes(
        one, Grounds(f"{before} {one} {after}")
    )
    assert not strays(one, one)
