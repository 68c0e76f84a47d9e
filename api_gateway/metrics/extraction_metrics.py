"""Prometheus metrics of extractions: those that ended in the last 24 hours, and those that wait.

The `marc.*` metrics with their targets are in `attest_quality`.
"""

from collections.abc import Iterator
from datetime import timedelta

from prometheus_client.core import GaugeMetricFamily, Metric
from sqlmodel import Session

from store.extractions.figures import figures
from store.models import now

WINDOW = timedelta(hours=24)


def extraction_metrics(session: Session) -> Iterator[Metric]:
    """The gauges. A mean over nothing has no sample."""
    report = figures(session, now() - WINDOW)
    ended = GaugeMetricFamily(
        "attest_extraction_documents_last_24h",
        "documents whose extraction ended, by how",
        labels=["outcome"],
    )
    for outcome in ("extracted", "unreadable", "failed"):
        value = report.documents if outcome == "extracted" else getattr(report, outcome)
        ended.add_metric([outcome], value)
    yield ended
    scores = GaugeMetricFamily(
        "attest_extraction_score", "final scores over the last 24 hours", labels=["of"]
    )
    _add(scores, "mean", report.score_mean)
    _add(scores, "lowest", report.score_lowest)
    yield scores
    seconds = GaugeMetricFamily(
        "attest_extraction_seconds",
        "time that the steps of an extraction worked, over the last 24 hours",
        labels=["quantile"],
    )
    for quantile, ms in (("0.5", report.processing_ms_p50), ("0.95", report.processing_ms_p95)):
        _add(seconds, quantile, None if ms is None else ms / 1000)
    yield seconds
    for name, text, mean in (
        ("iterations", "iterations of a document, mean", report.iterations_mean),
        ("gain", "gain of an iteration over the one before, mean", report.improvement_mean),
        ("threshold_met_share", "share that met the threshold", report.threshold_met_rate),
    ):
        gauge = GaugeMetricFamily(f"attest_extraction_{name}", f"{text}, over the last 24 hours")
        if mean is not None:
            gauge.add_metric([], mean)
        yield gauge
    yield GaugeMetricFamily(
        "attest_extraction_cost_usd_last_24h",
        "US dollars for models, of the documents whose cost is known",
        float(report.cost_usd),
    )
    yield GaugeMetricFamily(
        "attest_extraction_unpriced_last_24h", "documents whose cost is not known", report.unpriced
    )
    yield GaugeMetricFamily(
        "attest_extractions_unfinished", "documents that wait or are worked on", report.unfinished
    )
    yield GaugeMetricFamily(
        "attest_reviews_open", "extractions that wait for a person", report.reviews_open
    )


def _add(gauge: GaugeMetricFamily, label: str, value: float | None) -> None:
    if value is not None:
        gauge.add_metric([label], value)
