"""Which candidates become evidence, in which order and why (EB-5, MC-1.1 to 1.4)."""

import json
import random
from collections import Counter
from dataclasses import replace

import pytest
from pydantic import ValidationError

from knowledge.answering.policy import RetrievalPolicy, retrieval_policy
from knowledge.loader import load
from knowledge.scenarios import Scenario
from tests.grid import grid
from tests.unit.retrieve.ranking_examples import AF, CKD, candidate, pack, place, question
from workers.retrieve.ranking.candidates import Candidate, Decision, Ranked
from workers.retrieve.ranking.ranking import explain, rank
from workers.retrieve.understanding.model import SubQuery

ON, OFF = frozenset({"anticoagulation"}), frozenset({"screening"})
RCT = "Randomized Controlled Trial"
CAUTION = "The test should be used only within a clinical trial."


def ids(ranked: Ranked) -> list[int]:
    """The kept documents by number, best first."""
    return [one.candidate.document_id.int for one in ranked.kept]


def decided(ranked: Ranked, number: int) -> Decision:
    """What was decided on a document."""
    return next(one for one in ranked.decisions if one.candidate.document_id.int == number)


def many(count: int, first: int = 1, **fields: object) -> list[Candidate]:
    """So many candidates, each scored a little below the one before."""
    return [candidate(first + n, 0.8 - (first + n) / 200, **fields) for n in range(count)]


@pytest.mark.requirement("EB-5.1")
@grid(
    ("asked", "found", "kept"),
    [
        ((AF,), {AF}, True),
        ((AF,), {"diabetes"}, False),
        ((AF,), set(), False),
        ((), {"diabetes"}, True),
        (("colorectal_cancer",), {"lung_cancer", "solid_tumors"}, False),
        (("colorectal_cancer",), {"solid_tumors"}, True),
        (("solid_tumors",), {"lung_cancer"}, True),
        (("solid_tumors",), {"diabetes"}, False),
        ((AF,), {"device_detected_af"}, True),
    ],
)
def test_eb_5_1_a_work_on_none_of_the_diseases_asked_about_is_below_10_and_excluded(
    asked: tuple[str, ...], found: set[str], kept: bool
) -> None:
    ranked = rank([candidate(1, 1.0, diseases=found)], question(diseases=asked), None, most=8)
    (one,) = ranked.decisions
    assert one.kept is kept
    assert (one.relevance >= 10) is kept
    if not kept:
        assert one.outcome == "dropped: is on none of the diseases asked about"
        assert one.places == ()


@pytest.mark.requirement("EB-5.1")
def test_eb_5_1_a_work_that_mentions_the_disease_gives_no_passage_on_another_one() -> None:
    about = place(0.9, chunk_id="chunk_1", text="In pneumonia the drug was stopped early.")
    right = place(0.5, chunk_id="chunk_2", text="In atrial fibrillation it was continued.")
    plain = place(0.4, chunk_id="chunk_3", text="It was continued.")
    work = candidate(1, focus=frozenset(), diseases={AF, "pneumonia"})
    ranked = rank(
        [
            work._replace(places=(about, right, plain)),
            candidate(2, focus=frozenset(), places=(about,)),
            candidate(3, focus=frozenset({AF, "pneumonia"}), places=(about,)),
            candidate(4, focus=frozenset(), places=(plain,)),
        ],
        question(),
        None,
        most=8,
    )
    assert [one.chunk_id for one in decided(ranked, 1).places] == ["chunk_2"]
    assert not decided(ranked, 2).kept
    assert decided(ranked, 3).kept
    assert decided(ranked, 4).kept


@pytest.mark.requirement("EB-1.5")
def test_eb_1_5_a_secondary_disease_alone_counts_for_less_and_with_the_decision_only() -> None:
    found = [
        candidate(1, diseases={"diabetes"}),
        candidate(2, diseases={"diabetes"}, decisions=OFF),
        candidate(3, diseases={AF}),
        candidate(4, diseases={AF}, decisions=OFF),
    ]
    ranked = rank(found, question(diseases=(AF, "diabetes")), None, most=8)
    assert ids(ranked) == [1, 3, 4]
    relevance = [decided(ranked, number).relevance for number in (3, 1, 4, 2)]
    assert relevance == sorted(relevance, reverse=True)
    assert relevance[-1] < 10


@pytest.mark.requirement("EB-1.5")
def test_eb_1_5_every_disease_of_a_recognized_scenario_is_primary() -> None:
    kidney = candidate(1, diseases={CKD}, decisions=OFF)
    assert rank([kidney], question(), pack(), most=8).kept
    assert not rank([kidney], question(), None, most=8).kept


