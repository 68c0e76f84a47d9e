"""Refreshes: from the request to the moment when everything fetched is stored.

    queued → fetching (one message a page) → storing (its packets are being read) → complete
                                                                                 ↘ failed

Only a complete refresh moves the watch's cursor, in the transaction that stores its last packet
(WIRE 0: "commit after the last page"). A failed one leaves it, so the next begins where the last
complete one began and nothing is missed. Storing the same record twice changes nothing.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID, uuid4

import sqlalchemy as sa
from sqlmodel import Session, col, select

from knowledge.feeds.sources import connector_policy
from messages import RefreshV1
from store.core.plurals import counted
from store.core.unit_of_work import UnitOfWork
from store.documents import identifier_merges, publication_status
from store.models import Refresh, Watch
from store.sources import freshness, watches

Reason = Literal["schedule", "retry", "user", "abstention"]
ACTIVE = ("queued", "fetching", "storing")
CHANNEL = "attest_refresh"
"""NOTIFY channel; the payload is the id of the refresh that ended."""

FIRST_RETRY_SECONDS = 300.0
"""Our choice: five minutes, doubled with each failure."""
LAST_RETRY_SECONDS = 3600.0
"""Our choice: a source that comes back is asked within the hour, whatever was before."""


def request(
    work: UnitOfWork, watch: Watch, reason: Reason, at: datetime, request_id: UUID | None = None
) -> Refresh:
    """Promise a refresh of `watch`; returns the one under way if there is one."""
    made = None
    while made is None:
        made = _insert(work.session, watch.id, reason, at)
        under_way = None if made else active(work.session, watch.id)
        if under_way is not None:  # else it ended between the two statements
            return under_way
    work.emit(
        RefreshV1(request_id=request_id or work.request_id or uuid4(), refresh_id=made, step=0)
    )
    work.record("refresh.requested", made, watch_id=str(watch.id), reason=reason)
    return work.session.get_one(Refresh, made)


def _insert(session: Session, watch_id: UUID, reason: Reason, at: datetime) -> UUID | None:
    """Insert a new refresh and return its id; None if one is under way."""
    made: UUID | None = session.execute(
        sa.text(
            """
            INSERT INTO refresh (id, watch_id, reason, status, step, restarts, rechecked, marks,
                                 looked, payloads, records, fresh, problems, requested_at)
            VALUES (:id, :watch, :reason, 'queued', 0, 0, '[]', '{}', true, 0, 0, 0, 0, :at)
            ON CONFLICT (watch_id) WHERE status IN ('queued', 'fetching', 'storing') DO NOTHING
            RETURNING id
            """
        ),
        {"id": uuid4(), "watch": watch_id, "reason": reason, "at": at},
    ).scalar_one_or_none()
    return made


def active(session: Session, watch_id: UUID) -> Refresh | None:
    """The refresh of the watch that is under way, if there is one."""
    rows = select(Refresh).where(col(Refresh.watch_id) == watch_id, col(Refresh.status).in_(ACTIVE))
    return session.exec(rows).one_or_none()


def awaits(refresh: Refresh, step: int) -> bool:
    """True if this step is the next one of the refresh."""
    return refresh.status in ("queued", "fetching") and refresh.step == step


def locked(session: Session, refresh_id: UUID) -> Refresh | None:
    """The refresh, locked until the transaction ends.

    FOR NO KEY UPDATE: the foreign keys of two items of one refresh must not deadlock on it.
    """
    return session.get(
        Refresh, refresh_id, with_for_update={"key_share": True}, populate_existing=True
    )


def _locked_watch(session: Session, refresh: Refresh) -> Watch:
    """The refresh's watch, locked after the refresh itself."""
    return session.get_one(
        Watch, refresh.watch_id, with_for_update={"key_share": True}, populate_existing=True
    )


def begin(work: UnitOfWork, refresh: Refresh, watch: Watch, started_at: datetime) -> None:
    """Start the first step: `started_at` and `since` are fixed from now on."""
    refresh.status, refresh.started_at = "fetching", started_at
    refresh.since = since(watch)
    work.session.add(refresh)


def since(watch: Watch) -> datetime | None:
    """Where a refresh of the watch begins: the start of the last complete one, less the overlap."""
    if watch.cursor_at is None:
        return None
    return watch.cursor_at - timedelta(hours=connector_policy(watch.source).overlap_hours)


