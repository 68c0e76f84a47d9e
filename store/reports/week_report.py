"""The data of a weekly report: quality and its trend, costs, sources, deaths and recalls."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

import sqlalchemy as sa
from sqlmodel import Session

from store.pipeline import queue_report
from store.pipeline.queue_report import QueueReport
from store.questions import judgments
from store.recalls import log
from store.reports import quality_report
from store.reports.quality_report import QualityReport
from store.sources import source_report
from store.sources.source_report import SourceReport


@dataclass(frozen=True)
class Deaths:
    """The messages of one stage that died in the window with one type of error."""

    stage: str
    error_type: str
    died: int
    open: int


@dataclass(frozen=True)
class DayOfWeek:
    """The answers of one day (UTC) of the window."""

    day: str
    answered: int
    abstained: int
    response_ms_p50: float | None
    response_ms_p95: float | None
    cost_usd: Decimal


@dataclass(frozen=True)
class WeekReport:
    """The report over [since, until); sources and queues are in their state at `made_at`."""

    made_at: datetime
    quality: QualityReport
    days: Sequence[DayOfWeek]
    deaths: Sequence[Deaths]
    recalled: dict[str, int]
    """Answers whose recall state changed in the window, by their present state."""
    judged: dict[str, int]
    """What readers said of answers in the window."""
    sources: Sequence[SourceReport]
    queues: Sequence[QueueReport]


_DEATHS = sa.text(
    """
    SELECT stage, error_type, count(*) AS died, count(*) FILTER (WHERE status = 'open') AS open
    FROM dead_letter WHERE died_at >= :since AND died_at < :until
    GROUP BY stage, error_type ORDER BY open DESC, died DESC, stage, error_type
    """
)
_DAYS = sa.text(
    """
    SELECT (sealed_at AT TIME ZONE 'UTC')::date AS day,
           count(*) FILTER (WHERE abstain_reason IS NULL) AS answered,
           count(abstain_reason) AS abstained,
           percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY response_ms) AS ms,
           coalesce(sum(cost_usd), 0) AS cost_usd
    FROM answer_quality WHERE sealed_at >= :since AND sealed_at < :until GROUP BY day
    """
)
_RECALLED = sa.text(
    "SELECT state, count(*) AS answers FROM answer_recall "
    "WHERE changed_at >= :since AND changed_at < :until GROUP BY state"
)


def report(session: Session, since: datetime, until: datetime, made_at: datetime) -> WeekReport:
    """The whole report. Days without answers are included, with zeros and unknown times."""
    window = {"since": since, "until": until}
    measured = quality_report.report(session, since, until)
    by_day = {row.day.isoformat(): row for row in session.execute(_DAYS, window)}
    recalled = dict.fromkeys(log.CHANGED, 0)
    recalled |= {row.state: row.answers for row in session.execute(_RECALLED, window)}
    return WeekReport(
        made_at=made_at,
        quality=measured,
        days=[
            DayOfWeek(
                entry.day, ended.answered, ended.abstained, ended.ms[0], ended.ms[1], ended.cost_usd
            )
            if (ended := by_day.get(entry.day))
            else DayOfWeek(entry.day, 0, 0, None, None, Decimal(0))
            for entry in measured.trend
        ],
        deaths=[
            Deaths(row.stage, row.error_type, row.died, row.open)
            for row in session.execute(_DEATHS, window)
        ],
        recalled=recalled,
        judged=dict(judgments.between(session, since, until)),
        sources=[entry for entry in source_report.report(session, made_at) if entry.is_known],
        queues=queue_report.report(session),
    )