@pytest.mark.requirement("EB-1.3")
def test_eb_1_3_works_on_the_main_decision_go_before_those_on_others() -> None:
    found = [
        candidate(1, 0.62, decisions=OFF),
        candidate(2, 0.61, decisions=frozenset({"duration"})),
        candidate(3, 0.60, decisions=ON),
    ]
    asked = question(decisions=("anticoagulation", "duration"))
    assert ids(rank(found, asked, None, most=8)) == [3, 2, 1]


@pytest.mark.requirement("EB-5.2")
def test_eb_5_2_the_packs_guideline_review_and_trial_go_first_whatever_else_is_found() -> None:
    scenario = pack(guideline="10.1000/g", systematic_review="10.1000/s", pivotal_trial="10.1000/t")
    works = [
        candidate(100 + n, 0.1, identifiers={"doi": entry.doi or ""})
        for n, entry in enumerate(scenario.entries)
    ]
    others = [candidate(n, 1.0, publication_type=RCT) for n in range(1, 60)]
    ranked = rank([*others, *works], question(), scenario, most=8)
    assert set(ids(ranked)[:3]) == {100, 101, 102}
    assert [one.anchor for one in ranked.kept][3:] == [None] * 5
    without = rank([*others, *works], question(), None, most=8)
    assert not {100, 101, 102} & set(ids(without))


@pytest.mark.requirement("EB-5.2")
def test_eb_5_2_a_pack_full_of_trials_leaves_room_for_its_guideline_and_review() -> None:
    """Three studies lead, as many as EB-4.1 counts; the fourth leads other trials only."""
    entry = pack(pivotal_trial="10.1000/t").entries[0]
    trials = [entry.model_copy(update={"doi": f"10.1000/t{n}"}) for n in range(9)]
    scenario = pack(guideline="10.1000/g", systematic_review="10.1000/s")
    scenario = scenario.model_copy(update={"entries": (*scenario.entries, *trials)})
    found = [
        *[candidate(n, 0.9, identifiers={"doi": f"10.1000/t{n}"}) for n in range(9)],
        candidate(20, 0.3, identifiers={"doi": "10.1000/g"}),
        candidate(21, 0.2, identifiers={"doi": "10.1000/s"}),
    ]
    assert ids(rank(found, question(), scenario, most=8)) == [0, 1, 2, 20, 21, 3, 4, 5]


@pytest.mark.requirement("EB-5.2")
def test_eb_5_2_a_work_of_the_pack_is_told_by_its_identifier_and_not_by_its_title() -> None:
    scenario = pack(guideline="10.1000/g")
    same_title = candidate(1, 0.6, title="A work of the pack", identifiers={"doi": "10.1000/h"})
    work = candidate(2, 0.5, title="Renamed", identifiers={"doi": "10.1000/G"})
    ranked = rank([same_title, work], question(), scenario, most=8)
    assert ids(ranked) == [2, 1]
    assert decided(ranked, 1).anchor is None
    assert decided(ranked, 2).anchor == "guideline"


@pytest.mark.requirement("EB-5.2")
def test_eb_5_2_in_a_trial_question_the_packs_guideline_leads_guidelines_not_trials() -> None:
    scenario = pack(guideline="10.1000/g")
    found = [
        candidate(1, 0.6, source_type="clinicaltrials"),
        candidate(2, 0.7, source_type="guideline"),
        candidate(3, 0.3, source_type="guideline", identifiers={"doi": "10.1000/g"}),
    ]
    assert ids(rank(found, question("clinical_trials"), scenario, most=8)) == [1, 3, 2]
    assert ids(rank(found, question("guidelines"), scenario, most=8)) == [3, 2, 1]


@pytest.mark.requirement("EB-5.2")
def test_eb_5_2_a_question_that_names_a_trial_asks_for_it_and_not_for_the_packs_others() -> None:
    scenario = pack(pivotal_trial="10.1000/t")
    found = [
        candidate(1, 0.5, title="GALAXY: a cohort"),
        candidate(
            2, 0.8, identifiers={"doi": "10.1000/t"}, places=(place(0.8, text="As in GALAXY."),)
        ),
    ]
    asked = question("clinical_trials", names=("GALAXY",))
    assert ids(rank(found, asked, scenario, most=8)) == [1, 2]
    assert ids(rank(found, question("clinical_trials"), scenario, most=8)) == [2, 1]


