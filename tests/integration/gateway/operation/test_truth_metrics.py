"""What Prometheus reads of claims and quotations, from what was measured of answers."""

import pytest

from store.models import now
from store.reports.usage_totals import UsageTotals
from tests.integration.gateway.conftest import Running


@pytest.mark.requirement("MC-3.2c")
def test_mc_3_2c_the_rate_of_unanchored_quotations_is_a_metric(gateway: Running) -> None:
    gateway.execute(
        "INSERT INTO answer_quality (question_id, sealed_at, query_type, sources, source_types, "
        "nccn, trials, trial_sources, guidelines, over_caps, verified, partial, unverified, "
        "conflicting, citations, quotations, unanchored, response_ms, stage_ms) VALUES "
        "(:id, now(), 'general', 1, '{}', 0, 0, 0, 0, 0, 3, 1, 2, 0, 5, 9, 1, 100, '{}')",
        id=gateway.ask(),
    )
    text = gateway.client.get("/metrics").text
    assert "attest_quotations_last_24h 4.0" in text
    assert "attest_quotations_unanchored_last_24h 1.0" in text
    assert 'attest_claims_last_24h{status="unverified"} 2.0' in text


def test_requests_to_a_model_are_counted_by_purpose_and_outcome(gateway: Running) -> None:
    gateway.execute(
        "INSERT INTO model_usage (at, purpose, model, outcome, cost_usd) VALUES "
        "(now(), 'judge', 'm', 'ok', 0.25), (now(), 'judge', 'm', 'ok', NULL)"
    )
    text = gateway.client.get("/metrics").text
    assert 'attest_model_requests_total{outcome="ok",purpose="judge"} 2.0' in text
    assert 'attest_model_cost_usd_total{outcome="ok",purpose="judge"} 0.25' in text
    assert 'attest_model_requests_unpriced_total{outcome="ok",purpose="judge"} 1.0' in text
    with gateway.store.reading() as session:
        assert [one.requests for one in UsageTotals().totals(session, now())] == [2]
