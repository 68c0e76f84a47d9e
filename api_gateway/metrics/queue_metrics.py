"""Prometheus metrics of the queues: depth, age, speed, deaths and leases of each stage."""

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from sqlmodel import Session

from store.pipeline import queue_report
from store.pipeline.queue_report import QUANTILES, QueueReport


def queue_metrics(session: Session) -> Iterator[Metric]:
    """The gauges and one counter of each stage, read in the scrape's session."""
    queues = queue_report.report(session)
    yield from _waiting(queues)
    yield from _speed(queues)
    dead = GaugeMetricFamily(
        "attest_stage_dead_letters_open", "dead letters nobody resolved", labels=["stage"]
    )
    taken = CounterMetricFamily(
        "attest_lease_takeovers",
        "leases that ran out, so that another worker took the work over",
        labels=["stage"],
    )
    for queue in queues:
        dead.add_metric([queue.stage], queue.dead_letters)
        taken.add_metric([queue.stage], queue.takeovers)
    standing = GaugeMetricFamily(
        "attest_stage_work_standing",
        "pieces of work past their time limit, or left by their worker and not taken over",
        labels=["stage"],
    )
    under_way = {work.stage: work.stands for work in queue_report.under_way(session)}
    for queue in queues:
        standing.add_metric([queue.stage], under_way.get(queue.stage, 0))
    yield from (dead, taken, standing)
    yield GaugeMetricFamily(
        "attest_outbox_lag_seconds",
        "for how long the oldest message that is due has waited to be published; 0 if none waits",
        queue_report.outbox_lag(session).seconds,
    )


def _waiting(found: list[QueueReport]) -> Iterator[Metric]:
    depth = GaugeMetricFamily(
        "attest_queue_messages",
        "messages by where they are: due and delayed wait in the outbox, published are at the "
        "broker or at work, working are those that a worker holds a lease on",
        labels=["stage", "state"],
    )
    age = GaugeMetricFamily(
        "attest_queue_oldest_seconds",
        "since the oldest message that is due or published was promised; 0 if there is none",
        labels=["stage"],
    )
    for queue in found:
        for state in ("due", "delayed", "published", "working"):
            depth.add_metric([queue.stage, state], getattr(queue, state))
        age.add_metric([queue.stage], queue.oldest_seconds)
    yield from (depth, age)


def _speed(found: list[QueueReport]) -> Iterator[Metric]:
    """The speed of each stage. Quantiles, no histogram: they come from the ledger (ADR 0020)."""
    done = GaugeMetricFamily(
        "attest_stage_done_recent",
        "pieces of work that were done in the last 10 minutes",
        labels=["stage"],
    )
    seconds = GaugeMetricFamily(
        "attest_stage_seconds",
        "how long they took from claim to commit; missing while nothing was done",
        labels=["stage", "quantile"],
    )
    for queue in found:
        done.add_metric([queue.stage], queue.recent)
        for quantile, value in zip(QUANTILES, queue.seconds or (), strict=False):
            seconds.add_metric([queue.stage, f"{quantile:g}"], value)
    yield from (done, seconds)
