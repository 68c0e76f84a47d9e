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
    yield GaugeMetricFamily(
        "attest_answers_cost_usd_last_24h",
        "US dollars for models, of the answers whose cost is known",
        float(day.cost_usd),
    )
