"""Caps and needs of the kinds of source (MC-1.2, MC-1.3)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.policy import retrieval_policy
from tests.examples import examples
from workers.retrieve.diversity import KEPT, choose

TYPES = ["clinical_trials", "guidelines", "coverage_policy", "comparison", "general"]
SOURCES = ["nccn", "asco", "esmo", "guideline", "clinicaltrials", "pubmed", "payer", "label"]
GUIDELINES = {"nccn", "asco", "esmo", "guideline"}


def kept(sources: list[str], query_type: str, most: int = 10) -> list[str]:
    """The source types that are kept of a list, best first."""
    decisions = choose(list(enumerate(sources)), query_type, most=most)
    return [source for source, one in zip(sources, decisions, strict=True) if one == KEPT]


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


@pytest.mark.requirement("MC-1.2b")
def test_mc_1_2b_a_trial_question_gets_trials_however_low_they_rank() -> None:
    found = ["nccn", "asco", "esmo", "label", "label", "clinicaltrials", "clinicaltrials", "pubmed"]
    chosen = kept(found, "clinical_trials", most=4)
    assert chosen == ["nccn", "clinicaltrials", "clinicaltrials", "pubmed"]


@pytest.mark.requirement("MC-1.3b")
def test_mc_1_3b_a_guideline_question_gets_two_guidelines() -> None:
    assert kept(["pubmed"] * 4 + ["asco", "nccn"], "guidelines", most=3) == [
        "pubmed",
        "asco",
        "nccn",
    ]


@pytest.mark.requirement("MC-1.3b")
def test_mc_1_3b_a_coverage_question_gets_a_payer() -> None:
    assert kept(["label", "label", "payer"], "coverage_policy", most=2) == ["label", "payer"]


@given(
    st.lists(st.sampled_from(SOURCES), max_size=40),
    st.sampled_from(TYPES),
    st.integers(min_value=1, max_value=10),
)
@examples(300)
def test_any_list_keeps_caps_needs_size_and_order(
    sources: list[str], query_type: str, most: int
) -> None:
    found = list(enumerate(sources))
    decisions = choose(found, query_type, most=most)
    assert len(decisions) == len(found)
    chosen = [source for source, one in zip(sources, decisions, strict=True) if one == KEPT]
    assert len(chosen) <= most
    assert chosen.count("nccn") <= 4
    assert chosen.count("clinicaltrials") <= 3
    assert chosen.count("pubmed") <= 4
    if query_type != "guidelines":
        assert sum(source in GUIDELINES for source in chosen) <= 3
    need = retrieval_policy().needs.get(query_type)
    if need is not None:
        # Where a need's only kind of source is capped, the cap decides.
        able = min(sum(source in need.of for source in sources), need.least, most)
        assert sum(source in need.of for source in chosen) >= able
    # Nothing is dropped as one too many while there is room.
    if "dropped: enough documents" in decisions:
        assert len(chosen) == most
    assert all(one == KEPT or one.startswith("dropped: ") for one in decisions)
