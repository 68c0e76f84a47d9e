"""Queries of the audit chain, in the order in which events were committed."""

from datetime import datetime

from sqlmodel import Session, col, select

from store.core.paging import Page, page_by_number
from store.models import AuditEvent


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
) -> Page[AuditEvent]:
    """A page of the events that match all filters, newest first.

    Args:
        since: at or after this moment.
        until: before this moment.
        cursor: `next_cursor` of the previous page.

    Raises:
        InvalidCursor: `cursor` was not issued by this function.
    """
    chosen = select(AuditEvent)
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
    return page_by_number(session, chosen, col(AuditEvent.seq), cursor=cursor, limit=limit)
