"""Decides which watches are due, and in which order. Pure: no clock, no database.

Each watch has a grid of slots, one an interval, shifted by its own phase, so that watches do not
fire together. Slots missed while no scheduler ran coalesce into the last one. A due watch is a tick
(job, fire time) that follows from stored rows alone: two schedulers that see the same rows name the
same tick, and the database accepts it once.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal
from uuid import UUID

from knowledge.feeds.sources import connector_policy, connector_sla_hours
from store.models import Watch
from store.sources import freshness

MAX_ACTIVE = 8
"""Our choice: refreshes in progress at a time. More would only wait for the same ingest workers,
and after a long downtime all sources would be asked at once."""
RISK_SHARE = 4
"""Our choice: a watch is at risk in the last quarter of its SLA, and is then refreshed four times
as often, but never sooner than `SHORTEST_GAP` after its last request."""
SHORTEST_GAP = timedelta(minutes=5)
STRAY = timedelta(hours=1)
"""Our choice: far more than the clocks of one installation differ, far less than an SLA."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST = datetime.max.replace(tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True)
class Followed:
    """The facts of an active watch that the plan needs."""

    watch_id: UUID
    source: str
    every: timedelta
    """The interval between refreshes (`refresh_hours`)."""
    created_at: datetime
    sla: timedelta | None = None
    deadline: datetime | None = None
    """When the watch breaches its SLA (`freshness.deadline`); None if it has none."""
    requested_at: datetime | None = None
    """When a refresh was last requested, by anybody."""
    cursor_at: datetime | None = None
    """When the last complete refresh began."""
    retry_at: datetime | None = None
    """When the next try is due after a failed refresh; None if the last did not fail."""
    failed_at: datetime | None = None
    failures: int = 0
    """The number of failures in a row."""
    under_way: bool = False


def followed(watch: Watch, requested_at: datetime | None, *, under_way: bool) -> Followed:
    """The facts of a watch of a known source; `requested_at`: see `Followed`."""
    sla_hours = connector_sla_hours(watch.source)
    return Followed(
        watch.id,
        watch.source,
        every=timedelta(hours=connector_policy(watch.source).refresh_hours),
        created_at=watch.created_at,
        sla=None if sla_hours is None else timedelta(hours=sla_hours),
        deadline=freshness.deadline(watch),
        requested_at=requested_at,
        cursor_at=watch.cursor_at,
        retry_at=watch.retry_at,
        failed_at=watch.last_error_at,
        failures=watch.failures,
        under_way=under_way,
    )


@dataclass(frozen=True)
class Due:
    """A watch to refresh now. `job` and `fire_at` are its tick, which can be taken once."""

    watch_id: UUID
    source: str
    job: str
    fire_at: datetime
    reason: Literal["schedule", "retry"]
    deadline: datetime | None
    failures: int = 0


def has_strayed(moment: datetime | None, at: datetime) -> bool:
    """Whether `moment` is so far ahead of `at` that a wrong clock must have written it.

    Such a time delays nothing; and a refresh at a wrong time is not repeated, because its tick is
    taken.
    """
    return moment is not None and moment > at + STRAY


def last_slot(watch_id: UUID, every: timedelta, at: datetime) -> datetime:
    """The latest slot of the watch's grid that is not after `at`.

    The phase is a hash of the id: equal in every process, and uniform over the interval.
    """
    digest = hashlib.sha256(watch_id.bytes).digest()
    phase = (int.from_bytes(digest[:8]) % (every // _MICROSECOND)) * _MICROSECOND
    return _EPOCH + phase + ((at - _EPOCH - phase) // every) * every


def due(watch: Followed, at: datetime) -> Due | None:
    """The tick for which the watch should be refreshed at `at`; None if it should not be."""
    if watch.under_way:
        return None
    if watch.retry_at is not None:
        now = watch.retry_at <= at or has_strayed(watch.failed_at, at)
        return _tick(watch, "retry", watch.retry_at) if now else None
    if watch.requested_at is None and watch.cursor_at is None:
        now = watch.created_at <= at or has_strayed(watch.created_at, at)
        return _tick(watch, "first", watch.created_at) if now else None
    slot = last_slot(watch.watch_id, watch.every, at)
    if _asked_at(watch, at) < slot:
        return _tick(watch, "refresh", slot)
    fire_at = _at_risk(watch, at)
    return _tick(watch, "risk", fire_at) if fire_at is not None and fire_at <= at else None


def next_run(watch: Followed, at: datetime) -> datetime:
    """The first moment from `at` on at which the watch is due; `at` itself if it is due already.
    While a refresh is under way, this is the slot after it."""
    if due(watch, at) is not None:
        return at
    if watch.under_way:
        return last_slot(watch.watch_id, watch.every, at) + watch.every
    if watch.retry_at is not None:
        return watch.retry_at
    if watch.requested_at is None and watch.cursor_at is None:
        return watch.created_at
    following = last_slot(watch.watch_id, watch.every, _asked_at(watch, at)) + watch.every
    return min(following, _at_risk(watch, at) or following)


def _asked_at(watch: Followed, at: datetime) -> datetime:
    moments = (watch.requested_at, watch.cursor_at)
    return max(
        (moment for moment in moments if moment and not has_strayed(moment, at)), default=_EPOCH
    )


def _at_risk(watch: Followed, at: datetime) -> datetime | None:
    """When an extra tick between slots is due, if a deadline is near and the last refresh did not
    move it."""
    if watch.deadline is None or watch.sla is None:
        return None
    soonest = _asked_at(watch, at) + max(SHORTEST_GAP, watch.every / RISK_SHARE)
    return max(soonest, watch.deadline - watch.sla / RISK_SHARE)


def _tick(watch: Followed, kind: Literal["first", "retry", "refresh", "risk"], at: datetime) -> Due:
    return Due(
        watch.watch_id,
        watch.source,
        job=f"{kind}:{watch.watch_id}",
        fire_at=at,
        reason="retry" if kind == "retry" else "schedule",
        deadline=watch.deadline,
        failures=watch.failures,
    )


def choose(
    found: Iterable[Due],
    *,
    resting: Collection[str] = (),
    on_trial: Collection[str] = (),
    under_way: Mapping[str, int] | None = None,
) -> list[Due]:
    """The due watches to refresh now, nearest deadline first.

    Args:
        found: due watches whose ticks are not taken.
        resting: sources that must not be asked now.
        on_trial: degraded sources whose pause is over: one refresh at a time shows whether they
            have recovered. It is of the watch with the fewest failures: one that always fails has
            the oldest deadline, and would keep the source degraded for the others.
        under_way: refreshes in progress by source; with the chosen ones at most `MAX_ACTIVE`.
    """
    busy = dict(under_way or {})
    room = MAX_ACTIVE - sum(busy.values())
    chosen: list[Due] = []
    by_urgency = sorted(found, key=_urgency)
    trials: dict[str, Due] = {}
    for tick in sorted(by_urgency, key=lambda due: due.failures):
        trials.setdefault(tick.source, tick)
    for tick in by_urgency:
        if len(chosen) >= room:
            break
        if tick.source in resting:
            continue
        if tick.source in on_trial and (busy.get(tick.source) or tick is not trials[tick.source]):
            continue
        busy[tick.source] = busy.get(tick.source, 0) + 1
        chosen.append(tick)
    return chosen


def _urgency(one: Due) -> tuple[datetime, datetime, UUID]:
    return one.deadline or _LAST, one.fire_at, one.watch_id
