"""Corrects rows that have future times because PostgreSQL's clock was set back.

Such a row waits for that time: a message is not published, the lease of a dead worker does not
expire, a paused stage is not probed, for as many hours as the clock was set back. They are
recognised by having been published, begun or changed later than now.
"""

import sqlalchemy as sa
from sqlmodel import Session

from knowledge.operation.operating import circuit_policy
from store.pipeline.circuits import HELD_UNTIL

AHEAD_SECONDS = 60.0
"""Ours: a clock that NTP slews is set back by less."""

_PROMISES = sa.text(
    """
    UPDATE outbox SET published_at = clock_timestamp(), not_before = CASE
        WHEN not_before < :held
        THEN clock_timestamp() + greatest(not_before - published_at, interval '0')
        ELSE not_before END
    WHERE status IN ('pending', 'published')
      AND published_at > clock_timestamp() + make_interval(secs => :ahead)
    RETURNING id
    """
)
_REPLAYS = sa.text(
    """
    UPDATE outbox SET not_before = clock_timestamp()
    FROM dead_letter AS letter JOIN dead_letter_resolution AS replayed
         ON replayed.dead_letter_id = letter.id
    WHERE replayed.due_at > clock_timestamp()
      AND replayed.at > clock_timestamp() + make_interval(secs => :ahead)
      AND letter.outbox_id = outbox.id AND outbox.status = 'pending'
      AND outbox.not_before > clock_timestamp() AND outbox.not_before < :held
    RETURNING outbox.id
    """
)
_LEASES = sa.text(
    """
    UPDATE stage_run SET started_at = clock_timestamp(),
        lease_until = least(lease_until, clock_timestamp() + make_interval(secs => :lease))
    WHERE status = 'running' AND started_at > clock_timestamp() + make_interval(secs => :ahead)
    RETURNING id
    """
)
_CIRCUITS = sa.text(
    """
    UPDATE stage_circuit SET changed_at = clock_timestamp(),
        probe_at = clock_timestamp() + least(make_interval(secs => :cap),
                                             greatest(probe_at - changed_at, interval '0'))
    WHERE state = 'open'
      AND (changed_at > clock_timestamp() + make_interval(secs => :ahead)
           OR probe_at > clock_timestamp() + make_interval(secs => :cap + :ahead))
    RETURNING stage
    """
)


def bring_back(session: Session, lease_seconds: float) -> int:
    """Move times later than now back, keeping the intervals within a row; returns how many rows.
    A live worker renews its lease; otherwise another takes the work over one lease later."""
    cap = circuit_policy().probe_cap_seconds
    values = {"ahead": AHEAD_SECONDS, "lease": lease_seconds, "held": HELD_UNTIL, "cap": cap}
    statements = (_PROMISES, _REPLAYS, _LEASES, _CIRCUITS)
    return sum(
        len(session.execute(query, {name: values[name] for name in query.compile().params}).all())
        for query in statements
    )