@pytest.mark.requirement("EB-5.3")
def test_eb_5_3_a_diabetes_guideline_is_penalized_behind_all_that_is_on_the_question() -> None:
    words = "In diabetes with atrial fibrillation anticoagulation is advised."
    diabetes = candidate(
        1,
        1.0,
        source_type="guideline",
        focus=frozenset({"diabetes"}),
        diseases={"diabetes", AF},
        places=(place(1.0, text=words, covered=1.0),),
    )
    weak = candidate(2, 0.05, decisions=OFF)
    ranked = rank([diabetes, weak], question(), None, most=8)
    assert ids(ranked) == [2, 1]  # below three references it is let in, last
    assert "fallback below 3 references" in decided(ranked, 1).reasons
    assert any(reason.startswith("-2.00 focus elsewhere") for reason in decided(ranked, 1).reasons)
    assert not decided(ranked, 1).on_topic
    assert ranked.relaxations[0].startswith("fallback below 3 references")
    enough = rank([diabetes, weak, *many(2, 3)], question(), None, most=8)
    assert decided(enough, 1).outcome == "dropped: its focus is another disease (EB-5.3)"
    assert not any(one.startswith("fallback") for one in enough.relaxations)


@pytest.mark.requirement("EB-5.3")
def test_eb_5_3_of_another_focus_only_passages_that_name_the_disease_are_let_in() -> None:
    diabetes = candidate(1, 1.0, focus=frozenset({"diabetes"}), diseases={"diabetes", AF})
    (one,) = rank([diabetes], question(), None, most=8).decisions
    assert (one.kept, one.relevance < 10) == (False, True)


@pytest.mark.requirement("EB-5.4")
def test_eb_5_4_at_most_a_fifth_is_not_on_topic_however_high_it_scores() -> None:
    found = [*many(5, 1, decisions=OFF), *many(6, 21)]
    ranked = rank(found, question(), None, most=8)
    on_topic = [one.on_topic for one in ranked.kept]
    assert (len(on_topic), sum(on_topic)) == (7, 6)
    assert decided(ranked, 2).outcome.startswith("dropped: not on topic")
    assert not any(one.startswith("on topic") for one in ranked.relaxations)


@pytest.mark.requirement("EB-5.5")
def test_eb_5_5_below_five_broader_works_are_let_in_up_to_five_best_first() -> None:
    found = [*many(2, 21), *many(9, 1, decisions=OFF)]
    ranked = rank(found, question(), None, most=8)
    assert sorted(ids(ranked)) == [1, 2, 3, 21, 22]
    assert "on topic: 2 of 5 references; fewer than 5 are (EB-5.5)" in ranked.relaxations
    assert "one of few: broader works let in (EB-5.5)" in decided(ranked, 3).reasons


@pytest.mark.requirement("EB-5.6")
@grid(
    ("publication_type", "source_type", "level", "primary"),
    [
        (RCT, "pubmed", None, True),
        ("Clinical Trial, Phase II", "pubmed", None, True),
        ("Observational Study", "europepmc", None, True),
        ("prospective cohort", "pubmed", None, True),
        (None, "pubmed", "randomized controlled trial", True),
        ("Registry Record", "clinicaltrials", "Trial registration: results posted", True),
        ("Registry Record", "clinicaltrials", "Trial registration: no results posted", False),
        ("registry record", "clinicaltrials", "registry record", False),
        ("Clinical Trial Protocol", "pubmed", None, False),
        ("Meta-Analysis", "pubmed", None, False),
        ("Review", "pubmed", None, False),
        ("Randomized Controlled Trial, Veterinary", "pubmed", None, False),
        ("Journal Article", "pubmed", None, False),
        ("Guideline", "nccn", None, False),
        (None, "document", None, False),
    ],
)
def test_eb_5_6_a_primary_study_is_a_trial_or_cohort_with_results(
    publication_type: str | None, source_type: str, level: str | None, primary: bool
) -> None:
    one = candidate(
        1, publication_type=publication_type, source_type=source_type, evidence_level=level
    )
    assert rank([one], question(), None, most=8).decisions[0].primary_study is primary


@pytest.mark.requirement("EB-5.6")
def test_eb_5_6_two_primary_studies_are_in_the_list_however_low_they_rank() -> None:
    studies = many(3, 60, publication_type=RCT)
    ranked = rank([*many(40, 1), *studies], question(), None, most=8)
    assert [one.primary_study for one in ranked.kept] == [False] * 6 + [True] * 2
    assert "place reserved: primary study (EB-5.6)" in decided(ranked, 60).reasons
    assert not any(one.startswith("primary") for one in ranked.relaxations)


