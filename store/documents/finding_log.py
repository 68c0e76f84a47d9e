"""Queries over the findings: which records do not hold, newest first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sqlmodel import Session, col, select

from store.core.cursors import pack, unpack
from store.documents.findings import Kind
from store.models import Finding


@dataclass(frozen=True)
class Findings:
    """A page of findings, newest first, and the cursor of the next one."""

    findings: Sequence[Finding]
    next_cursor: str | None


def query(
    session: Session,
    *,
    source: str | None = None,
    kind: Kind | None = None,
    status: Literal["open", "resolved", "all"] = "open",
    cursor: str | None = None,
    limit: int = 100,
) -> Findings:
    """Findings that match all filters given, newest first.

    Args:
        cursor: `next_cursor` of the page before.

    Raises:
        InvalidCursor: `cursor` was not given out by this function.
    """
    chosen = select(Finding).order_by(col(Finding.id).desc()).limit(limit + 1)
    if source is not None:
        chosen = chosen.where(Finding.source == source)
    if kind is not None:
        chosen = chosen.where(Finding.kind == kind)
    if status == "open":
        chosen = chosen.where(col(Finding.resolved_at).is_(None))
    elif status == "resolved":
        chosen = chosen.where(col(Finding.resolved_at).is_not(None))
    if cursor is not None:
        chosen = chosen.where(col(Finding.id) < unpack(cursor, [int])[0])
    rows = list(session.exec(chosen))
    page = rows[:limit]
    return Findings(page, pack([page[-1].id]) if len(rows) > limit else None)
