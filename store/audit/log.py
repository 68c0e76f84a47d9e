"""Queries of the audit chain, in the order in which events were committed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session, col, select

from store.core.cursors import pack, unpack
from store.models import AuditEvent


@dataclass(frozen=True)
class Events:
    """A page of events, newest first, and the cursor of the next page."""

    events: Sequence[AuditEvent]
    next_cursor: str | None


def query(
    session: Session,
    *,
    subject: str | None = None,
    event: str | None = None,
    actor: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    cursor: str | None = None,
    limit: int = 100,
) -> Events:
    """A page of the events that match all filters, newest first.

    Args:
        since: at or after this moment.
        until: before this moment.
        cursor: `next_cursor` of the previous page.

    Raises:
        InvalidCursor: `cursor` was not issued by this function.
    """
    chosen = select(AuditEvent).order_by(col(AuditEvent.seq).desc()).limit(limit + 1)
    if subject is not None:
        chosen = chosen.where(AuditEvent.subject == subject)
    if event is not None:
        chosen = chosen.where(AuditEvent.event == event)
    if actor is not None:
        chosen = chosen.where(AuditEvent.actor == actor)
    if since is not None:
        chosen = chosen.where(AuditEvent.at >= since)
    if until is not None:
        chosen = chosen.where(AuditEvent.at < until)
    if cursor is not None:
        chosen = chosen.where(col(AuditEvent.seq) < unpack(cursor, [int])[0])
    rows = list(session.exec(chosen))
    page = rows[:limit]
    return Events(page, pack([page[-1].seq]) if len(rows) > limit else None)
