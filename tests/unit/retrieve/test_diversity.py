"""Caps of the kinds of source, and what a type of question needs (MC-1.2, MC-1.3)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.answering.policy import retrieval_policy
from tests.examples import examples
from workers.retrieve.ranking.diversity import FULL, KEPT, Room, need_of

TYPES = ["clinical_trials", "guidelines", "coverage_policy", "comparison", "general"]
SOURCES = ["nccn", "asco", "esmo", "guideline", "clinicaltrials", "pubmed", "payer", "label"]


def kept(sources: list[str], query_type: str, most: int = 10) -> list[str]:
    """The source types that are kept of a list, best first."""
    room = Room(query_type, most)
    return [source for source in sources if room.take(source) == KEPT]


@pytest.mark.requirement("MC-1.2a")
@pytest.mark.parametrize("query_type", TYPES)
def test_mc_1_2a_never_more_than_four_nccn_sources(query_type: str) -> None:
    allowed = 4 if query_type == "guidelines" else 3
    assert kept(["nccn"] * 9, query_type) == ["nccn"] * allowed


@pytest.mark.requirement("MC-1.2a")
def test_mc_1_2a_guidelines_share_their_cap_unless_they_are_asked_about() -> None:
    asked = ["nccn", "asco", "esmo", "guideline", "nccn"]
    assert kept(asked, "general") == ["nccn", "asco", "esmo"]
    assert kept(asked, "guidelines") == asked


@pytest.mark.requirement("MC-1.2a")
def test_mc_1_2a_three_registry_trials_and_four_publications() -> None:
    found = ["clinicaltrials"] * 5 + ["pubmed"] * 5
    assert kept(found, "clinical_trials") == ["clinicaltrials"] * 3 + ["pubmed"] * 4


def test_a_refusal_says_which_kind_is_full_or_that_the_list_is() -> None:
    room = Room("general", 4)
    assert [room.take("nccn") for _ in range(4)][-2:] == [
        KEPT,
        "dropped: enough sources of the kind guideline",
    ]
    assert room.refuses("pubmed") is None
    assert room.take("pubmed") == KEPT
    assert room.refuses("label") == FULL


@pytest.mark.requirement("MC-1.3a")
@pytest.mark.requirement("MC-1.3b")
def test_mc_1_3_what_each_type_of_question_needs() -> None:
    asked = ["clinical_trials", "guidelines", "coverage_policy"]
    trials, guidelines, coverage = map(need_of, asked)
    assert trials is not None
    assert (trials.least, trials.of) == (3, {"clinicaltrials", "pubmed"})
    assert guidelines is not None
    assert (guidelines.least, guidelines.of) == (2, {"nccn", "asco", "esmo", "guideline"})
    assert coverage is not None
    assert (coverage.least, coverage.of) == (1, {"payer"})
    assert need_of("general") is None


@given(
    st.lists(st.sampled_from(SOURCES), max_size=40),
    st.sampled_from(TYPES),
    st.integers(min_value=1, max_value=10),
)
@examples(300)
def test_any_list_keeps_caps_and_size_and_takes_what_it_has_room_for(
    sources: list[str], query_type: str, most: int
) -> None:
    room = Room(query_type, most)
    taken: list[str] = []
    for source in sources:
        caps = [one for one in retrieval_policy().caps.values() if query_type not in one.not_for]
        full = any(source in one.of and sum(t in one.of for t in taken) >= one.most for one in caps)
        assert (room.take(source) == KEPT) is (not full and len(taken) < most)
        if not full and len(taken) < most:
            taken.append(source)
