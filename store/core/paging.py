"""Pages of rows in the order of a time, and of an id where times are equal."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session, col
from sqlmodel.sql.expression import SelectOfScalar

from store.core.cursors import pack, position


class _Dated(Protocol):
    id: Any
    created_at: Any


R = TypeVar("R", bound=_Dated)


@dataclass(frozen=True)
class Page(Generic[R]):
    """A page of rows, and the cursor of the next one; None on the last."""

    rows: Sequence[R]
    next_cursor: str | None


def page_of(
    session: Session,
    query: SelectOfScalar[R],
    model: type[R],
    *,
    cursor: str | None,
    limit: int,
    oldest_first: bool = False,
) -> Page[R]:
    """The page of `query` behind `cursor`, by `created_at`; newest first, if not said otherwise.

    Raises:
        InvalidCursor: `cursor` was not given out by such a listing.
    """
    created, key = col(model.created_at), col(model.id)
    order = created if oldest_first else created.desc()
    query = query.order_by(order, key).limit(limit + 1)
    if cursor is not None:
        at, last = position(cursor)
        query = query.where(_behind(created, key, at, last, oldest_first=oldest_first))
    rows = list(session.exec(query))
    shown = rows[:limit]
    if len(rows) <= limit:
        return Page(shown, None)
    return Page(shown, pack([shown[-1].created_at.isoformat(), str(shown[-1].id)]))


def _behind(
    created: Any, key: Any, at: datetime, last: UUID, *, oldest_first: bool
) -> sa.ColumnElement[bool]:
    later = created > at if oldest_first else created < at
    return sa.or_(later, sa.and_(created == at, key > last))
