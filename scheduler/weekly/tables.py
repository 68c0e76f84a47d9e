"""The parts of a report as titles, sentences and tables of words: the same for both forms. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from store.reports.quality_report import Judged, QualityReport
from store.reports.week_report import WeekReport
from store.sources.source_report import SourceReport

UNKNOWN = "unknown"
NOTHING_HELD = "nothing held"
FINE = "Nothing to report."


@dataclass(frozen=True)
class Table:
    """Rows of words under a title; `empty` stands where there are none."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    empty: str = FINE


def title(report: WeekReport) -> str:
    """Of the whole report."""
    return f"Attest, {_day(report.quality.since)} to {_day(report.quality.until)} (UTC)"


def summary(report: WeekReport) -> str:
    """The report in three sentences."""
    counts = report.quality.counts
    missed = len(report.quality.missed)
    abstained = sum(counts.abstained.values())
    return (
        f"{counts.answers} answers were sealed, {abstained} of them abstained; "
        f"{counts.failed} questions failed. "
        f"{missed} of {len(report.quality.metrics)} metrics miss their target. "
        f"{sum(one.died for one in report.deaths)} messages died."
    )


def tables(report: WeekReport) -> list[Table]:
    """Every table of the report: what is missed comes first."""
    return [
        *_of_quality(report.quality),
        Table(
            "Sources, as they stood when this was written",
            ("source", "status", "age, hours", "limit, hours", "inside its limit", "last complete"),
            [_source(one) for one in _late_first(report.sources)],
            "No source is followed.",
        ),
        *_of_dead_letters(report),
        Table(
            "Costs of language models",
            ("purpose", "requests", "US dollars", "cost not known"),
            [
                (one.purpose, str(one.requests), f"{one.cost_usd:.4f}", str(one.unpriced))
                for one in report.costs
            ],
            "No language model was asked.",
        ),
        Table(
            "Answers whose sources changed",
            ("state", "answers"),
            [(state, str(count)) for state, count in report.recalled.items() if count],
            "No answer was recalled.",
        ),
    ]


def _of_quality(quality: QualityReport) -> list[Table]:
    return [
        Table(
            "Targets missed",
            ("metric", "value", "target", "over", "alert"),
            [_judged(one) for one in quality.missed],
            "Every target that can be judged is met.",
        ),
        Table(
            "All metrics",
            ("metric", "value", "target", "over", "state", "what it is"),
            [_described(one) for one in _misses_first(quality.metrics)],
        ),
        Table(
            "Questions by type",
            ("type", "outcome", "answers"),
            [(one.query_type, one.outcome, str(one.answers)) for one in quality.counts.ended],
            "No answer was sealed.",
        ),
    ]


def _of_dead_letters(report: WeekReport) -> list[Table]:
    return [
        Table(
            "Dead letters of the week",
            ("stage", "error", "died", "still open"),
            [(one.stage, one.error_type, str(one.died), str(one.open)) for one in report.deaths],
            "Nothing died.",
        ),
        Table(
            "Dead letters still open, of any age",
            ("stage", "open", "leases taken over so far"),
            [
                (one.stage, str(one.dead_letters), str(one.takeovers))
                for one in report.queues
                if one.dead_letters or one.takeovers
            ],
            "None is open.",
        ),
    ]


def _misses_first(metrics: Sequence[Judged]) -> list[Judged]:
    order = ("missed", "met", "untargeted", "unknown")
    return sorted(metrics, key=lambda one: order.index(one.state))


def _judged(one: Judged) -> tuple[str, ...]:
    alert = {True: "yes", False: "no", None: "-"}[one.alerting]
    return one.name, value(one), _target(one), str(one.figure.over), alert


def _described(one: Judged) -> tuple[str, ...]:
    metric = one.metric
    return one.name, value(one), _target(one), str(one.figure.over), one.state, metric.says


def value(one: Judged) -> str:
    """The metric's value in words; never 0 for what is not known."""
    if one.figure.value is None:
        return NOTHING_HELD if one.metric.standing else UNKNOWN
    return f"{one.figure.value:.4g}"


def _target(one: Judged) -> str:
    return one.metric.target.words() if one.metric.target else "-"


def _late_first(sources: Sequence[SourceReport]) -> list[SourceReport]:
    return sorted(sources, key=lambda one: (one.in_sla is not False, one.status != "degraded"))


def _source(one: SourceReport) -> tuple[str, ...]:
    inside = {True: "yes", False: "NO", None: "-"}[one.in_sla]
    return (
        one.name,
        one.status,
        UNKNOWN if one.age_hours is None else f"{one.age_hours:.1f}",
        "-" if one.sla_hours is None else f"{one.sla_hours:g}",
        inside,
        UNKNOWN if one.last_success_at is None else f"{one.last_success_at:%Y-%m-%d %H:%M}",
    )


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"
