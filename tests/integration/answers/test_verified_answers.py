"""What the phase 1 plan for verified answers demands, through the whole chain.

Its own validator failed on five cases (PEERS, SentinelPharma); they are tests here.
"""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from store.models import Answer
from tests.servers import TRIAL, TRIAL_QUESTION, ask, get_question, ingest
from workers.inline import InlineWorker

PUBLICATION = {
    "source_type": "pubmed",
    "identifiers": {"pmid": "999999001"},
    "authors": ["Made Up A"],
    "published_at": "2025-06-01T00:00:00Z",
}


def answer(worker: InlineWorker, question: str = TRIAL_QUESTION, **options: Any) -> dict[str, Any]:
    """The answer to a question."""
    question_id = ask(worker.store, question, **options)
    worker.run()
    assert get_question(worker.store, question_id).status == "answered"
    return body_of(worker, question_id)


def body_of(worker: InlineWorker, question_id: UUID) -> dict[str, Any]:
    with worker.store.reading() as session:
        return dict(session.get_one(Answer, question_id).body)


def publication(n: int, title: str, text: str, **fields: Any) -> dict[str, Any]:
    """A made-up article."""
    return {
        **PUBLICATION,
        "source_key": f"article-{n}",
        "title": title,
        "text": text,
        "identifiers": {"pmid": f"99999900{n}"},
        **fields,
    }


@pytest.fixture
def trial(inline: InlineWorker) -> InlineWorker:
    """The trial is held."""
    ingest(inline.store, TRIAL)
    inline.run()
    return inline


@pytest.mark.requirement("SP-5.1")
def test_sp_5_1_an_evidence_record_has_every_field_of_the_plan(trial: InlineWorker) -> None:
    (record, *_) = answer(trial)["evidence"]
    assert {"claim_id", "claim_text", "source", "retrieval", "quality"} <= record.keys()
    assert set(record["source"]) == {"name", "url", "document_id", "published_at"}
    assert set(record["retrieval"]) == {"fetched_at", "query", "snippet", "hash"}
    quality = {"source_tier", "confidence", "verification_status", "freshness_hours"}
    assert set(record["quality"]) == quality
    assert record["quality"]["source_tier"] in ("official", "peer-reviewed", "news", "other")
    assert 0.0 <= record["quality"]["confidence"] <= 1.0


@pytest.mark.requirement("SP-5.2")
@pytest.mark.requirement("SP-A")
def test_sp_5_2_an_answer_has_claims_evidence_and_both_summaries(trial: InlineWorker) -> None:
    body = answer(trial)
    counts = {"verified_count", "partial_count", "unverified_count", "conflicting_count"}
    assert set(body["verification_summary"]) == counts
    assert {"latest_fetch_at", "max_age_hours"} <= body["freshness_summary"].keys()
    assert (body["abstained"], body["abstain_reason"]) == (False, None)
    assert {claim["claim_id"] for claim in body["claims"]} == {
        record["claim_id"] for record in body["evidence"]
    }


@pytest.mark.requirement("SP-4.1")
@pytest.mark.requirement("SP-10.2")
def test_sp_10_2_every_claim_has_evidence_and_the_summary_is_made_of_supported_ones(
    trial: InlineWorker,
) -> None:
    body = answer(trial)
    with_evidence = {record["claim_id"] for record in body["evidence"]}
    supported = {one["claim_id"]: one for one in body["claims"] if one["verdict"] == "supported"}
    assert body["claims"]
    assert all(claim["claim_id"] in with_evidence for claim in body["claims"])
    ids = body["summary"]["supported_claim_ids"]
    assert ids
    assert body["summary"]["text"] == " ".join(supported[one]["text"] for one in ids)


@pytest.mark.requirement("SP-B2")
def test_sp_b2_every_claim_shows_its_source_and_both_moments(trial: InlineWorker) -> None:
    for record in answer(trial)["evidence"]:
        assert record["source"]["name"]
        assert record["retrieval"]["fetched_at"]
        assert record["clocks"]["published_at"]


