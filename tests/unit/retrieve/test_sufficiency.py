"""Sufficiency of what was found (EB-4.1 to 4.4)."""

from collections.abc import Sequence
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.answering.policy import retrieval_policy
from knowledge.scenarios import Entry, Scenario
from workers.retrieve.ranking.candidates import Candidate, Decision, Place, Ranked
from workers.retrieve.sufficiency import Sufficiency, assess, assess_with_rerun

POLICY = retrieval_policy().sufficiency


def entry(kind: str, number: int, **fields: object) -> Entry:
    values = {"kind": kind, "title": f"Made-up {kind} {number}", "year": 2020, "pmid": str(number)}
    return Entry.model_validate({**values, "confirmed": True, "basis": "made up", **fields})


PACK = Scenario(
    name="made_up",
    label="A made-up decision",
    diseases=("sepsis",),
    decisions=("duration",),
    reviewed_on="2026-01-01",
    entries=(
        *(entry("guideline", number) for number in range(1, 6)),
        *(entry("systematic_review", number) for number in range(11, 14)),
        *(entry("pivotal_trial", number, trial=f"TRIAL-{number}") for number in range(21, 26)),
        entry("pivotal_trial", 26, pmid=None, nct_id="NCT90000021", trial="TRIAL-21"),
        entry("guideline", 90, confirmed=False),
    ),
)
ANCHOR, REVIEW, TRIAL, UNCONFIRMED, UNKNOWN = 1, 11, 21, 90, 500
GUIDELINE = "Practice Guideline"


def found(
    number: int,
    *,
    covered: float = 0.5,
    kept: bool = True,
    on_topic: bool = True,
    primary: bool = False,
    publication_type: str | None = None,
    source_type: str = "pubmed",
    identifiers: dict[str, str] | None = None,
) -> Decision:
    """What ranking decided on the work with this PMID."""
    place = Place("chunk_0", "", 0, 4, "text", 0.5, 0.5, 0.5, covered)
    candidate = Candidate(
        document_id=UUID(int=number),
        version_id=UUID(int=number),
        n=1,
        source_type=source_type,
        title=f"Work {number}",
        identifiers={"pmid": str(number)} if identifiers is None else identifiers,
        url=None,
        year=2024,
        publication_type=publication_type,
        evidence_level=None,
        focus=frozenset(),
        diseases=frozenset(),
        decisions=frozenset(),
        places=(place,),
    )
    return Decision(candidate, 0.5, 0.5, 50, kept, on_topic, primary, (place,) if kept else (), ())


def ranked(*decisions: Decision) -> Ranked:
    return Ranked(decisions, ())


def scored(*decisions: Decision, scenario: Scenario | None = PACK) -> Sufficiency:
    return assess(ranked(*decisions), scenario)


# --- a recognized scenario: EB-4.1, 4.2 -----------------------------------------------------------


@pytest.mark.requirement("EB-4.1")
def test_eb_4_1_in_a_recognized_scenario_nothing_but_its_evidence_counts() -> None:
    many = [found(UNKNOWN + n, covered=1.0, publication_type=GUIDELINE) for n in range(8)]
    assert scored(*many).score == 0
    assert scored(*many).level == "insufficient"
    assert scored(*many, scenario=None).level == "excellent"
    base = [found(ANCHOR), found(REVIEW), found(TRIAL)]
    assert scored(*base, *many) == scored(*base)


@pytest.mark.requirement("EB-4.1")
@pytest.mark.parametrize(
    ("first", "most", "points"),
    [
        (REVIEW, 2, POLICY.anchored.reviews.points),
        (TRIAL, 3, POLICY.anchored.studies.points),
        (ANCHOR, 3, POLICY.anchored.floor.score),
    ],
)
def test_eb_4_1_of_each_kind_only_so_many_count(first: int, most: int, points: int) -> None:
    works = [found(first + n) for n in range(most + 1)]
    scores = [scored(*works[:n]).score for n in range(most + 2)]
    assert scores == sorted(scores)
    assert len(set(scores[: most + 1])) == most + 1, "each of the first counts"
    assert scores[most] == scores[most + 1] == points


