"""The figures of the last 24 hours, for a reader that polls every few seconds.

They are sums over a day's answers and change slowly, so they are cached for a minute: with 100,000
answers they are most of the cost of a scrape.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlmodel import Session

from store.reports import quality, quality_report
from store.reports.grounding_report import TruthReport, truth_report
from store.reports.quality import Counts
from store.reports.quality_report import LAST_DAY, Judged

KEPT = timedelta(minutes=1)
"""Ours: the alerts on these figures wait for an hour."""


@dataclass(frozen=True)
class DayFigures:
    """The figures of the 24 hours before `at`."""

    at: datetime
    truth: TruthReport
    judged: list[Judged]
    counts: Counts


class LastDay:
    """The figures of the last 24 hours, at most a minute old."""

    def __init__(self) -> None:
        self._found: DayFigures | None = None

    def figures(self, session: Session, at: datetime) -> DayFigures:
        """The cached figures, or new ones if the cached are too old at `at`."""
        cached = self._found
        if cached is None or not cached.at <= at < cached.at + KEPT:
            since = at - LAST_DAY
            cached = self._found = DayFigures(
                at,
                truth_report(session, since),
                quality_report.judged(session, since, at),
                quality.counts(session, since, at),
            )
        return cached
