"""One token bucket per host, shared by all processes: how fast a source is asked, and pauses.

A bucket is one moment, `next_at`, kept by the generic cell rate algorithm (ITU-T I.371). Each
request moves it one interval on, and may be sent once `next_at` is at most `burst` - 1 intervals
ahead. So any stretch of time sees at most `burst` + its length × the rate.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

LONGEST = timedelta(hours=1)
"""Our choice: `next_at` counts as at most this far ahead, so that a clock that was set back blocks
nobody for ever. Longer pauses are kept by `store.sources.source_states`."""

_TAKE = sa.text(
    "INSERT INTO rate_limit AS bucket (host, next_at) VALUES (:host, :at + :interval) "
    "ON CONFLICT (host) DO UPDATE "
    "SET next_at = GREATEST(LEAST(bucket.next_at, :at + :cap), :at) + :interval "
    "WHERE LEAST(bucket.next_at, :at + :cap) <= :latest "
    "RETURNING next_at - :interval AS turn"
)
_LOOK = sa.text(
    "UPDATE rate_limit SET next_at = LEAST(next_at, :at + :cap) WHERE host = :host "
    "RETURNING next_at AS turn"
)
_HOLD = sa.text(
    "INSERT INTO rate_limit AS bucket (host, next_at) VALUES (:host, :until) "
    "ON CONFLICT (host) DO UPDATE "
    "SET next_at = GREATEST(LEAST(bucket.next_at, :at + :cap), EXCLUDED.next_at)"
)


@dataclass(frozen=True)
class RateLimits:
    """The buckets in PostgreSQL. Every call is its own transaction."""

    engine: sa.Engine

    def reserve(
        self, host: str, per_second: float, burst: int, at: datetime, *, longest: float = 30.0
    ) -> float:
        """Take the next turn at `host`; returns the seconds to wait from `at` until it comes.

        If that were more than `longest` seconds, no turn is taken, and the result, larger than
        `longest`, says when it is worth asking again.
        """
        interval = timedelta(seconds=1 / per_second)
        allowance = interval * (burst - 1)
        values = {"host": host, "at": at, "cap": LONGEST}
        taking = {
            **values,
            "interval": interval,
            "latest": at + allowance + timedelta(seconds=longest),
        }
        with self.engine.begin() as connection:
            turn: datetime | None = connection.execute(_TAKE, taking).scalar()
            if turn is None:
                turn = connection.execute(_LOOK, values).scalar_one()
        seconds: float = (turn - allowance - at).total_seconds()
        return max(0.0, seconds)

    def hold(self, host: str, until: datetime, at: datetime) -> None:
        """Let nobody ask `host` before `until` (at most an hour after `at`): it asked for a pause.

        Callers that may send bursts add `burst` - 1 intervals.
        """
        values = {"host": host, "until": min(until, at + LONGEST), "at": at, "cap": LONGEST}
        with self.engine.begin() as connection:
            connection.execute(_HOLD, values)