@pytest.mark.requirement("EB-4.1")
def test_eb_4_1_reviews_trials_and_cohorts_on_the_same_decision_count_beside_the_packs() -> None:
    review = found(UNKNOWN, publication_type="Meta-Analysis")
    study = found(UNKNOWN + 1, primary=True)
    assert scored(review).score == scored(found(REVIEW)).score > 0
    assert scored(study).score == scored(found(TRIAL)).score > 0
    assert scored(review._replace(on_topic=False), study._replace(on_topic=False)).score == 0


@pytest.mark.requirement("EB-4.1")
def test_eb_4_1_a_guideline_that_is_no_confirmed_anchor_of_the_scenario_does_not_count() -> None:
    assert scored(found(UNKNOWN, publication_type=GUIDELINE), found(UNCONFIRMED)).score == 0
    assert scored(found(ANCHOR, identifiers={})).score == 0, "its identifier is in doubt"


def test_what_the_question_names_counts_beside_the_pack_that_it_does_not_ask_for() -> None:
    guideline = found(UNKNOWN, source_type="nccn", covered=0.9)
    named = guideline._replace(named=True)
    assert scored(guideline).score == 0
    assert scored(named).score == scored(named, guideline).score > POLICY.levels.good
    assert scored(named).basis.startswith("1 document that is named")
    packed = [found(ANCHOR + n) for n in range(3)]
    assert scored(*packed, named) == scored(*packed), "where that is more"


def test_a_trial_counts_once_as_article_and_registration_and_not_without_results() -> None:
    registered = found(
        600, source_type="clinicaltrials", identifiers={"nct_id": "NCT90000021"}, on_topic=False
    )
    assert scored(registered).score == 0
    with_results = registered._replace(primary_study=True)
    assert scored(with_results) == scored(found(TRIAL)) == scored(found(TRIAL), with_results)


def test_what_was_not_kept_does_not_count() -> None:
    assert scored(found(ANCHOR, kept=False)) == scored()
    assert scored(found(UNKNOWN, kept=False), scenario=None) == scored(scenario=None)


@pytest.mark.requirement("EB-4.2")
def test_eb_4_2_three_anchor_guidelines_are_at_least_good() -> None:
    three = scored(*(found(ANCHOR + n) for n in range(3)))
    assert (three.score, three.level, three.anchors) == (70, "good", 3)
    assert scored(*(found(ANCHOR + n) for n in range(2))).score < 50
    same = [found(ANCHOR), *(found(700 + n)._replace(candidate=same_work(n)) for n in range(2))]
    assert scored(*same).anchors == 1, "one guideline in three copies is one"


def same_work(number: int) -> Candidate:
    return found(ANCHOR).candidate._replace(document_id=UUID(int=800 + number))


WORKS = st.lists(
    st.sampled_from([*range(1, 6), *range(11, 14), *range(21, 26), UNKNOWN]).map(found),
    max_size=14,
    unique_by=lambda one: one.candidate.document_id,
)


@given(works=WORKS, more=st.integers(0, 13))
def test_more_evidence_never_lowers_the_score_of_a_scenario(
    works: list[Decision], more: int
) -> None:
    all_of_it = scored(*works)
    assert scored(*works[:more]).score <= all_of_it.score
    assert 0 <= all_of_it.score <= 100
    assert all_of_it == scored(*reversed(works)), "order does not matter"
    guidelines = sum(one.candidate.document_id.int < 10 for one in works)
    assert all_of_it.anchors == guidelines
    assert guidelines < 3 or all_of_it.score >= 70


# --- no scenario ----------------------------------------------------------------------------------


def test_without_evidence_the_score_is_zero_and_says_so() -> None:
    nothing = scored(scenario=None)
    assert nothing.as_body() == {
        "score": 0,
        "level": "insufficient",
        "basis": "no relevant document is held",
    }
    assert nothing.anchors is None