@pytest.mark.requirement("EB-5.6")
def test_eb_5_6_a_primary_study_that_has_to_stay_out_is_told_of() -> None:
    off_topic = many(2, 60, publication_type=RCT, decisions=OFF)
    ranked = rank([*many(10, 1), *off_topic], question(), None, most=8)
    assert "primary studies: 0 of 2, for size, caps or topic" in ranked.relaxations


@pytest.mark.requirement("EB-5.7")
def test_eb_5_7_the_list_is_as_long_as_asked_never_above_ten_and_never_padded() -> None:
    found = many(40)
    assert len(rank(found, question(), None, most=6).kept) == 6
    ranked = rank(found, question(), None, most=50)
    assert ids(ranked) == list(range(1, 11))
    assert decided(ranked, 11).outcome == "dropped: enough documents"
    assert decided(ranked, 31).outcome == "dropped: not among the first 30"
    unspoken = [candidate(n, places=(place(0.9, covered=0.1),)) for n in range(41, 50)]
    few = rank([*many(4), *unspoken], question(), None, most=8)
    assert ids(few) == [1, 2, 3, 4]
    assert "size: 4 references, fewer than 6; no more may be cited" in few.relaxations
    assert decided(few, 41).outcome == "dropped: does not speak to the question"


@pytest.mark.requirement("EB-5.7")
def test_eb_5_7_of_two_works_alike_the_higher_level_of_evidence_goes_first() -> None:
    types = ["Case Reports", "Observational Study", "Clinical Trial", RCT, "Meta-Analysis"]
    found = [candidate(n, publication_type=kind) for n, kind in enumerate(types, 1)]
    assert ids(rank(found, question(), None, most=8)) == [5, 4, 3, 2, 1]


@pytest.mark.requirement("EB-4.3")
def test_eb_4_3_strict_tags_keep_only_works_on_disease_and_decision() -> None:
    found = [candidate(1, decisions=OFF), candidate(2), candidate(3, diseases={"diabetes"})]
    ranked = rank(found, question(), None, most=8, strict_tags=True)
    assert ids(ranked) == [2]
    assert decided(ranked, 1).outcome == "dropped: its tags do not both match (EB-4.3)"


@pytest.mark.parametrize(
    "publication_type",
    ["Retracted Publication", "Retraction of Publication", "Published Erratum", "erratum"],
)
def test_a_notice_or_a_retracted_work_is_no_evidence_even_where_nothing_else_is_held(
    publication_type: str,
) -> None:
    ranked = rank([candidate(1, publication_type=publication_type)], question(), None, most=8)
    assert not ranked.kept
    assert ranked.decisions[0].relevance < 10


@pytest.mark.requirement("MC-1.1d")
def test_mc_1_1d_circulate_trial_results_puts_circulate_in_the_top_three() -> None:
    found = [
        *[candidate(n, 0.9, places=(place(0.9, text="Trial results."),)) for n in range(1, 20)],
        *[
            candidate(n, 0.9, places=(place(0.9, text="Other than in CIRCULATE."),))
            for n in range(20, 30)
        ],
        candidate(30, 0.7, title="CIRCULATE PRODIGE 70: a randomized trial"),
        candidate(31, 0.9, title="How tumor cells circulate"),
    ]
    asked = question("clinical_trials", diseases=(), decisions=(), names=("CIRCULATE",))
    ranked = rank(found, asked, None, most=8)
    assert 30 in ids(ranked)[:3]
    assert set(ids(ranked)) <= set(range(20, 31))
    assert decided(ranked, 1).outcome == "dropped: names none of the trials or bodies asked about"
    assert not decided(ranked, 31).kept


def test_a_question_on_one_trial_gets_no_passage_on_another() -> None:
    passages = (
        place(0.9, chunk_id="chunk_1", text="DYNAMIC enrolled 455 patients."),
        place(0.5, chunk_id="chunk_2", text="GALAXY enrolled more."),
    )
    asked = question(names=("GALAXY",))
    ranked = rank([candidate(1, places=passages)], asked, None, most=8)
    assert [one.chunk_id for one in ranked.kept[0].places] == ["chunk_2"]


def test_a_document_gives_at_most_two_passages() -> None:
    passages = tuple(place(0.9 - n / 10, chunk_id=f"chunk_{n}") for n in range(4))
    (one,) = rank([candidate(1, places=passages)], question(), None, most=8).kept
    assert [place.chunk_id for place in one.places] == ["chunk_0", "chunk_1"]


