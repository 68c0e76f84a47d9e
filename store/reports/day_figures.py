"""The figures of the last 24 hours, for a reader that asks every few seconds.

They are sums over a day's answers and move slowly, so that they are kept for a minute: over 100,000
answers they are most of what a scrape costs.
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
    """What the last 24 hours before `at` brought."""

    at: datetime
    truth: TruthReport
    judged: list[Judged]
    counts: Counts


class LastDay:
    """The figures as they were at most a minute ago."""

    def __init__(self) -> None:
        self._found: DayFigures | None = None

    def figures(self, session: Session, at: datetime) -> DayFigures:
        """Those that were read last, or new ones if they are too old at `at`."""
        found = self._found
        if found is None or not found.at <= at < found.at + KEPT:
            since = at - LAST_DAY
            found = self._found = DayFigures(
                at,
                truth_report(session, since),
                quality_report.judged(session, since, at),
                quality.counts(session, since, at),
            )
        return found
