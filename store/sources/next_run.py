"""Foresees when a watch is refreshed next. Pure: no clock, no database.

`scheduler.plan` decides what is due; this repeats its decision for those who may not import it. A
test checks that the two agree.
"""

import hashlib
from datetime import UTC, datetime, timedelta
from uuid import UUID

RISK_SHARE = 4
SHORTEST_GAP = timedelta(minutes=5)
STRAY = timedelta(hours=1)
"""All three as in `scheduler.plan`."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def next_run(
    watch_id: UUID,
    every: timedelta,
    at: datetime,
    *,
    created_at: datetime,
    requested_at: datetime | None,
    cursor_at: datetime | None,
    retry_at: datetime | None,
    failed_at: datetime | None,
    deadline: datetime | None,
    sla: timedelta | None,
    under_way: bool,
) -> datetime:
    """The first moment from `at` on at which the watch is due; `at` itself if it is due already.

    While a refresh is under way, this is the slot after it. The arguments are those of
    `scheduler.plan.Followed`.
    """
    if under_way:
        return _slot_after(watch_id, every, at)
    if retry_at is not None:
        return at if failed_at and failed_at > at + STRAY else max(at, retry_at)
    if requested_at is None and cursor_at is None:
        return at if created_at > at + STRAY else max(at, created_at)
    moments = (moment for moment in (requested_at, cursor_at) if moment and moment <= at + STRAY)
    asked_at = max(moments, default=_EPOCH)
    following = max(at, _slot_after(watch_id, every, asked_at))
    if deadline is None or sla is None:
        return following
    soonest = asked_at + max(SHORTEST_GAP, every / RISK_SHARE)
    return min(following, max(at, soonest, deadline - sla / RISK_SHARE))


def _slot_after(watch_id: UUID, every: timedelta, moment: datetime) -> datetime:
    """The first slot of the watch's grid after `moment`; its phase is a hash of the id."""
    digest = hashlib.sha256(watch_id.bytes).digest()
    phase = (int.from_bytes(digest[:8]) % (every // _MICROSECOND)) * _MICROSECOND
    return _EPOCH + phase + ((moment - _EPOCH - phase) // every + 1) * every
