"""The Prometheus metrics. Labels are routes, methods, statuses and sources: no ids, no texts."""

from collections.abc import Callable, Iterator
from datetime import datetime
from importlib.metadata import version

import sqlalchemy as sa
import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlmodel import Session

from api_gateway.backpressure.load import Work
from api_gateway.metrics.extraction_metrics import extraction_metrics
from api_gateway.metrics.grounding_metrics import truth_metrics
from api_gateway.metrics.operator_metrics import operator_gauges
from api_gateway.metrics.quality_metrics import quality_metrics
from api_gateway.metrics.queue_metrics import queue_metrics
from api_gateway.metrics.recall_metrics import recall_metrics
from store.core.printable import printable
from store.models import now
from store.reports.day_figures import LastDay
from store.reports.usage_totals import UsageTotals
from store.sources import source_report
from store.sources.source_report import SourceReport

log = structlog.get_logger(__name__)

# A submission takes a few milliseconds; a long poll up to a minute.
BUCKETS = (0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)

_STATE = sa.text(
    """
    SELECT (SELECT count(*) FROM outbox WHERE status = 'pending') AS pending,
           (SELECT count(*) FROM outbox WHERE status = 'published') AS published,
           (SELECT count(*) FROM dead_letter WHERE status = 'open') AS dead_letters,
           (SELECT count(*) FROM question WHERE status IN ('queued', 'running')) AS unfinished,
           (SELECT coalesce(extract(epoch FROM clock_timestamp() - min(created_at)), 0)
            FROM question WHERE status IN ('queued', 'running')) AS oldest_seconds
    """
)


class _DatabaseState(Collector):
    """Gauges read from PostgreSQL at each scrape."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._usage = UsageTotals()
        self._day = LastDay()

    def describe(self) -> list[Metric]:
        """No metrics before the first scrape: registering must not need the database."""
        return []

    def collect(self) -> Iterator[Metric]:
        """The gauges; only `attest_database_up` while the database is away."""
        up = GaugeMetricFamily("attest_database_up", "whether PostgreSQL answered this scrape")
        try:
            with Session(self._engine) as session:
                state = session.execute(_STATE).one()
                sources = source_report.report(session, now())
                stages = list(operator_gauges(session))
                moment = now()
                day = self._day.figures(session, moment)
                queues = list(queue_metrics(session))
                usage = self._usage.totals(session, moment)
                recalls = [*recall_metrics(session), *extraction_metrics(session)]
        except sa.exc.SQLAlchemyError as error:
            log.warning("metrics_without_database", error=type(error).__name__)
            up.add_metric([], 0)
            yield up
            return
        up.add_metric([], 1)
        yield up
        rows = GaugeMetricFamily(
            "attest_outbox_rows",
            "messages promised and not yet kept: pending wait to be published, published are at "
            "the broker or at work",
            labels=["status"],
        )
        rows.add_metric(["pending"], state.pending)
        rows.add_metric(["published"], state.published)
        yield rows
        yield GaugeMetricFamily(
            "attest_dead_letters_open", "dead letters nobody resolved", state.dead_letters
        )
        yield GaugeMetricFamily(
            "attest_questions_unfinished", "questions queued or running", state.unfinished
        )
        yield GaugeMetricFamily(
            "attest_oldest_unfinished_question_age_seconds",
            "age of the oldest question that is queued or running; 0 if there is none",
            float(state.oldest_seconds),
        )
        yield from stages
        yield from queues
        yield from _source_gauges([source for source in sources if source.is_known])
        yield from truth_metrics(day.truth, usage)
        yield from quality_metrics(day.judged, day.counts)
        yield from recalls


_Value = Callable[[SourceReport], float | None]

_SOURCE_GAUGES: dict[str, tuple[str, _Value]] = {
    "attest_source_age_hours": (
        "age of the oldest query that is followed; missing until one was complete",
        lambda source: source.age_hours,
    ),
    "attest_source_sla_hours": (
        "how old it may be; missing where freshness goes by version",
        lambda source: source.sla_hours,
    ),
    "attest_source_in_sla": (
        "1 while every query that is followed is inside the SLA, 0 while one is not",
        lambda source: source.in_sla,
    ),
    "attest_source_degraded": (
        "1 while the source fails and is left alone",
        lambda source: source.status == "degraded",
    ),
    "attest_source_last_success_timestamp_seconds": (
        "when a refresh was last complete",
        lambda source: _epoch(source.last_success_at),
    ),
    "attest_source_next_run_timestamp_seconds": (
        "when the next refresh is due",
        lambda source: _epoch(source.next_run_at),
    ),
    "attest_source_documents": (
        "documents whose current version the source brought",
        lambda source: source.held.documents,
    ),
    "attest_source_versions": (
        "versions that the source brought, superseded ones included",
        lambda source: source.held.versions,
    ),
    "attest_source_findings_open": (
        "what does not hold about its records and is not resolved",
        lambda source: source.held.findings_open,
    ),
}


def _epoch(moment: datetime | None) -> float | None:
    return None if moment is None else moment.timestamp()


def _source_gauges(sources: list[SourceReport]) -> Iterator[Metric]:
    """Each gauge with a sample per source; a source without a value has no sample."""
    for name, (text, value) in _SOURCE_GAUGES.items():
        gauge = GaugeMetricFamily(name, text, labels=["source"])
        for source in sources:
            sample = value(source)
            if sample is not None:
                gauge.add_metric([source.name], float(sample))
        yield gauge
    breaches = CounterMetricFamily(
        "attest_sla_breaches",
        "how often a query that was followed grew older than the SLA",
        labels=["source"],
    )
    for source in sources:
        breaches.add_metric([source.name], source.held.breaches)
    yield breaches


class Metrics:
    """The metrics of one gateway, in their own registry; `others` are scraped with them."""

    def __init__(self, engine: sa.Engine, *others: Collector) -> None:
        self._registry = CollectorRegistry()
        build = Gauge(
            "attest_build_info", "the release that runs", ["version"], registry=self._registry
        )
        build.labels(version("attest")).set(1)
        self._requests = Counter(
            "attest_http_requests",
            "requests answered",
            ["method", "route", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "attest_http_request_seconds",
            "time to the start of the response (long polls included)",
            ["method", "route"],
            buckets=BUCKETS,
            registry=self._registry,
        )
        self._refused = Counter(
            "attest_refused_by_load",
            "submissions answered with 429 because more waits than can be done in time",
            ["work"],
            registry=self._registry,
        )
        for work in Work:
            self._refused.labels(work.value)  # starts at 0, so that the first one shows as a rise
        self._registry.register(_DatabaseState(engine))
        for collector in others:
            self._registry.register(collector)

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a response."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)

    def refused_by_load(self, work: Work) -> None:
        """Count a submission for which there was no room."""
        self._refused.labels(work.value).inc()

    def exposition(self) -> bytes:
        """All metrics in the text format of Prometheus."""
        written = generate_latest(self._registry).decode()
        return printable(written, lines=True).encode()