@pytest.mark.requirement("MC-1.2b")
@pytest.mark.requirement("MC-1.3a")
def test_mc_1_3a_a_trial_question_gets_three_trials_however_low_they_rank() -> None:
    labels = many(35, 1, source_type="label")
    trials = many(4, 60, source_type="clinicaltrials")
    ranked = rank([*labels, *trials], question("clinical_trials"), None, most=6)
    assert [one.candidate.source_type for one in ranked.kept].count("clinicaltrials") == 3
    assert not any(one.startswith("needed") for one in ranked.relaxations)


@pytest.mark.requirement("MC-1.3b")
def test_mc_1_3b_a_guideline_question_gets_two_guidelines_a_coverage_question_a_payer() -> None:
    others = many(12, 1, source_type="label")
    guidelines = many(2, 120, source_type="asco")
    assert set(ids(rank([*others, *guidelines], question("guidelines"), None, most=6))) >= {
        120,
        121,
    }
    payer = many(1, 140, source_type="payer")
    assert 140 in ids(rank([*others, *payer], question("coverage_policy"), None, most=6))


@pytest.mark.requirement("MC-1.2a")
def test_mc_1_2a_caps_go_before_needs_and_a_need_that_stays_open_is_told_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    policy = retrieval_policy()
    cap = policy.caps["trial"].model_copy(update={"most": 1})
    changed = policy.model_copy(update={"caps": policy.caps | {"trial": cap}})
    for module in ("diversity", "composition"):
        monkeypatch.setattr(f"workers.retrieve.ranking.{module}.retrieval_policy", lambda: changed)
    trials = many(4, 60, source_type="clinicaltrials")
    ranked = rank([*many(9), *trials], question("clinical_trials"), None, most=6)
    assert [one.candidate.source_type for one in ranked.kept].count("clinicaltrials") == 1
    assert "needed kinds of source: 1 of 3, for size, caps or focus" in ranked.relaxations


@pytest.mark.requirement("MC-1.3a")
def test_mc_1_3a_needed_sources_go_before_the_share_on_topic_and_it_is_told() -> None:
    trials = many(3, 60, source_type="clinicaltrials", decisions=OFF)
    ranked = rank([*many(9), *trials], question("clinical_trials"), None, most=6)
    assert sum(one.on_topic for one in ranked.kept) == 3
    assert any(one.startswith("on topic: 3 of 6") for one in ranked.relaxations)


@pytest.mark.requirement("MC-1.4b")
@pytest.mark.requirement("MC-1.4c")
def test_mc_1_4c_trial_records_stand_above_restriction_language() -> None:
    """As for "What clinical trials are studying MRD de-escalation"."""
    cancer = {"colorectal_cancer"}
    asked = question("clinical_trials", (), ("mrd_testing", "de_escalation"))
    both = frozenset(asked.decisions)
    caution = candidate(
        1,
        0.9,
        source_type="nccn",
        diseases=cancer,
        decisions=both,
        places=(place(0.9, text=CAUTION),),
    )
    trials = [
        candidate(n, 0.7, source_type="clinicaltrials", diseases=cancer, decisions=both)
        for n in (2, 3)
    ]
    ranked = rank([caution, *trials], asked, None, most=8)
    assert ids(ranked) == [2, 3, 1]
    assert any("restriction language" in reason for reason in decided(ranked, 1).reasons)
    general = question("general", (), asked.decisions)
    assert ids(rank([caution, *trials], general, None, most=8))[0] == 1


@pytest.mark.requirement("MC-1.4a")
def test_mc_1_4a_restriction_language_yields_to_another_passage_of_the_same_work() -> None:
    passages = (
        place(0.80, chunk_id="chunk_1", text=CAUTION),
        place(0.75, chunk_id="chunk_2", text="The trial enrolled 455 patients."),
    )
    one = candidate(1, source_type="nccn", places=passages)
    (trial,) = rank([one], question("clinical_trials"), None, most=8).kept
    assert [place.chunk_id for place in trial.places] == ["chunk_2", "chunk_1"]
    (other,) = rank([one], question("general"), None, most=8).kept
    assert other.score - trial.score == pytest.approx(0.05)