@pytest.mark.requirement("SP-B3")
def test_sp_b3_what_does_not_hold_is_an_abstention_and_never_an_empty_answer(
    trial: InlineWorker,
) -> None:
    body = answer(trial, "Does aspirin prevent migraine in pregnancy?")
    assert body["abstained"]
    assert body["abstain_reason"] == "no_evidence"
    assert (body["claims"], body["summary"]["text"]) == ([], "")
    assert body["cure"]["action"]


@pytest.mark.parametrize("question", ["What time is it?", "Does it work?", "no", "a b"])
def test_invariant_9_a_question_on_nothing_in_particular_is_out_of_scope(
    trial: InlineWorker, question: str
) -> None:
    body = answer(trial, question)
    assert (body["abstained"], body["abstain_reason"]) == (True, "out_of_scope")
    assert body["summary"]["text"] == ""


# The five cases


def test_peers_case_1_evidence_fetched_20_days_ago_is_stale_and_weighs_less(
    trial: InlineWorker,
) -> None:
    fresh = answer(trial)["evidence"][0]["quality"]["confidence"]
    with trial.store.unit_of_work("test") as work:
        long_ago = datetime.now(UTC) - timedelta(days=20)
        work.session.execute(sa.text("UPDATE document SET checked_at = :at"), {"at": long_ago})
    body = answer(trial)
    (record, *_) = body["evidence"]
    assert record["clocks"]["stale"]
    assert record["quality"]["confidence"] < fresh
    assert body["freshness_summary"]["stale_sources"] == ["clinicaltrials"]
    today = answer(trial, f"{TRIAL_QUESTION} What is the current state?")
    assert (today["abstained"], today["abstain_reason"]) == (True, "stale")


@pytest.fixture
def rofecoxib(inline: InlineWorker) -> InlineWorker:
    """Holds a publication of 2004, fetched now."""
    old = publication(
        1,
        "Rofecoxib dosing in osteoarthritis",
        "Rofecoxib 25 mg once daily relieved the pain of osteoarthritis of the knee in adults.",
        published_at="2004-02-01T00:00:00Z",
    )
    ingest(inline.store, old)
    inline.run()
    return inline


def test_peers_case_2_a_publication_of_2004_fetched_now_does_not_tell_the_present_state(
    rofecoxib: InlineWorker,
) -> None:
    said = "relieve the pain of osteoarthritis of the knee"
    then = answer(rofecoxib, f"Does rofecoxib {said}?")
    assert not then["abstained"]
    assert then["evidence"][0]["clocks"]["dated"]
    now = answer(
        rofecoxib, "Does rofecoxib currently relieve the pain of osteoarthritis of the knee?"
    )
    assert (now["abstained"], now["abstain_reason"]) == (True, "stale")
    assert "published too long ago" in now["abstain_detail"]


@pytest.mark.requirement("SP-6.3")
@pytest.mark.parametrize(
    ("days", "reason"),
    [(None, None), (0, "stale"), (30, "stale")],
    ids=["a moment ago", "today", "in a month"],
)
def test_sp_6_3_only_a_date_that_is_over_lifts_the_demand_for_the_present_state(
    rofecoxib: InlineWorker, days: int | None, reason: str | None
) -> None:
    now = datetime.now(UTC)
    as_of = now if days is None else (now + timedelta(days=days)).date()
    question = "Does rofecoxib currently relieve the pain of osteoarthritis of the knee?"
    assert answer(rofecoxib, question, as_of=as_of.isoformat())["abstain_reason"] == reason


def conflicts(worker: InlineWorker, question: str) -> list[dict[str, Any]]:
    return list(answer(worker, question)["conflicts"])