def test_number_coverage_and_kinds_of_evidence_each_raise_the_score() -> None:
    one = found(UNKNOWN)
    base = scored(one, scenario=None).score
    assert scored(one, found(UNKNOWN + 1), scenario=None).score > base
    assert scored(found(UNKNOWN, covered=0.9), scenario=None).score > base
    assert scored(found(UNKNOWN, publication_type=GUIDELINE), scenario=None).score > base
    assert scored(found(UNKNOWN, source_type="nccn"), scenario=None).score > base
    assert scored(found(UNKNOWN, primary=True), scenario=None).score > base


def test_the_best_there_can_be_is_a_hundred_and_the_basis_tells_why() -> None:
    works = [
        found(1, covered=1.0, publication_type=GUIDELINE),
        found(2, publication_type="Systematic Review"),
        found(3, primary=True),
    ]
    best = scored(*works, scenario=None)
    assert (best.score, best.level) == (100, "excellent")
    assert best.basis == (
        "3 relevant documents; the best passage covers 100%; "
        "guideline; primary study; systematic review"
    )


def test_the_shares_of_the_score_are_a_whole_and_so_are_the_points() -> None:
    weights, anchored = POLICY.weights, POLICY.anchored
    assert weights.documents + weights.coverage + weights.kinds == pytest.approx(1)
    points = (anchored.guidelines.points, anchored.reviews.points, anchored.studies.points)
    assert sum(points) == 100


# --- once more with what matches: EB-4.3 ----------------------------------------------------------


class Ranking:
    """Keeps the first so many; remembers how it was asked."""

    def __init__(self, works: Sequence[Decision], most: int) -> None:
        self.works, self.most = works, most
        self.asked: list[bool] = []

    def __call__(self, strict: bool) -> Ranked:
        self.asked.append(strict)
        eligible = [one for one in self.works if one.on_topic or not strict]
        kept = {one.candidate.version_id for one in eligible[: self.most]}
        return ranked(*(one._replace(kept=one.candidate.version_id in kept) for one in self.works))


NOISE = [found(UNKNOWN + n, on_topic=False) for n in range(4)]


@pytest.mark.requirement("EB-4.3")
def test_eb_4_3_anchors_that_noise_displaced_are_found_by_ranking_what_matches_alone() -> None:
    rank = Ranking([*NOISE, *(found(ANCHOR + n) for n in range(3)), found(TRIAL)], most=4)
    result, score = assess_with_rerun(rank, PACK)
    assert rank.asked == [False, True]
    assert score.score >= 70
    assert {one.candidate.version_id.int for one in result.kept} == {1, 2, 3, TRIAL}
    assert score.basis.endswith("only sources that match by tags")


@pytest.mark.requirement("EB-4.3")
@pytest.mark.parametrize(
    ("works", "scenario"),
    [
        (NOISE, PACK),
        ([*NOISE, found(UNCONFIRMED)], PACK),
        ([*NOISE, found(ANCHOR)], None),
        ([found(ANCHOR), found(2), found(3), *NOISE], PACK),
    ],
    ids=["no anchor", "none that is confirmed", "no scenario", "enough at once"],
)
def test_eb_4_3_nothing_is_ranked_again_without_need_or_hope(
    works: list[Decision], scenario: Scenario | None
) -> None:
    rank = Ranking(works, most=3)
    result, score = assess_with_rerun(rank, scenario)
    assert rank.asked == [False]
    assert score == assess(result, scenario)


@pytest.mark.requirement("EB-4.3")
def test_eb_4_3_a_second_ranking_that_is_no_better_changes_nothing() -> None:
    rank = Ranking([found(ANCHOR), *NOISE], most=4)
    result, score = assess_with_rerun(rank, PACK)
    assert rank.asked == [False, True]
    assert len(result.kept) == 4
    assert score == scored(found(ANCHOR))


@pytest.mark.requirement("EB-4.4")
@pytest.mark.parametrize(("score", "enough"), [(49, False), (50, True), (100, True)])
def test_eb_4_4_enough_begins_at_fifty(score: int, enough: bool) -> None:
    assert Sufficiency(score, "good", "made up").is_enough is enough
