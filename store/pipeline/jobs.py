"""What stages worked on, for operators who look for one piece of work."""

from sqlmodel import Session, col, select

from store.core.paging import Page, page_by_number
from store.models import StageRun


def listing(
    session: Session,
    *,
    stage: str | None = None,
    status: str | None = None,
    subject: str | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Page[StageRun]:
    """The pieces of work of stages that fit, the newest first.

    Args:
        subject: what was worked on, such as the id of a question.

    Raises:
        InvalidCursor: `cursor` was not given out by this listing.
    """
    wanted = {"stage": stage, "status": status, "subject": subject}
    query = select(StageRun).where(
        *(getattr(StageRun, name) == value for name, value in wanted.items() if value is not None)
    )
    return page_by_number(session, query, col(StageRun.id), cursor=cursor, limit=limit)
