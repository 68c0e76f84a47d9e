"""Limits of a key: its rate and its requests per day, counted in Redis, without it in PostgreSQL.

The rate is the generic cell rate algorithm (ITU-T I.371): a burst of a whole minute's requests,
then one per interval. Rate and day are checked by one script, in one round trip. A refused request
uses nothing up. A rate that lies further ahead than is possible dates from before Redis' clock was
set back, and starts anew. The day's count is written to PostgreSQL from time to time, so that a
Redis that lost it is corrected; requests in between, at most a minute's worth, may be allowed
twice.
"""

import math
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Literal, cast
from uuid import UUID

import redis
import structlog
from sqlmodel import Session

from knowledge.operation.access import AccessPolicy, access_policy
from store.access import keys
from store.core.unit_of_work import Store
from store.models import AccessKey
from store.sources.rate_limits import RateLimits

log = structlog.get_logger(__name__)

AWAY_SECONDS = 5.0
"""Our choice: after Redis fails to answer, PostgreSQL counts for so many seconds."""

_TAKE = """
local now = redis.call('TIME')
local at = now[1] * 1000000 + now[2]
local interval, burst, limit = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local next_at = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), at)
if next_at > at + interval * burst then next_at = at end
local early = next_at - interval * (burst - 1) - at
if early > 0 then return {0, math.ceil(early / 1000000), 0} end
local counted = tonumber(redis.call('GET', KEYS[2]) or '0')
if counted >= limit then return {1, 0, counted} end
next_at = next_at + interval
redis.call('SET', KEYS[1], string.format('%.0f', next_at), 'PX', math.ceil((next_at - at) / 1000))
redis.call('INCR', KEYS[2])
if counted == 0 then redis.call('EXPIRE', KEYS[2], 172800) end
return {2, 0, counted + 1}
"""
_RATE, _DAY, _TAKEN = 0, 1, 2
_RAISE = """
local lacking = tonumber(ARGV[1]) - tonumber(redis.call('GET', KEYS[1]) or '0')
if lacking > 0 then redis.call('INCRBY', KEYS[1], lacking) end
"""


@dataclass(frozen=True)
class Limits:
    """The limits of a key, with the policy's defaults where the key has none of its own."""

    rate_per_minute: int
    requests_a_day: int
    usd_a_day: Decimal

    @classmethod
    def of(cls, key: AccessKey, policy: AccessPolicy | None = None) -> "Limits":
        """The limits of a key."""
        defaults = (policy or access_policy()).defaults
        return cls(
            defaults.rate_per_minute if key.rate_per_minute is None else key.rate_per_minute,
            defaults.requests_a_day if key.requests_a_day is None else key.requests_a_day,
            defaults.usd_a_day if key.usd_a_day is None else key.usd_a_day,
        )


@dataclass(frozen=True)
class Exceeded:
    """The limit that a request exceeds. `retry_seconds` is when to try again, at least 1."""

    what: Literal["rate", "requests_a_day"]
    retry_seconds: int


class Limiter:
    """Counts requests of keys. Safe to share between threads; every call may wait for a server."""

    def __init__(self, store: Store, client: "redis.Redis", namespace: str) -> None:
        self._store = store
        self._redis = client
        self._script = client.register_script(_TAKE)
        self._raise = client.register_script(_RAISE)
        self._prefix = f"{namespace}:access"
        self._away_until = 0.0
        self._noted: dict[UUID, float] = {}

    def take(self, key_id: UUID, limits: Limits, at: datetime) -> Exceeded | None:
        """Count a request; returns the limit that it exceeds, or None if it is allowed."""
        if time.monotonic() >= self._away_until:
            try:
                return self._in_redis(key_id, limits, at)
            except (redis.RedisError, OSError) as error:
                self._away_until = time.monotonic() + AWAY_SECONDS
                log.warning("limits_without_redis", error=type(error).__name__)
        return self._in_postgresql(key_id, limits, at)

    def _in_redis(self, key_id: UUID, limits: Limits, at: datetime) -> Exceeded | None:
        day_key = f"{self._prefix}:{{{key_id}}}:{keys.day_of(at)}"
        interval = 60_000_000 / limits.rate_per_minute
        outcome, seconds, counted = cast(
            list[int],
            self._script(
                keys=[f"{self._prefix}:{{{key_id}}}:rate", day_key],
                args=[interval, limits.rate_per_minute, limits.requests_a_day],
            ),
        )
        if outcome == _RATE:
            return Exceeded("rate", max(1, seconds))
        if outcome == _DAY:
            return Exceeded("requests_a_day", until_midnight(at))
        known = self._note(key_id, counted, at)
        if known > counted:  # Redis lost some, or PostgreSQL counted while Redis was away
            self._raise(keys=[day_key], args=[known])  # another gateway may have done so just now
            if known > limits.requests_a_day:
                return Exceeded("requests_a_day", until_midnight(at))
        return None

    def _note(self, key_id: UUID, counted: int, at: datetime) -> int:
        """Write the use to PostgreSQL now and then; returns the known number of requests today."""
        due = self._noted.get(key_id, 0.0)
        if counted > 1 and time.monotonic() < due:
            return counted
        self._noted[key_id] = time.monotonic() + access_policy().keys.noted_seconds
        with Session(self._store.engine) as session:
            known = keys.note_use(session, key_id, at, counted=counted)
            session.commit()
        # A higher count that PostgreSQL alone has does not include the current request.
        return known + 1 if known > counted else counted

    def _in_postgresql(self, key_id: UUID, limits: Limits, at: datetime) -> Exceeded | None:
        buckets = RateLimits(self._store.engine)
        per_second = limits.rate_per_minute / 60
        wait = buckets.reserve(f"key:{key_id}", per_second, limits.rate_per_minute, at, longest=0.0)
        if wait > 0:
            return Exceeded("rate", max(1, math.ceil(wait)))
        with Session(self._store.engine) as session:
            counted = keys.count_use(session, key_id, at)
            if counted > limits.requests_a_day:
                return Exceeded("requests_a_day", until_midnight(at))
            session.commit()
        return None


def until_midnight(at: datetime) -> int:
    """Seconds until the day (UTC) ends."""
    midnight = datetime.combine(keys.day_of(at) + timedelta(days=1), datetime.min.time(), UTC)
    return max(1, math.ceil((midnight - at).total_seconds()))


def midnight_before(at: datetime) -> datetime:
    """The moment when the day (UTC) began."""
    return datetime.combine(keys.day_of(at), datetime.min.time(), UTC)
