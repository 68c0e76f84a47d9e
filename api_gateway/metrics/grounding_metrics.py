"""Prometheus metrics of claims, quotations and the cost of models."""

from collections.abc import Iterator, Sequence

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from store.reports.grounding_report import TruthReport
from store.reports.model_usage import Total


def truth_metrics(report: TruthReport, totals: Sequence[Total]) -> Iterator[Metric]:
    """Gauges over the last 24 hours, counters over all time."""
    claims = GaugeMetricFamily(
        "attest_claims_last_24h", "drafted claims by what the gate made of them", labels=["status"]
    )
    for status in ("verified", "partial", "unverified", "conflicting"):
        claims.add_metric([status], getattr(report, status))
    yield claims
    yield GaugeMetricFamily(
        "attest_abstentions_last_24h", "answers that abstained", report.abstained
    )
    yield GaugeMetricFamily(
        "attest_quotations_last_24h", "quotation marks inside drafted claims", report.quotations
    )
    yield GaugeMetricFamily(
        "attest_quotations_unanchored_last_24h",
        "those whose words stood nowhere in the cited source; their marks were removed",
        report.unanchored,
    )
    requests = CounterMetricFamily(
        "attest_model_requests", "requests to a language model", labels=["purpose", "outcome"]
    )
    cost = CounterMetricFamily(
        "attest_model_cost_usd", "US dollars where the cost is known", labels=["purpose", "outcome"]
    )
    unpriced = CounterMetricFamily(
        "attest_model_requests_unpriced",
        "requests whose cost is not known",
        labels=["purpose", "outcome"],
    )
    for total in totals:
        labels = [total.purpose, total.outcome]
        requests.add_metric(labels, total.requests)
        cost.add_metric(labels, float(total.cost_usd))
        unpriced.add_metric(labels, total.unpriced)
    yield from (requests, cost, unpriced)