def test_peers_case_3_approved_and_not_approved_is_a_conflict(inline: InlineWorker) -> None:
    ingest(
        inline.store,
        publication(
            1,
            "Aducanumab in Alzheimer disease: one report",
            "Aducanumab is approved for the treatment of early Alzheimer disease.",
        ),
        publication(
            2,
            "Aducanumab in Alzheimer disease: another report",
            "Aducanumab is not approved for the treatment of early Alzheimer disease.",
        ),
    )
    inline.run()
    body = answer(inline, "Is aducanumab approved for early Alzheimer disease?")
    (conflict, *_) = body["conflicts"]
    quotes = {side["quote"] for side in conflict["sides"]}
    assert any("is approved" in one for one in quotes)
    assert any("not approved" in one for one in quotes)
    assert (body["abstained"], body["abstain_reason"]) == (True, "conflict")
    assert {side["title"] for side in conflict["sides"]} == {
        "Aducanumab in Alzheimer disease: one report",
        "Aducanumab in Alzheimer disease: another report",
    }
    for side in conflict["sides"]:
        assert side["source"] == {
            "name": "PubMed",
            "source_type": "pubmed",
            "published_at": "2025-06-01T00:00:00+00:00",
            "published_precision": "day",
        }
        assert side["clocks"]["published_at"] == side["source"]["published_at"]
        assert side["clocks"]["fetched_at"]


@pytest.mark.requirement("SP-6.3")
def test_sp_6_3_what_a_source_says_twice_is_contested_in_both_places(inline: InlineWorker) -> None:
    said = "for the treatment of early Alzheimer disease"
    one = "Aducanumab in Alzheimer disease: one report"
    other = "Aducanumab in Alzheimer disease: another report"
    ingest(
        inline.store,
        publication(
            1,
            one,
            f"Aducanumab is approved {said}. Its price is high. "
            f"In this report, aducanumab was approved {said} in adults.",
        ),
        publication(2, other, f"Aducanumab is not approved {said}."),
    )
    inline.run()
    body = answer(inline, "Is aducanumab approved for early Alzheimer disease?")
    assert len(body["conflicts"]) == 1
    assert body["verification_summary"]["conflicting_count"] == 3
    assert (body["abstain_reason"], body["verification_summary"]["verified_count"]) == (
        "conflict",
        0,
    )


def test_peers_case_4_opposite_hazard_ratios_of_one_outcome_are_a_conflict(
    inline: InlineWorker,
) -> None:
    title = "Adjuvant olaparib in early breast cancer: a randomized trial"
    said = "In early breast cancer, adjuvant olaparib versus placebo: hazard ratio for death"
    ingest(
        inline.store,
        publication(1, title, f"{said} 0.60 (95% CI 0.45 to 0.80)."),
        publication(2, title, f"{said} 1.40 (95% CI 1.10 to 1.80)."),
    )
    inline.run()
    question = "What is the hazard ratio for death with adjuvant olaparib in early breast cancer?"
    (conflict, *_) = conflicts(inline, question)
    assert conflict["kind"] == "effect"
    assert all(side["quote"] for side in conflict["sides"])


def test_peers_case_5_two_unrelated_sentences_of_a_label_are_no_conflict(
    inline: InlineWorker,
) -> None:
    label = {
        "source_type": "label",
        "source_key": "label-1",
        "title": "Apixaban tablets: prescribing information",
        "published_at": "2026-01-01T00:00:00Z",
        "text": (
            "## Indications\n\nApixaban is approved to reduce the risk of stroke in nonvalvular "
            "atrial fibrillation.\n\n## Boxed warning\n\nStopping apixaban early raises the risk "
            "of thrombotic events.\n"
        ),
    }
    ingest(inline.store, label)
    inline.run()
    body = answer(inline, "Is apixaban approved for stroke in nonvalvular atrial fibrillation?")
    assert body["conflicts"] == []
    assert not body["abstained"]


# What the adversarial review of the gate found.


def guideline(n: int, society: str, text: str) -> dict[str, Any]:
    """A made-up guideline of a society."""
    title = f"{society} guideline on aspirin in preeclampsia"
    fields = {"source_type": "guideline", "publisher": society, "identifiers": {}}
    return publication(n, title, text, **fields)


@pytest.mark.requirement("SP-6.3")
def test_invariant_9_a_claim_beside_the_question_lifts_no_conflict(inline: InlineWorker) -> None:
    recommended = "Low-dose aspirin is recommended for women at high risk of preeclampsia."
    against = recommended.replace("is recommended", "is not recommended")
    bleeding = "The use of low-dose aspirin resulted in a higher risk of major hemorrhage."
    ingest(inline.store, guideline(1, "Society A", recommended))
    ingest(inline.store, guideline(2, "Society B", against))
    ingest(inline.store, publication(3, "Aspirin for primary prevention", bleeding))
    inline.run()
    body = answer(inline, "Is low-dose aspirin recommended for women at high risk of preeclampsia?")
    assert (body["abstain_reason"], body["summary"]["text"]) == ("conflict", "")
    assert len(body["conflicts"]) == 1


