"""Every quality metric with its target, its alert and its trend: one report for all readers.

`GET /v1/quality`, the weekly report and Prometheus agree, because all three read it here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from sqlmodel import Session

from knowledge.operation.quality import UNKNOWN, Figure, QualityMetric, quality_metrics
from store.extractions import quality as extraction_quality
from store.reports import quality

State = Literal["met", "missed", "unknown", "untargeted"]

LAST_DAY = timedelta(hours=24)
"""The window of the counts (MRD 4.1: "last_24h") and of the gauges."""


@dataclass(frozen=True)
class Judged:
    """One metric over a window, with its target."""

    name: str
    metric: QualityMetric
    figure: Figure

    @property
    def met(self) -> bool | None:
        """True if the target is met; None: there is no target, or nothing to judge."""
        return self.metric.met(self.figure)

    @property
    def alerting(self) -> bool | None:
        """True if the alert fires; None: there is no alert, or too little data."""
        return self.metric.alerts(self.figure)

    @property
    def state(self) -> State:
        """`unknown`: there was nothing to measure. `untargeted`: measured, but it has no target."""
        if self.figure.value is None:
            return "unknown"
        if self.met is None:
            return "untargeted"
        return "met" if self.met else "missed"


@dataclass(frozen=True)
class Day:
    """One day (UTC) of the window; metrics without data are left out."""

    day: str
    figures: Mapping[str, Figure]


@dataclass(frozen=True)
class QualityReport:
    """The metrics over [since, until), their trend by day, and counts of what ended in it."""

    since: datetime
    until: datetime
    metrics: Sequence[Judged]
    trend: Sequence[Day]
    counts: quality.Counts

    @property
    def missed(self) -> list[Judged]:
        """The metrics that miss their target."""
        return [metric for metric in self.metrics if metric.state == "missed"]


def judged(session: Session, since: datetime, until: datetime) -> list[Judged]:
    """Every metric that applies to a window, over this window, in the order of the policy."""
    measured = quality.figures(session, since, until)
    measured |= extraction_quality.figures(session, since, until)
    return [
        Judged(name, metric, measured.get(name, UNKNOWN))
        for name, metric in quality_metrics().items()
        if not metric.standing
    ]


def report(session: Session, since: datetime, until: datetime) -> QualityReport:
    """The whole report. Standing metrics, such as the count of anchors, are measured now."""
    over_window = {metric.name: metric for metric in judged(session, since, until)}
    standing = {"quote_anchor_coverage": quality.anchors(session)}
    return QualityReport(
        since,
        until,
        [
            over_window.get(name) or Judged(name, metric, standing.get(name, UNKNOWN))
            for name, metric in quality_metrics().items()
        ],
        _trend(session, since, until),
        quality.counts(session, since, until),
    )


def _trend(session: Session, since: datetime, until: datetime) -> list[Day]:
    """Every day that the window touches, including days without data."""
    by_day = quality.figures_by_day(session, since, until)
    for day, figures in extraction_quality.figures_by_day(session, since, until).items():
        by_day[day] = by_day.get(day, {}) | figures
    last = (until - timedelta(microseconds=1)).date()
    days, date = [], since.date()
    while date <= last:
        known = by_day.get(date.isoformat(), {})
        days.append(Day(date.isoformat(), {k: v for k, v in known.items() if v != UNKNOWN}))
        date += timedelta(days=1)
    return days