@pytest.mark.requirement("MC-1.4a")
def test_mc_1_4a_an_anchor_that_only_restricts_is_not_lifted_in_a_trial_question() -> None:
    scenario = pack(guideline="10.1000/g")
    anchor = candidate(
        1,
        0.5,
        source_type="nccn",
        identifiers={"doi": "10.1000/g"},
        places=(place(0.5, text=CAUTION),),
    )
    found = [anchor, candidate(2, 0.6, source_type="asco")]
    assert ids(rank(found, question("clinical_trials"), scenario, most=8)) == [2, 1]
    assert ids(rank(found, question("general"), scenario, most=8)) == [1, 2]


def test_the_order_does_not_depend_on_how_candidates_come() -> None:
    found = [candidate(n, 0.5) for n in range(20)]
    shuffled = random.Random(1).sample(found, len(found))
    assert rank(shuffled, question(), None, most=8) == rank(found, question(), None, most=8)
    assert ids(rank(shuffled, question(), None, most=8)) == list(range(8))


def test_no_candidates_give_an_empty_list_that_says_so() -> None:
    ranked = rank([], question("clinical_trials"), None, most=8)
    assert ranked.decisions == ()
    assert ranked.relaxations == ("size: 0 references, fewer than 6; no more may be cited",)


def test_an_explanation_gives_ids_scores_and_reasons_and_no_words_of_the_text() -> None:
    secret = place(0.6, text="Mr Example was given apixaban.", section="History of Mr Example")
    kept = candidate(1, title="Letter on Mr Example", places=(secret,), publication_type=RCT)
    dropped = candidate(2, diseases={"diabetes"}, places=(secret,))
    ranked = rank([kept, dropped], question(), None, most=8)
    first, second = map(explain, ranked.decisions)
    assert "Example" not in json.dumps([first, second])
    assert first["decision"] == "kept"
    assert first["document_id"] == str(kept.document_id)
    assert [one["chunk_id"] for one in first["passages"]] == ["chunk_0"]
    assert "+0.10 primary decision (EB-1.3)" in first["reasons"]
    assert second["decision"] == "dropped: is on none of the diseases asked about"
    assert second["relevance"] < 10


@pytest.mark.requirement("EB-5.2")
@pytest.mark.requirement("EB-5.3")
@pytest.mark.parametrize("amount", ["anchor", "off_focus"])
def test_a_hard_amount_that_others_could_outweigh_is_refused(amount: str) -> None:
    body = retrieval_policy().model_dump()
    body["ranking"][amount] = 1.5
    with pytest.raises(ValidationError, match="must be above"):
        RetrievalPolicy.model_validate(body)


def test_the_policy_of_ranking_names_diseases_and_designs_that_exist() -> None:
    policy = retrieval_policy()
    known = set(load("subjects/vocabulary")["diseases"])
    for general, narrower in policy.ranking.broader_diseases.items():
        assert {general, *narrower} <= known
        assert general not in narrower
    cancers = {tag for tag in known if tag.endswith("_cancer")}
    assert cancers <= policy.ranking.broader_diseases["solid_tumors"]
    designs = {one.design for one in policy.designs.order}
    assert policy.designs.primary | set(policy.ranking.designs) <= designs
    assert set(policy.designs.sources.values()) <= designs


@pytest.mark.requirement("EB-5.1")
def test_eb_5_1_what_is_not_excluded_is_at_least_10_however_little_it_says() -> None:
    little = (place(0.0, covered=0.31, dense=0.5),)
    broader = candidate(1, diseases={"solid_tumors"}, decisions=OFF, places=little)
    (one,) = rank([broader], question(diseases=("lung_cancer",)), None, most=8).decisions
    assert (one.kept, one.relevance) == (True, 10)


@pytest.mark.requirement("EB-5.2")
def test_eb_5_2_a_work_of_the_pack_that_scores_as_others_do_still_goes_before_them() -> None:
    scenario = pack(guideline="10.1000/g")
    found = [
        candidate(1, source_type="guideline"),
        candidate(2, source_type="guideline", identifiers={"doi": "10.1000/g"}),
    ]
    assert ids(rank(found, question("clinical_trials"), scenario, most=8)) == [2, 1]


@pytest.mark.requirement("EB-5.4")
@pytest.mark.requirement("MC-1.3a")
def test_needed_sources_on_topic_are_reserved_before_those_that_are_not() -> None:
    off_topic = many(3, 1, source_type="clinicaltrials", decisions=OFF)
    on_topic = many(3, 41, source_type="clinicaltrials")
    ranked = rank([*off_topic, *on_topic, *many(6, 60)], question("clinical_trials"), None, most=6)
    assert {41, 42, 43} <= set(ids(ranked))
    assert not any(one.startswith("on topic") for one in ranked.relaxations)


