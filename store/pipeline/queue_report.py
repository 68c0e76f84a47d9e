"""How the queues and the stages stand: what waits, for how long, and how fast it goes.

What is asked here is asked at each scrape: every part reads a partial index of what is unfinished,
or the blocks of what ended lately; none reads all that is done. `now()`, not `clock_timestamp()`:
no index is used for what may change while it is read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import sqlalchemy as sa
from sqlmodel import Session

from messages import Stage
from store.pipeline.circuits import HELD_UNTIL

RECENT = timedelta(minutes=10)
"""Ours: over how much of the past the speed of a stage is told."""
QUANTILES = (0.5, 0.95, 0.99)


@dataclass(frozen=True)
class QueueReport:
    """One stage. Ages in seconds; times of work in seconds, None where nothing ended lately."""

    stage: str
    due: int = 0
    """Waits in the outbox to be published; its time has come."""
    delayed: int = 0
    """Waits in the outbox for its time, such as that of the next attempt."""
    published: int = 0
    """At the broker, or at work."""
    working: int = 0
    """A worker holds a lease on it."""
    oldest_seconds: float = 0.0
    """Since the oldest message that is due or published was promised; 0: there is none."""
    dead_letters: int = 0
    """Open ones."""
    takeovers: int = 0
    """Leases that ran out and were taken over, so far."""
    recent: int = 0
    """Pieces of work that were done within `RECENT`."""
    seconds: Sequence[float] | None = None
    """How long they took, at `QUANTILES`: the last attempt, from its claim to its commit."""


@dataclass(frozen=True)
class OutboxLag:
    """For how many seconds the oldest due row has waited to be published; 0: none waits."""

    seconds: float


LEFT_SECONDS = 60.0
"""Ours: the reconciler and a worker need some ten seconds to take over what another one left."""


@dataclass(frozen=True)
class UnderWay:
    """What a stage works on now, as its ledger says. Ages in seconds."""

    stage: str
    many: int
    longest_seconds: float
    """Since the oldest of it was claimed."""
    late: int = 0
    """Has a live lease, and is past its time limit: its worker stands."""
    left: int = 0
    """Its lease ran out more than `LEFT_SECONDS` ago, and nobody has taken it over."""
    worker: str = ""
    """Who holds or held the oldest of what is late or left: `HOST:PID`."""

    @property
    def stands(self) -> int:
        """How much of it does not go on."""
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
    """Every stage, in the order of the chain."""
    waiting = {row.stage: row for row in session.execute(_WAITING, {"held": HELD_UNTIL})}
    working = {row.stage: row.working for row in session.execute(_WORKING)}
    dead = {row.stage: row.dead for row in session.execute(_DEAD)}
    taken = {row.stage: row.takeovers for row in session.execute(_TAKEN)}
    speed = {
        row.stage: row
        for row in session.execute(_SPEED, {"quantiles": list(QUANTILES), "recent": RECENT})
    }
    found = []
    for stage in (one.value for one in Stage):
        queued, fast = waiting.get(stage), speed.get(stage)
        found.append(
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
    return found


def under_way(session: Session) -> list[UnderWay]:
    """What every stage that has work now does with it."""
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
    """For how long what is due has waited for the relay."""
    return OutboxLag(float(session.execute(_LAG).scalar_one()))
