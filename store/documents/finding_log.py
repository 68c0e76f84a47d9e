"""Queries over the findings: which records do not hold, newest first."""

from typing import Literal

from sqlmodel import Session, col, select

from store.core.paging import Page, page_by_number
from store.documents.findings import Kind
from store.models import Finding


def query(
    session: Session,
    *,
    source: str | None = None,
    kind: Kind | None = None,
    status: Literal["open", "resolved", "all"] = "open",
    cursor: str | None = None,
    limit: int = 100,
) -> Page[Finding]:
    """Findings that match all filters given, newest first.

    Args:
        cursor: `next_cursor` of the page before.

    Raises:
        InvalidCursor: `cursor` was not given out by this function.
    """
    chosen = select(Finding)
    if source is not None:
        chosen = chosen.where(Finding.source == source)
    if kind is not None:
        chosen = chosen.where(Finding.kind == kind)
    if status == "open":
        chosen = chosen.where(col(Finding.resolved_at).is_(None))
    elif status == "resolved":
        chosen = chosen.where(col(Finding.resolved_at).is_not(None))
    return page_by_number(session, chosen, col(Finding.id), cursor=cursor, limit=limit)
