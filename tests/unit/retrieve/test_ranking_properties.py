"""Any list of candidates: every rule of the list holds, or the relaxation that applies is told."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.answering.policy import retrieval_policy
from knowledge.scenarios import Scenario
from tests.examples import examples
from tests.unit.retrieve.ranking_examples import AF, CKD, candidate, pack, place, question
from workers.retrieve.ranking.candidates import Candidate, Decision, Ranked
from workers.retrieve.ranking.diversity import FULL
from workers.retrieve.ranking.ranking import explain, rank
from workers.retrieve.understanding.model import Understanding

SOURCES = ["nccn", "asco", "guideline", "clinicaltrials", "pubmed", "europepmc", "payer", "label"]
TYPES = ["Randomized Controlled Trial", "Observational Study", "Meta-Analysis", "Review", None]
TEXTS = ["What was found.", "Advised only within a clinical trial.", "In diabetes it was not."]
DISEASES = [AF, CKD, "diabetes", "solid_tumors", "lung_cancer"]
DECISIONS = ["anticoagulation", "duration", "screening"]
PACK = pack(
    guideline="10.1000/g",
    systematic_review="10.1000/s",
    pivotal_trial="10.1000/t",
    cohort="10.1000/c",
)


def made(number: int, seed: int) -> Candidate:
    """Some document of any kind, most of them on the disease."""
    chance = random.Random(seed)

    def some(tags: Sequence[str]) -> frozenset[str]:
        return frozenset(chance.sample(tags, chance.randint(0, 2)))

    held = [
        place(
            chance.random(),
            text=chance.choice(TEXTS),
            covered=chance.choice([0.1, 0.4, 0.7, 1.0]),
            dense=chance.choice([None, chance.random()]),
            chunk_id=f"chunk_{chunk}",
        )
        for chunk in range(chance.randint(1, 4))
    ]
    focus = some(DISEASES)
    return candidate(
        number,
        source_type=chance.choice(SOURCES),
        publication_type=chance.choice(TYPES),
        title=chance.choice(["A work", "The GALAXY trial"]),
        identifiers={"doi": f"10.1000/{chance.choice('gtcxxxxxx')}"},
        focus=focus,
        diseases=focus | some(DISEASES) | chance.choice([set(), {AF}]),
        decisions=some(DECISIONS),
        places=tuple(sorted(held, key=lambda one: -one.score)),
    )


# A number makes a whole candidate: to draw each of its fields would take longer than ranking.
candidates = st.lists(st.integers(0, 2**32), max_size=60).map(
    lambda seeds: [made(number, seed) for number, seed in enumerate(seeds)]
)
questions = st.builds(
    question,
    st.sampled_from(["clinical_trials", "guidelines", "coverage_policy", "comparison", "general"]),
    st.sampled_from([(AF, CKD), (AF,), ("solid_tumors",), ()]),
    st.sampled_from([("anticoagulation",), ("duration", "anticoagulation"), ()]),
    st.sampled_from([(), (), ("GALAXY",)]),
)
scenarios = st.sampled_from([PACK, None])
sizes = st.integers(1, 12)


def told(ranked: Ranked, rule: str) -> bool:
    """Whether a relaxation of this rule is recorded."""
    return any(one.startswith(rule) for one in ranked.relaxations)


def eligible(ranked: Ranked) -> list[Decision]:
    """Those that are not excluded."""
    return [one for one in ranked.decisions if one.relevance >= 10]


@pytest.mark.requirement("EB-5.1")
@given(candidates, questions, scenarios, sizes)
@examples(200)
def test_what_is_kept_may_be_evidence_and_the_order_is_that_of_the_scores(
    found: list[Candidate], asked: Understanding, scenario: Scenario | None, most: int
) -> None:
    ranked = rank(found, asked, scenario, most=most)
    assert {one.candidate.document_id for one in ranked.decisions} == {
        one.document_id for one in found
    }
    assert len(ranked.decisions) == len(found)
    kept, rest = ranked.kept, ranked.decisions[len(ranked.kept) :]
    assert not any(one.kept for one in rest)
    for part in (kept, rest):
        order = [(-one.score, str(one.candidate.document_id)) for one in part]
        assert order == sorted(order)
    for one in ranked.decisions:
        assert one.kept is (one.outcome == "kept") is bool(one.places)
        assert explain(one)["decision"] == one.outcome
    accepted = set(asked.diseases) | (
        {"lung_cancer"} if "solid_tumors" in asked.diseases else set()
    )
    for one in kept:
        assert 10 <= one.relevance <= 100
        assert 1 <= len(one.places) <= (4 if one.candidate.source_type == "label" else 2)
        assert set(one.places) <= set(one.candidate.places)
        assert all(place.covered > 0.1 for place in one.places)
        assert not accepted or one.anchor or one.candidate.diseases & accepted


@pytest.mark.requirement("EB-5.4")
@pytest.mark.requirement("EB-5.5")
@pytest.mark.requirement("EB-5.6")
@pytest.mark.requirement("EB-5.7")
@given(candidates, questions, scenarios, sizes)
@examples(300)
def test_every_rule_of_the_list_holds_or_its_relaxation_is_told_and_none_is_told_that_holds(
    found: list[Candidate], asked: Understanding, scenario: Scenario | None, most: int
) -> None:
    ranked = rank(found, asked, scenario, most=most)
    kept, able, policy = ranked.kept, eligible(ranked), retrieval_policy()
    size = min(most, 10)
    assert len(kept) <= size
    assert told(ranked, "size") is (len(kept) < 6)

    on_topic = sum(one.on_topic for one in kept)
    assert told(ranked, "on topic") is (on_topic < 0.8 * len(kept))
    if on_topic < 0.8 * len(kept) and asked.query_type in {"comparison", "general"}:
        assert len(kept) <= 5  # no needed kinds: only a short list is ever relaxed

    studies = sum(one.primary_study for one in kept)
    held = sum(one.primary_study for one in able)
    assert told(ranked, "primary studies") is (studies < min(2, held))

    need = policy.needs.get(asked.query_type)
    if need is not None:
        needed = sum(one.candidate.source_type in need.of for one in kept)
        held = sum(one.candidate.source_type in need.of for one in able)
        assert told(ranked, "needed kinds") is (needed < min(need.least, held))

    sources = [one.candidate.source_type for one in kept]
    over = [
        name
        for name, cap in policy.caps.items()
        if asked.query_type not in cap.not_for
        and sum(source in cap.of for source in sources) > cap.most
    ]
    assert all(told(ranked, f"cap on {name}") for name in over) or told(ranked, "fallback")
    assert not any(policy.caps[name].hard for name in over) or told(ranked, "fallback")
    assert len(kept) >= min(3, size, len(able))
    if told(ranked, "fallback"):
        assert len(kept) == min(3, size, len(able))
    if any(one.outcome == FULL for one in ranked.decisions):
        assert len(kept) == size


@pytest.mark.requirement("EB-5.6")
@given(candidates, questions, scenarios, st.integers(6, 10))
@examples(200)
def test_two_primary_studies_on_topic_are_kept_where_caps_let_them_in(
    found: list[Candidate], asked: Understanding, scenario: Scenario | None, most: int
) -> None:
    ranked = rank(found, asked, scenario, most=most)
    held = [one for one in eligible(ranked) if one.primary_study and one.on_topic]
    uncapped = [one for one in held if one.candidate.source_type in {"europepmc", "label", "payer"}]
    kept = [one for one in held if one.kept]
    assert len(kept) >= min(2, len(uncapped))


@pytest.mark.requirement("EB-5.2")
@given(candidates, questions, sizes)
@examples(200)
def test_no_other_work_of_its_kind_stands_before_a_work_of_the_pack(
    found: list[Candidate], asked: Understanding, most: int
) -> None:
    kinds = {"Meta-Analysis": "systematic_review", "Observational Study": "cohort"}
    kinds |= {"Randomized Controlled Trial": "pivotal_trial"}
    ranked = rank(found, asked, PACK, most=most)
    scores: dict[str, float] = {}
    for one in eligible(ranked):
        kind = kinds.get(one.candidate.publication_type or "")
        if one.anchor is None and kind is not None:
            scores[kind] = max(scores.get(kind, one.score), one.score)
    for one in eligible(ranked):
        demoted = any("restriction language" in reason for reason in one.reasons)
        if one.anchor is not None and not demoted and not asked.names:
            assert one.score > scores.get(one.anchor, -10)


@given(candidates, questions, scenarios, sizes, st.integers())
@examples(100)
def test_the_order_of_the_candidates_changes_nothing(
    found: list[Candidate], asked: Understanding, scenario: Scenario | None, most: int, seed: int
) -> None:
    shuffled = random.Random(seed).sample(found, len(found))
    assert rank(shuffled, asked, scenario, most=most) == rank(found, asked, scenario, most=most)


@pytest.mark.requirement("EB-4.3")
@given(candidates, questions, scenarios, sizes)
@examples(100)
def test_eb_4_3_strict_tags_keep_works_on_disease_and_decision_alone(
    found: list[Candidate], asked: Understanding, scenario: Scenario | None, most: int
) -> None:
    ranked = rank(found, asked, scenario, most=most, strict_tags=True)
    assert all(one.on_topic for one in ranked.kept)
    able = sum(one.on_topic for one in eligible(ranked))
    assert len(ranked.kept) >= min(3, most, able)
