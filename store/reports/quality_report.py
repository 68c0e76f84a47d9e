"""Every quality metric with its target, its alert and how it moved: one report for all readers.

`GET /v1/quality`, the weekly report and Prometheus say the same, because all three read it here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from sqlmodel import Session

from knowledge.quality import UNKNOWN, Figure, QualityMetric, quality_metrics
from store.extractions import quality as extraction_quality
from store.reports import quality

State = Literal["met", "missed", "unknown", "untargeted"]

LAST_DAY = timedelta(hours=24)
"""Of the counts (MRD 4.1: "last_24h") and of the gauges."""


@dataclass(frozen=True)
class Judged:
    """One metric over a window, beside what it should be."""

    name: str
    metric: QualityMetric
    figure: Figure

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None: no target, or nothing to judge."""
        return self.metric.met(self.figure)

    @property
    def alerting(self) -> bool | None:
        """Whether somebody must look; None: no alert, or too little was seen."""
        return self.metric.alerts(self.figure)

    @property
    def state(self) -> State:
        """`unknown`: there was nothing to measure. `untargeted`: it is told and has no target."""
        if self.figure.value is None:
            return "unknown"
        if self.met is None:
            return "untargeted"
        return "met" if self.met else "missed"


@dataclass(frozen=True)
class Day:
    """One day (UTC) of the window; metrics of which nothing was seen are left out."""

    day: str
    figures: Mapping[str, Figure]


@dataclass(frozen=True)
class QualityReport:
    """The metrics over [since, until), by day, and what ended in it."""

    since: datetime
    until: datetime
    metrics: Sequence[Judged]
    trend: Sequence[Day]
    counts: quality.Counts

    @property
    def missed(self) -> list[Judged]:
        """What is not as it should be."""
        return [one for one in self.metrics if one.state == "missed"]


def judged(session: Session, since: datetime, until: datetime) -> list[Judged]:
    """Every metric that is about a window, over this one, in the order of the policy."""
    found = quality.figures(session, since, until)
    found |= extraction_quality.figures(session, since, until)
    return [
        Judged(name, metric, found.get(name, UNKNOWN))
        for name, metric in quality_metrics().items()
        if not metric.standing
    ]


def report(session: Session, since: datetime, until: datetime) -> QualityReport:
    """The whole report. What is standing, such as the count of anchors, is as it is now."""
    over_window = {one.name: one for one in judged(session, since, until)}
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
    """Every day that the window touches, also those on which nothing happened."""
    by_day = quality.figures_by_day(session, since, until)
    for day, found in extraction_quality.figures_by_day(session, since, until).items():
        by_day[day] = by_day.get(day, {}) | found
    last = (until - timedelta(microseconds=1)).date()
    days, one = [], since.date()
    while one <= last:
        known = by_day.get(one.isoformat(), {})
        days.append(Day(one.isoformat(), {k: v for k, v in known.items() if v != UNKNOWN}))
        one += timedelta(days=1)
    return days
