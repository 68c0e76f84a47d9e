"""Service levels of watches: how old each may be, since when it has been older, and why."""

from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlmodel import Session

from knowledge.feeds.sources import connector_sla_hours
from store.core.unit_of_work import UnitOfWork
from store.models import Watch

SHOWED_TOO_LITTLE = "the source answered, but did not show all that is followed"


def deadline(watch: Watch) -> datetime | None:
    """When the watch breaches its SLA unless it is refreshed before; None if it has no SLA."""
    since = max(watch.cursor_at or watch.followed_at, watch.followed_at)
    return _deadline_from(watch, since)


def met(work: UnitOfWork, watch: Watch, started_at: datetime, at: datetime) -> None:
    """Record a complete refresh at `at`, as of `started_at`: end the watch's breach, and record one
    that was not noticed meanwhile. Call this before the cursor moves."""
    notice_breach(work, watch, at)
    ends = _deadline_from(watch, started_at)
    if ends is not None and at <= ends:
        closed = work.session.execute(
            sa.text(
                "UPDATE sla_breach SET ended_at = greatest(:at, began_at) WHERE watch_id = :watch "
                "AND ended_at IS NULL RETURNING began_at"
            ),
            {"at": at, "watch": watch.id},
        ).one_or_none()
        if closed is not None:
            work.record("sla.restored", watch.id, began_at=closed.began_at.isoformat())


def _deadline_from(watch: Watch, cursor_at: datetime) -> datetime | None:
    hours = connector_sla_hours(watch.source)
    return None if hours is None else cursor_at + timedelta(hours=hours)


def notice_breach(work: UnitOfWork, watch: Watch, at: datetime) -> bool:
    """Open a breach if the watch is past its deadline at `at` and none is open; True if opened."""
    ends = deadline(watch)
    if ends is None or at <= ends or not watch.active:
        return False
    source_error = _said(work.session, watch)
    cause = source_error or _undone(work.session, watch, ends)
    opened = work.session.execute(
        sa.text(
            "INSERT INTO sla_breach (watch_id, began_at, cause) VALUES (:watch, :began, :cause) "
            "ON CONFLICT DO NOTHING RETURNING id"
        ),
        {"watch": watch.id, "began": ends, "cause": cause},
    ).one_or_none()
    if opened is not None:
        # A source's error may repeat its query, and the query the words of a question.
        audit_cause = cause if source_error in (None, SHOWED_TOO_LITTLE) else "the source failed"
        work.record("sla.breached", watch.id, began_at=ends.isoformat(), cause=audit_cause)
    return opened is not None


def _said(session: Session, watch: Watch) -> str | None:
    """The last error of the source, if it failed."""
    if watch.last_error:
        return watch.last_error
    reason: str | None = session.execute(
        sa.text("SELECT reason FROM source_state WHERE source = :s AND status = 'degraded'"),
        {"s": watch.source},
    ).scalar_one_or_none()
    return reason or None


def _undone(session: Session, watch: Watch, late_from: datetime) -> str:
    """What was not done on our side, so that the watch is late."""
    last = session.execute(
        sa.text(
            "SELECT status, looked FROM refresh WHERE watch_id = :w AND requested_at <= :late "
            "ORDER BY requested_at DESC LIMIT 1"
        ),
        {"w": watch.id, "late": late_from},
    ).one_or_none()
    if last is not None and last.status in ("queued", "fetching", "storing"):
        return f"the refresh under way is still {last.status}: workers were down or slow"
    if last is not None and last.status == "complete" and not last.looked:
        return SHOWED_TOO_LITTLE
    return "no refresh was begun in time: the scheduler was down"