def advance(
    work: UnitOfWork,
    refresh: Refresh,
    *,
    continuation: Mapping[str, Any] | None,
    payloads: int,
    request_id: UUID,
) -> None:
    """Record that one page is stored; `continuation` None means it was the last one."""
    refresh.step += 1
    refresh.payloads += payloads
    refresh.continuation = None if continuation is None else dict(continuation)
    refresh.status = "storing" if continuation is None else "fetching"
    work.session.add(refresh)
    if continuation is not None:
        work.emit(RefreshV1(request_id=request_id, refresh_id=refresh.id, step=refresh.step))


def restart(work: UnitOfWork, refresh: Refresh, request_id: UUID) -> None:
    """Begin the listing again: the source has forgotten our place in it."""
    refresh.restarts += 1
    advance(work, refresh, continuation={}, payloads=0, request_id=request_id)
    refresh.continuation = None


def finish_if_stored(work: UnitOfWork, refresh: Refresh, at: datetime) -> None:
    """Complete (or fail) a refresh whose pages are all fetched and read. Hold its lock."""
    if refresh.status != "storing":
        return
    items = work.session.execute(
        sa.text(
            "SELECT count(*) FILTER (WHERE status = 'pending') AS pending, "
            "count(*) FILTER (WHERE status = 'failed') AS failed, "
            "min(error) FILTER (WHERE status = 'failed') AS error "
            "FROM ingest_item WHERE refresh_id = :id"
        ),
        {"id": refresh.id},
    ).one()
    if items.pending:
        return
    if items.failed:
        error = f"{counted(items.failed, 'answer')} could not be read: {items.error}"
        fail(work, refresh, error, at, kind="Unreadable")
        return
    watch = _locked_watch(work.session, refresh)
    refresh.status, refresh.finished_at = "complete", at
    if refresh.looked:
        assert refresh.started_at is not None, "a refresh that stores has begun"
        freshness.met(work, watch, refresh.started_at, at)
        watch.cursor_at = refresh.started_at
        watch.marks = refresh.marks or watch.marks
        _account_for_missing(work, refresh, watch, at)
    watch.failures, watch.retry_at, watch.last_error = 0, None, None
    if not refresh.looked:  # it has not failed, but grows old all the same
        watch.last_error, watch.last_error_at = freshness.SHOWED_TOO_LITTLE, at
    work.session.add_all([refresh, watch])
    work.record(
        "refresh.complete",
        refresh.id,
        watch_id=str(watch.id),
        payloads=refresh.payloads,
        records=refresh.records,
        fresh=refresh.fresh,
        problems=refresh.problems,
    )
    work.notify(CHANNEL, refresh.id)


def _account_for_missing(work: UnitOfWork, refresh: Refresh, watch: Watch, at: datetime) -> None:
    if not refresh.rechecked or refresh.started_at is None:
        return
    lost = watches.account_for(work.session, watch.id, refresh.rechecked, refresh.started_at, at)
    if lost:
        renamed = identifier_merges.successors(work.session, lost)
        identifier_merges.supersede(work, renamed)
        removed = [document_id for document_id in lost if document_id not in renamed]
        if removed:
            publication_status.remove(work, watch.source, removed, at)


def fail(
    work: UnitOfWork,
    refresh: Refresh,
    error: str,
    at: datetime,
    *,
    kind: str = "Unfinished",
    wait_seconds: float | None = None,
    asked: bool = True,
) -> None:
    """End the refresh without moving the cursor, and set when the next try is due.

    Args:
        error: one line for operators, without keys or words of a document. It may repeat the query,
            which holds words of a question if an abstention asked.
        kind: what the audit log records instead.
        wait_seconds: how long the source asked to be left alone.
        asked: False if the source was not asked, so that this is no failure of the watch.
    """
    if refresh.status not in ACTIVE:
        return
    watch = _locked_watch(work.session, refresh)
    refresh.status, refresh.error, refresh.finished_at = "failed", error, at
    refresh.continuation = None
    watch.failures += asked
    watch.last_error, watch.last_error_at = error, at
    watch.retry_at = at + timedelta(seconds=max(wait_seconds or 0.0, _back_off(watch)))
    work.session.add_all([refresh, watch])
    work.record("refresh.failed", refresh.id, watch_id=str(watch.id), kind=kind)
    work.notify(CHANNEL, refresh.id)


def _back_off(watch: Watch) -> float:
    """Seconds until the next try: doubled with each failure, and spread by the watch's id, so that
    watches that failed together do not come back together."""
    spread = 0.75 + (watch.id.int % 1000) / 2000
    wait = FIRST_RETRY_SECONDS * 2.0 ** min(watch.failures - 1, 16)
    return float(min(LAST_RETRY_SECONDS, wait * spread))