def test_a_murine_study_whose_title_alone_says_so_answers_for_mice_only(
    inline: InlineWorker,
) -> None:
    text = "Ivermectin was given for five days. Ivermectin reduced mortality from influenza by 60%."
    ingest(inline.store, publication(1, "Ivermectin in a murine model of influenza", text))
    inline.run()
    asked = "Does ivermectin reduce mortality in {} with influenza?"
    assert answer(inline, asked.format("patients"))["abstain_reason"] == "no_evidence"
    assert "by 60%" in answer(inline, asked.format("mice"))["summary"]["text"]


def test_a_dose_for_another_disease_is_no_answer(inline: InlineWorker) -> None:
    text = "Acute lymphoblastic leukemia: The recommended dose of methotrexate is 20 mg/m2."
    fields = {"source_type": "label", "identifiers": {}}
    ingest(inline.store, publication(1, "Methotrexate: prescribing information", text, **fields))
    inline.run()
    asked = "What is the recommended dose of methotrexate for {}?"
    assert answer(inline, asked.format("rheumatoid arthritis"))["abstain_reason"] == "no_evidence"
    assert "20 mg/m2" in answer(inline, asked.format("leukemia"))["summary"]["text"]


LABEL = {"source_type": "label", "identifiers": {}}


@pytest.mark.parametrize("name", ["Tecentriq", "atezolizumab"])
def test_a_drug_is_found_by_its_brand_and_by_its_generic_name(
    inline: InlineWorker, name: str
) -> None:
    pooled = "Fatigue was the most common adverse event of atezolizumab, in 30% of the patients."
    ingest(inline.store, publication(1, "Safety of atezolizumab: a pooled analysis", pooled))
    label = "## 6 ADVERSE REACTIONS\n\nThe most common adverse reactions of TECENTRIQ are cough."
    ingest(inline.store, publication(2, "TECENTRIQ injection", label, **LABEL))
    inline.run()
    body = answer(inline, f"{name} side effects")
    shown = {claim["text"] for claim in body["claims"]}
    assert shown == {pooled, "The most common adverse reactions of TECENTRIQ are cough."}


@pytest.mark.parametrize(
    ("question", "lacks"),
    [
        (
            "Does ctDNA predict relapse in women with colorectal cancer?",
            {"who": "patients", "asked": ["women"]},
        ),
        (
            "Does ctDNA predict relapse in children with colorectal cancer?",
            {"who": "patients", "asked": ["children"]},
        ),
        ("Does ctDNA predict relapse in colorectal cancer?", None),
    ],
)
def test_that_sources_speak_to_all_but_those_asked_about_is_told(
    inline: InlineWorker, question: str, lacks: dict[str, Any] | None
) -> None:
    text = "Positive ctDNA predicted relapse of the patients with colorectal cancer."
    ingest(inline.store, publication(1, "ctDNA and relapse in colorectal cancer", text))
    inline.run()
    body = answer(inline, question)
    assert body["abstained"] is bool(lacks)
    if lacks:
        assert (body["abstain_reason"], body["cure"]["lacks"]) == ("no_evidence", lacks)
        assert f"Asked about: {lacks['asked'][0]}." in body["abstain_detail"]
        assert "No stored source speaks" not in body["abstain_detail"]
        assert "whom" in body["abstain_detail"]


def test_a_question_that_the_claims_hardly_hold_is_not_answered(inline: InlineWorker) -> None:
    text = "Serious infections such as sepsis were observed in patients given corticosteroids."
    ingest(inline.store, publication(1, "HUMIRA injection", text, **LABEL))
    inline.run()
    asked = "Do corticosteroids reduce mortality after cardiac arrest in sepsis?"
    assert answer(inline, asked)["abstain_reason"] == "no_evidence"
