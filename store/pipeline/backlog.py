"""How much work of one kind is waiting, and how fast it is being done.

The gateway reads this when it admits a request, so it is cheap: it reads partial indexes of open
work, up to a limit, and only the last blocks of finished work.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlmodel import Session

SHORTEST_SECONDS, LONGEST_SECONDS = 2.0, 600.0
"""Ours: shortest and longest period of the past over which the speed is measured."""


@dataclass(frozen=True)
class Backlog:
    """Work of one kind, without messages for later, such as a retry or those of a paused stage."""

    waiting: int
    """Messages that are due or at the broker, including those being worked on; counted up to the
    limit of the caller."""
    busy_seconds: float = 0.0
    """How long there has been work to do, which is the period of `ended`: the median age of the
    waiting messages."""
    ended: int = 0
    """How often the last stage finished within `busy_seconds`."""

    def wait_seconds(self, fewest: int) -> float | None:
        """How long a new piece of work waits: the work ahead of it, divided by the speed so far
        (Little's law). None if fewer than `fewest` ended: too few to measure a speed."""
        if self.ended < fewest:
            return None
        return self.waiting * self.busy_seconds / self.ended


# `now()`, not `clock_timestamp()`: PostgreSQL uses no index for a volatile function.
_WAITING = sa.text(
    """
    SELECT count(*) AS waiting,
           coalesce(extract(epoch FROM now() - percentile_disc(0.5) WITHIN GROUP (
               ORDER BY created_at)), 0) AS seconds
    FROM ((SELECT created_at FROM outbox
           WHERE status = 'published' AND stage = ANY(:stages) LIMIT :most)
          UNION ALL
          (SELECT created_at FROM outbox
           WHERE status = 'pending' AND not_before <= now() AND stage = ANY(:stages) LIMIT :most))
         AS waiting
    """
)
_ENDED = sa.text(
    "SELECT count(*) FROM stage_run WHERE stage = :stage AND status = 'done' "
    "AND finished_at > now() - make_interval(secs => :seconds)"
)


def backlog(session: Session, stages: Sequence[str], *, most: int, few: int) -> Backlog:
    """The backlog of the work that goes through `stages`, the last of which ends it.

    Args:
        most: the limit up to which messages are counted.
        few: with fewer messages waiting, the speed is not needed and not read.
    """
    row = session.execute(_WAITING, {"stages": list(stages), "most": most}).one()
    if row.waiting < few:
        return Backlog(row.waiting)
    seconds = min(max(float(row.seconds), SHORTEST_SECONDS), LONGEST_SECONDS)
    ended: int = session.execute(_ENDED, {"stage": stages[-1], "seconds": seconds}).scalar_one()
    return Backlog(row.waiting, seconds, ended)
