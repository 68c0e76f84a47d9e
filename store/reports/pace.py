"""How much was done, and how long answers took, hour by hour (UTC)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlmodel import Session

HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Hour:
    """Pieces of work that were done in the hour from `at` on, answers sealed, and the seconds from
    a question to its answer that half and 95% of these took up to; None: there was no answer."""

    at: datetime
    done: int = 0
    answers: int = 0
    seconds: Sequence[float | None] = (None, None)


_HOURS = sa.text(
    """
    SELECT date_bin('1 hour', run.finished_at, :until) AS at, count(*) AS done,
           count(question.id) AS answers,
           percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (
               ORDER BY extract(epoch FROM run.finished_at - question.created_at)) AS seconds
    FROM stage_run AS run LEFT JOIN question ON question.id =
         CASE WHEN run.stage = 'audit' THEN CAST(run.subject AS uuid) END
    WHERE run.status = 'done' AND run.finished_at >= :since AND run.finished_at < :until
    GROUP BY 1
    """
)


def by_hour(session: Session, at: datetime, hours: int) -> list[Hour]:
    """The last hours, the present one last; an hour in which nothing was done is there too."""
    until = at.replace(minute=0, second=0, microsecond=0) + HOUR
    known = {
        row.at: Hour(row.at, row.done, row.answers, row.seconds or (None, None))
        for row in session.execute(_HOURS, {"since": until - hours * HOUR, "until": until})
    }
    starts = [until - n * HOUR for n in range(hours, 0, -1)]
    return [known.get(start, Hour(start)) for start in starts]
