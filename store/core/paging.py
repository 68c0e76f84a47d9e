"""Pages of rows: by a time, and an id where times are equal; or by a number that grows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import sqlalchemy as sa
from sqlmodel import Session
from sqlmodel.sql.expression import SelectOfScalar

from store.core.cursors import pack, position, unpack

R = TypeVar("R")


@dataclass(frozen=True)
class Page(Generic[R]):
    """A page of rows, and the cursor of the next one; None on the last."""

    rows: Sequence[R]
    next_cursor: str | None


def page_of(
    session: Session,
    query: SelectOfScalar[R],
    at: Any,
    key: Any,
    *,
    cursor: str | None,
    limit: int,
    oldest_first: bool = False,
) -> Page[R]:
    """The page of `query` behind `cursor`, by the columns `at`, a time, and `key`, an id where
    times are equal; newest first, if not said otherwise.

    Raises:
        InvalidCursor: `cursor` was not given out by such a listing.
    """
    query = query.order_by(at if oldest_first else at.desc(), key)
    if cursor is not None:
        moment, last = position(cursor)
        later = at > moment if oldest_first else at < moment
        query = query.where(sa.or_(later, sa.and_(at == moment, key > last)))
    rows, more = _read(session, query, limit)
    if not more:
        return Page(rows, None)
    end = rows[-1]
    return Page(rows, pack([getattr(end, at.key).isoformat(), str(getattr(end, key.key))]))


def page_by_number(
    session: Session, query: SelectOfScalar[R], number: Any, *, cursor: str | None, limit: int
) -> Page[R]:
    """The page of `query` behind `cursor`, by a column of growing numbers; newest first.

    Raises:
        InvalidCursor: `cursor` was not given out by such a listing.
    """
    query = query.order_by(number.desc())
    if cursor is not None:
        query = query.where(number < unpack(cursor, [int])[0])
    rows, more = _read(session, query, limit)
    return Page(rows, pack([getattr(rows[-1], number.key)]) if more else None)


def _read(session: Session, query: SelectOfScalar[R], limit: int) -> tuple[list[R], bool]:
    """Up to `limit` rows, and whether there are more."""
    rows = list(session.exec(query.limit(limit + 1)))
    return rows[:limit], len(rows) > limit
