"""Prometheus metrics of answers whose sources changed."""

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily, Metric
from sqlmodel import Session

from store.recalls import log


def recall_metrics(session: Session) -> Iterator[Metric]:
    """The gauges: affected answers by state, and the longest wait to be checked again."""
    answers = GaugeMetricFamily(
        "attest_answers_recalled",
        "answers that something they cite has changed under, by what became of them",
        labels=["state"],
    )
    for state, count in log.counts(session).items():
        answers.add_metric([state], count)
    yield answers
    yield GaugeMetricFamily(
        "attest_oldest_affected_answer_age_seconds",
        "for how long the answer that waits longest to be checked again has been affected; 0 if "
        "none is",
        log.oldest_affected_seconds(session),
    )
