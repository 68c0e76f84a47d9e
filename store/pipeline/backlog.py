"""How much work of one kind is promised and not done, and how fast it is being done.

Asked while people are let in, so it is cheap: it reads partial indexes of what is open, no further
than it matters, and of what ended only the last blocks.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlmodel import Session

SHORTEST_SECONDS, LONGEST_SECONDS = 2.0, 600.0
"""Ours: over how much of the past the speed is told, at least and at most."""


@dataclass(frozen=True)
class Backlog:
    """Work of one kind. What waits for its time, as a retry or at a paused stage, is not in it."""

    waiting: int
    """Messages that are due or at the broker, those at work among them; not counted any further
    than asked for."""
    busy_seconds: float = 0.0
    """For how long there has been something to do, as far as `ended` looks back: half of what
    waits has waited for longer."""
    ended: int = 0
    """How often the last stage was done within `busy_seconds`."""

    def wait_seconds(self, fewest: int) -> float | None:
        """How long a new piece of work waits: what is before it, over the speed so far (Little's
        law). None where fewer than `fewest` ended, because that says nothing of a speed."""
        if self.ended < fewest:
            return None
        return self.waiting * self.busy_seconds / self.ended


# `now()`, not `clock_timestamp()`: no index is used for what may change while it is read.
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
    """The backlog of what goes through `stages`, the last of which ends it.

    Args:
        most: more than so many are not counted.
        few: with fewer than so many waiting nobody needs to know the speed, and it is not read.
    """
    found = session.execute(_WAITING, {"stages": list(stages), "most": most}).one()
    if found.waiting < few:
        return Backlog(found.waiting)
    seconds = min(max(float(found.seconds), SHORTEST_SECONDS), LONGEST_SECONDS)
    ended: int = session.execute(_ENDED, {"stage": stages[-1], "seconds": seconds}).scalar_one()
    return Backlog(found.waiting, seconds, ended)
