"""`GET /v1/quality`: every metric of the plans beside what it should be."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from knowledge.operation.quality import GROUPS, quality_metrics
from store.models import AnswerQuality
from tests.integration.gateway.conftest import Running, serving

NOTHING = {"value": None, "over": 0, "state": "unknown", "met": None, "alerting": None}


@pytest.fixture
def gateway(new_database: Callable[[], str], settings_for: Any) -> Iterator[Running]:
    """A gateway over a database of this test alone: what is counted is counted from nothing."""
    with serving(settings_for(new_database())) as running:
        yield running


def seal(gateway: Running, days_ago: float = 0, **changed: Any) -> None:
    """A question with what the audit stage measures of its answer."""
    question_id = gateway.ask()
    values: dict[str, Any] = {
        "query_type": "clinical_trials",
        "sources": 10,
        "source_types": {"nccn": 2, "clinicaltrials": 3, "pubmed": 5},
        "nccn": 2,
        "trials": 3,
        "trial_sources": 8,
        "guidelines": 2,
        "over_caps": 0,
        "first_section": "CLINICAL TRIALS",
        "routing_compliant": True,
        "verified": 10,
        "partial": 0,
        "unverified": 0,
        "conflicting": 0,
        "citations": 8,
        "quotations": 8,
        "unanchored": 0,
        "response_ms": 120.0,
        "stage_ms": {},
    }
    moment = datetime.now(UTC) - timedelta(days=days_ago)
    with gateway.store.unit_of_work("test") as work:
        work.session.add(
            AnswerQuality(question_id=UUID(question_id), sealed_at=moment, **{**values, **changed})
        )


def extract(gateway: Running, scores: list[float], seconds: float) -> None:
    """An extraction that ended after so many iterations."""
    extraction_id = uuid4()
    gateway.execute(
        "INSERT INTO extraction (id, content_hash, text, text_hash, profile, status, result, "
        "outcome, score, met_threshold, seconds, request_id, created_at, finished_at) VALUES "
        "(:id, 'h', 't', 'h', 'batch', 'done', '{}', 'extracted', :score, :met, :seconds, :id, "
        "now(), now())",
        id=extraction_id,
        score=max(scores),
        met=max(scores) >= 0.95,
        seconds=seconds,
    )
    for n, score in enumerate(scores, start=1):
        gateway.execute(
            "INSERT INTO extraction_iteration (extraction_id, part, n, proposal, evaluation, "
            "score, gain, seconds, ended_at) VALUES (:id, 0, :n, '{}', '{}', :score, :gain, 1, "
            "now())",
            id=extraction_id,
            n=n,
            score=score,
            gain=None if n == 1 else score - scores[n - 2],
        )


@pytest.mark.requirement("MC-4.1b")
def test_mc_4_1b_what_nothing_was_seen_of_is_unknown(gateway: Running) -> None:
    body = gateway.client.get("/v1/quality").json()
    every = {name: one for group in GROUPS for name, one in body[group].items()}
    assert list(every) == list(quality_metrics())
    for name, metric in every.items():
        assert {key: metric[key] for key in NOTHING} == NOTHING, name
    assert body["last_24h"]["response_ms_p50"] is None
    assert body["missed"] == [], "where nothing is held there is nothing to miss"


@pytest.mark.requirement("MC-4.1a")
def test_mc_4_1a_every_metric_has_its_target_and_whether_it_is_met(gateway: Running) -> None:
    seal(gateway)
    seal(gateway, nccn=8, guidelines=8, routing_compliant=False)
    body = gateway.client.get("/v1/quality").json()
    share = body["retrieval_quality"]["avg_nccn_share_trial_queries"]
    assert (share["value"], share["over"]) == (0.5, 2)
    assert (share["target"], share["met"], share["state"]) == ({"below": 0.3}, False, "missed")
    assert share["alerting"] is None, "two questions wake nobody"
    assert body["retrieval_quality"]["avg_trial_sources_trial_queries"]["met"] is True
    assert body["grounding_quality"]["supported_claim_rate"]["state"] == "met"
    assert body["grounding_quality"]["citations_per_response"]["state"] == "untargeted"
    assert "routing_compliance_rate" in body["missed"]


@pytest.mark.requirement("MC-4.1c")
def test_mc_4_1c_the_last_day_is_counted_by_type_and_the_others_are_in_the_trend(
    gateway: Running,
) -> None:
    seal(gateway)
    seal(gateway, query_type="general", abstain_reason="no_evidence", routing_compliant=None)
    seal(gateway, days_ago=3, routing_compliant=False)
    seal(gateway, days_ago=9)
    gateway.fail(gateway.ask(), "a test")
    body = gateway.client.get("/v1/quality", params={"days": 5}).json()
    assert body["last_24h"]["queries_by_type"] == {"clinical_trials": 1, "general": 1}
    assert body["last_24h"]["abstained"] == {"no_evidence": 1}
    assert (body["last_24h"]["answers"], body["last_24h"]["failed"]) == (2, 1)
    assert body["retrieval_quality"]["routing_compliance_rate"]["over"] == 2
    known = {one["day"]: one["metrics"] for one in body["trend"] if one["metrics"]}
    routing = [one["routing_compliance_rate"] for one in known.values()]
    assert routing == [0.0, 1.0]
    assert len(body["trend"]) == 6, "five days touch six dates"


@pytest.mark.requirement("MV-8.1")
def test_mv_8_1_the_loop_s_metrics_and_alerts_are_those_of_the_plan(gateway: Running) -> None:
    extract(gateway, [0.70, 0.90, 0.96], 20)
    extract(gateway, [0.50], 120)
    extract(gateway, [0.60, 0.61], 10)
    found = gateway.client.get("/v1/quality").json()["extraction_quality"]
    assert found["marc.iteration_count"]["value"] == 2
    assert found["marc.final_score"]["value"] == pytest.approx((0.96 + 0.5 + 0.61) / 3, abs=1e-4)
    assert found["marc.threshold_met_rate"]["value"] == pytest.approx(1 / 3, abs=1e-4)
    assert found["marc.processing_time_ms"]["value"] == 50_000
    assert found["marc.processing_time_ms"]["alerting"] is True
    gain = found["marc.improvement_per_iteration"]
    assert (gain["value"], gain["over"]) == (pytest.approx(0.09, abs=1e-4), 3)
    assert {name: one["alert"] for name, one in found.items()} == {
        "marc.iteration_count": {"above": 3},
        "marc.final_score": {"below": 0.8},
        "marc.threshold_met_rate": {"below": 0.9},
        "marc.processing_time_ms": {"above": 45000},
        "marc.improvement_per_iteration": {"below": 0.02},
    }


def test_days_are_between_one_and_ninety(gateway: Running) -> None:
    assert gateway.client.get("/v1/quality", params={"days": 0}).status_code == 422
    assert gateway.client.get("/v1/quality", params={"days": 91}).status_code == 422


def test_prometheus_reads_the_metrics_of_the_last_day(gateway: Running) -> None:
    seal(gateway, response_ms=250.0)
    seal(gateway, days_ago=2, routing_compliant=False)
    text = gateway.client.get("/metrics").text
    assert 'attest_quality{metric="routing_compliance_rate"} 1.0' in text
    assert 'attest_quality_over{metric="marc.final_score"} 0.0' in text
    assert 'attest_quality{metric="marc.final_score"}' not in text
    assert 'attest_answers_last_24h{outcome="answered",query_type="clinical_trials"} 1.0' in text
    assert 'attest_response_seconds{quantile="0.95"} 0.25' in text


def test_stops_and_requests_are_the_same_in_the_report_on_the_page_and_for_prometheus(
    gateway: Running,
) -> None:
    seal(gateway, drafted=4, own_words=3, source_words=1, stops={"number": 2, "doubt arm": 1})
    gateway.execute(
        "INSERT INTO model_usage (at, purpose, model, outcome, ms, cost_usd) "
        "VALUES (now(), 'judge', 'm', 'proposed', 1500, 0.02)"
    )
    body = gateway.client.get("/v1/quality").json()
    assert body["gate_quality"]["own_words_rate"]["value"] == 0.75
    assert body["last_24h"]["claims_stopped_by"] == {"number": 2, "doubt arm": 1}
    (asked,) = body["last_24h"]["model_requests"]
    assert (asked["purpose"], asked["ms_p95"], asked["cost_usd_p50"]) == ("judge", 1500, 0.02)
    text = gateway.client.get("/metrics").text
    assert 'attest_quality{metric="own_words_rate"} 0.75' in text
    assert 'attest_claims_stopped_last_24h{check="doubt arm"} 1.0' in text
    assert 'attest_model_request_seconds{purpose="judge",quantile="0.95"} 1.5' in text
    assert 'attest_model_request_usd{purpose="judge",quantile="0.5"} 0.02' in text
    page = gateway.client.get("/operate/report").text
    for words in ("hard fact: number", "doubt: arm", "1.50", "0.0200"):
        assert words in page


@pytest.mark.requirement("OP-5.4")
def test_op_5_4_no_word_of_a_question_is_in_a_metric(gateway: Running) -> None:
    gateway.fail(gateway.ask("Does zebrafishoma recur?"), "a test")
    seal(gateway)
    for path in ("/metrics", "/v1/quality"):
        text = gateway.client.get(path).text
        assert "failed" in text
        assert "zebrafishoma" not in text
