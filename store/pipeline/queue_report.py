"""The state of queues and stages: what waits, for how long, and how fast it is processed.

Every metrics scrape runs these statements: each reads a partial index of unfinished work, or the
blocks of work that ended lately; none reads all finished work. They use `now()`, not
`clock_timestamp()`: PostgreSQL uses no index for a volatile function.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import sqlalchemy as sa
from sqlmodel import Session

from messages import Stage
from store.pipeline.circuits import HELD_UNTIL

RECENT = timedelta(minutes=10)
"""Ours: the period over which the speed of a stage is measured."""
QUANTILES = (0.5, 0.95, 0.99)


@dataclass(frozen=True)
class QueueReport:
    """One stage. Ages and durations in seconds; durations are None if nothing ended lately."""

    stage: str
    due: int = 0
    """Messages in the outbox that are due to be published."""
    delayed: int = 0
    """Messages in the outbox that are due later, such as retries."""
    published: int = 0
    """Messages at the broker or at a worker."""
    working: int = 0
    """Pieces of work on which a worker holds a lease."""
    oldest_seconds: float = 0.0
    """Age of the oldest message that is due or published; 0: there is none."""
    dead_letters: int = 0
    """Open dead letters."""
    takeovers: int = 0
    """Leases that expired and were taken over, so far."""
    recent: int = 0
    """Pieces of work that were done within `RECENT`."""
    seconds: Sequence[float] | None = None
    """Their durations at `QUANTILES`: the last attempt, from its claim to its commit."""


@dataclass(frozen=True)
class OutboxLag:
    """How long the oldest due row has waited to be published, in seconds; 0: none waits."""

    seconds: float


LEFT_SECONDS = 60.0
"""Ours: the reconciler and a worker need some ten seconds to take over abandoned work."""


@dataclass(frozen=True)
class UnderWay:
    """The work of a stage in progress, according to its ledger. Ages in seconds."""

    stage: str
    many: int
    longest_seconds: float
    """Age of the oldest claim."""
    late: int = 0
    """Work with a live lease past its time limit: its worker is stuck."""
    left: int = 0
    """Work whose lease expired more than `LEFT_SECONDS` ago and that nobody has taken over."""
    worker: str = ""
    """The worker of the oldest work that is late or left: `HOST:PID`."""

    @property
    def stands(self) -> int:
        """How many pieces of work make no progress."""
        return self.late + self.left


_UNDER_WAY = sa.text(
    """
    SELECT stage, count(*) AS many,
           extract(epoch FROM now() - min(started_at)) AS longest_seconds,
           count(*) FILTER (WHERE late) AS late, count(*) FILTER (WHERE gone) AS gone,
           (array_agg(worker ORDER BY started_at) FILTER (WHERE late OR gone))[1] AS worker
    FROM (SELECT stage, started_at, worker,
                 deadline < now() AND lease_until >= now() AS late,
                 lease_until < now() - make_interval(secs => :left) AS gone
          FROM stage_run WHERE status = 'running') AS run
    GROUP BY stage ORDER BY stage
    """
)
_WAITING = sa.text(
    """
    SELECT stage,
           count(*) FILTER (WHERE status = 'pending' AND not_before <= now()) AS due,
           count(*) FILTER (WHERE status = 'pending' AND not_before > now()
                            AND not_before < :held) AS delayed,
           count(*) FILTER (WHERE status = 'published') AS published,
           coalesce(extract(epoch FROM now() - min(created_at)
               FILTER (WHERE not_before <= now())), 0) AS oldest_seconds
    FROM (SELECT stage, status, not_before, created_at FROM outbox WHERE status = 'pending'
          UNION ALL
          SELECT stage, status, not_before, created_at FROM outbox WHERE status = 'published')
         AS waiting GROUP BY stage
    """
)
_LAG = sa.text(
    """
    SELECT coalesce(extract(epoch FROM now() - min(not_before)), 0) AS seconds
    FROM outbox WHERE status = 'pending' AND not_before <= now()
    """
)
_WORKING = sa.text(
    "SELECT stage, count(*) AS working FROM stage_run "
    "WHERE status = 'running' AND lease_until > now() GROUP BY stage"
)
_DEAD = sa.text("SELECT stage, count(*) AS dead FROM dead_letter WHERE status = 'open' GROUP BY 1")
_TAKEN = sa.text("SELECT stage, takeovers FROM stage_takeover")
_SPEED = sa.text(
    """
    SELECT stage, count(*) AS recent,
           percentile_cont(CAST(:quantiles AS float8[])) WITHIN GROUP (
               ORDER BY extract(epoch FROM finished_at - started_at)::float8) AS seconds
    FROM stage_run
    WHERE status = 'done' AND finished_at > now() - CAST(:recent AS interval)
    GROUP BY stage
    """
)


def report(session: Session) -> list[QueueReport]:
    """The report of every stage, in the order of the chain."""
    waiting = {row.stage: row for row in session.execute(_WAITING, {"held": HELD_UNTIL})}
    working = {row.stage: row.working for row in session.execute(_WORKING)}
    dead = {row.stage: row.dead for row in session.execute(_DEAD)}
    taken = {row.stage: row.takeovers for row in session.execute(_TAKEN)}
    speed = {
        row.stage: row
        for row in session.execute(_SPEED, {"quantiles": list(QUANTILES), "recent": RECENT})
    }
    reports = []
    for stage in (member.value for member in Stage):
        queued, fast = waiting.get(stage), speed.get(stage)
        reports.append(
            QueueReport(
                stage,
                due=queued.due if queued else 0,
                delayed=queued.delayed if queued else 0,
                published=queued.published if queued else 0,
                working=working.get(stage, 0),
                oldest_seconds=float(queued.oldest_seconds) if queued else 0.0,
                dead_letters=dead.get(stage, 0),
                takeovers=taken.get(stage, 0),
                recent=fast.recent if fast else 0,
                seconds=fast.seconds if fast else None,
            )
        )
    return reports


def under_way(session: Session) -> list[UnderWay]:
    """The work in progress of every stage that has some."""
    return [
        UnderWay(
            row.stage,
            row.many,
            max(0.0, float(row.longest_seconds)),
            row.late,
            row.gone,
            row.worker or "",
        )
        for row in session.execute(_UNDER_WAY, {"left": LEFT_SECONDS})
    ]


def outbox_lag(session: Session) -> OutboxLag:
    """How long due messages have waited for the relay."""
    return OutboxLag(float(session.execute(_LAG).scalar_one()))
