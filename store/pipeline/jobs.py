"""What stages worked on, for operators who look for one piece of work."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlmodel import Session, col, select

from store.core.cursors import pack, unpack
from store.models import StageRun


@dataclass(frozen=True)
class Jobs:
    """A page of jobs, the newest first, and the cursor of the next page."""

    runs: Sequence[StageRun]
    next_cursor: str | None


def listing(
    session: Session,
    *,
    stage: str | None = None,
    status: str | None = None,
    subject: str | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Jobs:
    """The pieces of work of stages that fit.

    Args:
        subject: what was worked on, such as the id of a question.

    Raises:
        InvalidCursor: `cursor` was not given out by this listing.
    """
    wanted = {"stage": stage, "status": status, "subject": subject}
    query = select(StageRun).order_by(col(StageRun.id).desc()).limit(limit + 1)
    query = query.where(
        *(getattr(StageRun, name) == value for name, value in wanted.items() if value is not None)
    )
    if cursor is not None:
        query = query.where(col(StageRun.id) < unpack(cursor, [int])[0])
    rows = list(session.exec(query))
    shown = rows[:limit]
    return Jobs(shown, pack([shown[-1].id]) if len(rows) > limit else None)