@pytest.mark.requirement("EB-5.6")
def test_eb_5_6_needed_publications_leave_the_cap_room_for_two_primary_studies() -> None:
    reviews = many(9, 1, source_type="pubmed")
    studies = many(2, 60, source_type="pubmed", publication_type=RCT)
    labels = many(4, 80, source_type="label")
    ranked = rank([*reviews, *studies, *labels], question("clinical_trials"), None, most=8)
    assert {60, 61} <= set(ids(ranked))
    kept = [one.candidate.source_type for one in ranked.kept]
    assert sorted(kept) == ["label"] * 4 + ["pubmed"] * 4


@pytest.mark.requirement("MC-1.2a")
def test_mc_1_2a_a_cap_leaves_no_place_empty_but_nccn_s() -> None:
    works, records = many(9, 1, source_type="pubmed"), many(5, 60, source_type="clinicaltrials")
    for found, kept in (
        (works, {"pubmed": 8}),
        ([*works, *records], {"pubmed": 5, "clinicaltrials": 3}),
        ([*works, *many(2, 80, source_type="label")], {"pubmed": 6, "label": 2}),
        (many(9, source_type="nccn"), {"nccn": 4}),
        ([*many(9, source_type="nccn"), *works], {"nccn": 4, "pubmed": 4}),
    ):
        ranked = rank(found, question("comparison"), None, most=8)
        assert Counter(one.candidate.source_type for one in ranked.kept) == kept, found[0]
        gave_way = any(one.startswith("cap on PubMed: ") for one in ranked.relaxations)
        assert gave_way is (kept.get("pubmed", 0) > 4)


# --- one drug is not another, one record not another ----------------------------------------------


def test_a_passage_on_another_drug_alone_is_no_evidence() -> None:
    texts = {
        1: "Apixaban lowered stroke.",
        2: "Rivaroxaban lowered stroke.",
        3: "Anticoagulation is recommended.",
        4: "Medicare covers it.",
    }
    asked = replace(question(diseases=()), products=("apixaban",))
    works = [candidate(n, places=(place(text=text),)) for n, text in texts.items()]
    ranked = rank(works, asked, None, most=8)
    assert {one.candidate.document_id.int for one in ranked.kept} == {1, 3}
    assert decided(ranked, 2).outcome == "dropped: is on none of the drugs or tests asked about"


def test_a_question_on_a_record_by_its_identifier_is_answered_with_that_record() -> None:
    asked = question(names=("21870978",))
    works = [candidate(1, identifiers={"pmid": "21870978"}), candidate(2, score=0.9)]
    ranked = rank(works, asked, None, most=8)
    assert [one.candidate.document_id.int for one in ranked.kept] == [1]


@pytest.mark.requirement("EB-5.2")
@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Anticoagulation is recommended in atrial fibrillation.", True),
        ("Rate control is recommended in atrial fibrillation.", False),
        ("Anticoagulation is recommended in venous thromboembolism.", False),
    ],
)
def test_eb_5_2_what_a_work_of_the_pack_says_on_disease_and_decision_speaks_to_the_question(
    text: str, kept: bool
) -> None:
    places = (place(text=text, covered=0.2, dense=0.2),)
    work = candidate(1, places=places, identifiers={"doi": "10.1000/g"})
    scenario = pack(guideline="10.1000/g")
    assert bool(rank([work], question(), scenario, most=8).kept) is kept
    assert not rank([work], question(), None, most=8).kept, "of other works the words are asked for"


@pytest.mark.parametrize(
    ("identifier", "others"),
    [
        ({"lcd_id": "L00001"}, set()),
        ({"pmid": "101"}, set()),
        ({"nct_id": "NCT00000303"}, {2}),
    ],
)
def test_what_cites_a_work_by_its_number_is_no_evidence_where_that_work_is_held(
    identifier: dict[str, str], others: set[int]
) -> None:
    """But what gives the number of a trial may well report it."""
    (number,) = identifier.values()
    cites = candidate(2, 0.9, places=(place(0.9, text=f"For more see {number}."),))
    asked = question(diseases=(), decisions=(), names=(number,))
    ranked = rank([candidate(1, identifiers=identifier), cites], asked, None, most=8)
    assert set(ids(ranked)) == {1, *others}
    assert set(ids(rank([cites], asked, None, most=8))) == {2}, "it says more than nothing"


# --- a pack goes first and crowds out nothing -----------------------------------------------------


