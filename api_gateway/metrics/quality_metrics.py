"""Prometheus metrics of quality: every metric of the plans over the last 24 hours."""

from collections.abc import Iterator, Sequence

from prometheus_client.core import GaugeMetricFamily, Metric

from store.reports.quality import Counts
from store.reports.quality_report import Judged


def quality_metrics(judged: Sequence[Judged], day: Counts) -> Iterator[Metric]:
    """The gauges. A metric without observations has no sample."""
    value = GaugeMetricFamily(
        "attest_quality",
        "the metrics of GET /v1/quality over the last 24 hours; missing while unknown",
        labels=["metric"],
    )
    over = GaugeMetricFamily(
        "attest_quality_over",
        "over how many questions, claims, quotations or documents each is",
        labels=["metric"],
    )
    for metric in judged:
        over.add_metric([metric.name], metric.figure.over)
        if metric.figure.value is not None:
            value.add_metric([metric.name], metric.figure.value)
    yield from (value, over)
    yield from _counted(day)


def _counted(day: Counts) -> Iterator[Metric]:
    answers = GaugeMetricFamily(
        "attest_answers_last_24h",
        "sealed answers by type of question and outcome: answered, or why it abstained",
        labels=["query_type", "outcome"],
    )
    for outcome in day.ended:
        answers.add_metric([outcome.query_type, outcome.outcome], outcome.answers)
    yield answers
    yield GaugeMetricFamily(
        "attest_questions_failed_last_24h", "questions that a stage gave up on", day.failed
    )
    seconds = GaugeMetricFamily(
        "attest_response_seconds",
        "from a question's acceptance to the seal of its answer, over the last 24 hours; missing "
        "while nothing was sealed",
        labels=["quantile"],
    )
    for quantile, ms in (("0.5", day.response_ms_p50), ("0.95", day.response_ms_p95)):
        if ms is not None:
            seconds.add_metric([quantile], ms / 1000)
    yield seconds
    stopped = GaugeMetricFamily(
        "attest_claims_stopped_last_24h",
        "claims that the gate stopped, by the check that did; one may be stopped by several",
        labels=["check"],
    )
    for check, claims in day.stops.items():
        stopped.add_metric([check], claims)
    yield stopped
    yield from _requests(day)
    yield GaugeMetricFamily(
        "attest_answers_cost_usd_last_24h",
        "US dollars for models, of the answers whose cost is known",
        float(day.cost_usd),
    )


def _requests(day: Counts) -> Iterator[Metric]:
    """Quantiles of a day, no histogram: they come from the rows of the requests (ADR 0020)."""
    labels = ["purpose", "quantile"]
    seconds = GaugeMetricFamily(
        "attest_model_request_seconds",
        "how long requests to a language model took, over the last 24 hours",
        labels=labels,
    )
    cost = GaugeMetricFamily(
        "attest_model_request_usd",
        "US dollars of a request whose cost is known, over the last 24 hours",
        labels=labels,
    )
    for one in day.asked:
        for quantile, ms, usd in (
            ("0.5", one.ms_p50, one.cost_p50),
            ("0.95", one.ms_p95, one.cost_p95),
        ):
            if ms is not None:
                seconds.add_metric([one.purpose, quantile], ms / 1000)
            if usd is not None:
                cost.add_metric([one.purpose, quantile], usd)
    yield from (seconds, cost)