def full_pack(count: int = 4) -> tuple[Scenario, list[Candidate]]:
    """A scenario with so many works of each of three kinds, and these."""
    entry = pack(pivotal_trial="10.1000/t").entries[0]
    kinds = ("guideline", "systematic_review", "pivotal_trial")
    names = [(kind, f"10.1000/{kind}{n}") for kind in kinds for n in range(count)]
    entries = tuple(entry.model_copy(update={"kind": kind, "doi": doi}) for kind, doi in names)
    works = [
        candidate(100 + n, 0.5, identifiers={"doi": doi}, publication_type=RCT)
        for n, (_, doi) in enumerate(names)
    ]
    return pack().model_copy(update={"entries": entries}), works


@pytest.mark.requirement("EB-5.2")
@pytest.mark.requirement("EB-4.2")
def test_eb_5_2_of_each_kind_what_is_more_relevant_than_all_of_the_pack_has_a_place() -> None:
    scenario, works = full_pack()
    trial = candidate(1, 0.9, publication_type=RCT)
    guideline = candidate(2, 0.9, source_type="guideline")
    lesser = candidate(3, 0.4, publication_type=RCT)
    ranked = rank([trial, guideline, lesser, *works], question(), scenario, most=8)
    assert {1, 2} <= set(ids(ranked))
    assert 3 not in ids(ranked)
    assert ids(ranked)[0] >= 100, "the pack goes first"
    assert [one.anchor for one in ranked.kept].count("guideline") == 3
    assert decided(ranked, 1).reasons[-1].startswith("place reserved")


@pytest.mark.requirement("EB-5.2")
def test_eb_5_2_what_outdoes_the_pack_has_its_place_in_a_question_on_trials_too() -> None:
    scenario, works = full_pack()
    trials = [one._replace(source_type="clinicaltrials") for one in works]
    better = candidate(1, 0.9, source_type="clinicaltrials")
    guideline = candidate(2, 0.9, source_type="guideline")
    ranked = rank([better, guideline, *trials], question("clinical_trials"), scenario, most=8)
    assert 1 in ids(ranked)
    assert not any("more relevant" in one for one in decided(ranked, 2).reasons), "trials lead here"


def test_a_work_of_the_pack_without_the_drug_asked_about_is_not_put_before_one_that_has_it() -> (
    None
):
    scenario = pack(pivotal_trial="10.1000/t")
    asked = replace(question(), sub_queries=(SubQuery("Does celecoxib help?", "whole"),))
    anchor = candidate(1, 0.5, identifiers={"doi": "10.1000/t"})
    on_it = candidate(2, 0.6, places=(place(0.6, text="With Celebrex fewer died."),))
    assert ids(rank([anchor, on_it], asked, scenario, most=8)) == [2, 1]
    other = candidate(2, 0.6)
    assert ids(rank([anchor, other], asked, scenario, most=8)) == [1, 2], "no work has it"
    on_class = anchor._replace(places=(place(0.5, text="NSAIDs were tested."),))
    assert ids(rank([on_class, on_it], asked, scenario, most=8)) == [1, 2]


@pytest.mark.requirement("EB-5.2")
def test_eb_5_2_the_lift_of_a_pack_orders_the_list_and_is_no_merit_of_its_passages() -> None:
    scenario, works = full_pack()
    better = candidate(1, 0.9, publication_type=RCT)
    ranked = rank([better, *works], question(), scenario, most=8)
    first = ranked.kept[0]
    assert first.anchor is not None
    assert first.score > 2, "it goes first"
    assert first.merit < decided(ranked, 1).merit < 2, "an answer weighs what the passages say"


@pytest.mark.requirement("EB-5.2")
def test_eb_5_2_of_those_that_outdo_the_pack_the_best_passage_has_the_place() -> None:
    """A guideline on the rectum covers a little less of a question on it than one on the colon."""
    scenario, works = full_pack()
    on_it = candidate(1, 0.95, places=(place(0.95, covered=0.8),), source_type="guideline")
    beside = candidate(2, 0.8, places=(place(0.8, covered=1.0),), source_type="guideline")
    ranked = rank([on_it, beside, *works], question(), scenario, most=8)
    assert decided(ranked, 1).kept
    assert not decided(ranked, 2).kept


def test_what_is_kept_stands_before_what_is_dropped_whatever_its_score() -> None:
    dropped = candidate(1, 9.0, publication_type="retracted publication")
    ranked = rank([dropped, *many(3, 2)], question(), None, most=8)
    kept = [one.kept for one in ranked.decisions]
    assert kept == sorted(kept, reverse=True)
    assert not ranked.decisions[-1].kept
