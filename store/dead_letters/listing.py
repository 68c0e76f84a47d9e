"""Lists dead letters, one by one or grouped by fault. Nothing here contains words of texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session, col, select

from store.core.cursors import InvalidCursor, pack, unpack
from store.models import DeadLetter
from store.models.operators import DeadLetterResolution


@dataclass(frozen=True)
class Chosen:
    """A filter for dead letters: all conditions that are set must hold.

    Args:
        since: died at or after this moment.
        until: died before this moment.
    """

    status: str | None = "open"
    stage: str | None = None
    fingerprint: str | None = None
    error_type: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    words: str | None = None
    """In its cause, the name of its error, its fingerprint, or what it worked for."""

    def conditions(self) -> list[sa.ColumnElement[bool]]:
        """The filter as SQL conditions on `dead_letter`."""
        same = {
            "status": self.status,
            "stage": self.stage,
            "fingerprint": self.fingerprint,
            "error_type": self.error_type,
        }
        conditions: list[sa.ColumnElement[bool]] = [
            getattr(DeadLetter, name) == value for name, value in same.items() if value is not None
        ]
        if self.since is not None:
            conditions.append(col(DeadLetter.died_at) >= self.since)
        if self.until is not None:
            conditions.append(col(DeadLetter.died_at) < self.until)
        if self.words is not None:
            told = (DeadLetter.cause, DeadLetter.error_type, DeadLetter.fingerprint)
            places = [col(one) for one in (*told, DeadLetter.subject)]
            found = (one.icontains(self.words, autoescape=True) for one in places)
            conditions.append(sa.or_(*found))
        return conditions


@dataclass(frozen=True)
class Letters:
    """A page of dead letters, newest first, and the cursor of the next page."""

    letters: Sequence[DeadLetter]
    next_cursor: str | None


@dataclass(frozen=True)
class Group:
    """Dead letters of one fault. `cause` and `example` are those of the newest letter."""

    fingerprint: str
    stage: str
    error_type: str
    cause: str
    example: UUID
    letters: int
    open: int
    replayed: int
    discarded: int
    first_seen: datetime
    last_seen: datetime
    code_versions: list[str]


@dataclass(frozen=True)
class Groups:
    """A page of groups, the most recently seen first, and the cursor of the next page."""

    groups: Sequence[Group]
    next_cursor: str | None


def _before(cursor: str) -> tuple[datetime, str]:
    """The time and the id in a cursor.

    Raises:
        InvalidCursor: the cursor holds anything else.
    """
    at, last = unpack(cursor, [str, str])
    try:
        moment = datetime.fromisoformat(str(at))
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None or "\x00" in str(last):
        raise InvalidCursor("use the next_cursor of the page before, unchanged")
    return moment, str(last)


def page(
    session: Session, chosen: Chosen | None = None, *, cursor: str | None = None, limit: int = 100
) -> Letters:
    """A page of the chosen dead letters, newest first.

    Raises:
        InvalidCursor: `cursor` is not the `next_cursor` of a page before.
    """
    query = (
        select(DeadLetter)
        .where(*(chosen or Chosen()).conditions())
        .order_by(col(DeadLetter.died_at).desc(), col(DeadLetter.id).desc())
        .limit(limit + 1)
    )
    if cursor is not None:
        at, last = _before(cursor)
        try:
            key = (at, UUID(last))
        except ValueError:
            raise InvalidCursor("use the next_cursor of the page before, unchanged") from None
        query = query.where(sa.tuple_(col(DeadLetter.died_at), col(DeadLetter.id)) < key)
    rows = list(session.exec(query))
    shown = rows[:limit]
    more = len(rows) > limit
    return Letters(
        shown, pack([shown[-1].died_at.isoformat(), str(shown[-1].id)]) if more else None
    )


def oldest_ids(
    session: Session, chosen: Chosen, *, after: tuple[datetime, UUID] | None, limit: int
) -> list[tuple[datetime, UUID]]:
    """Time of death and id of the chosen dead letters after `after`, oldest first."""
    died, key = col(DeadLetter.died_at), col(DeadLetter.id)
    query = sa.select(died, key).where(*chosen.conditions()).order_by(died, key).limit(limit)
    if after is not None:
        query = query.where(sa.tuple_(died, key) > after)
    return [(row.died_at, row.id) for row in session.execute(query)]


def count(session: Session, chosen: Chosen) -> int:
    """The number of chosen dead letters."""
    query = sa.select(sa.func.count()).select_from(DeadLetter).where(*chosen.conditions())
    return int(session.execute(query).scalar_one())


def groups(
    session: Session, chosen: Chosen | None = None, *, cursor: str | None = None, limit: int = 100
) -> Groups:
    """The chosen dead letters by fingerprint: what failed, how often, from when to when.

    Raises:
        InvalidCursor: `cursor` is not the `next_cursor` of a page before.
    """
    died, status = col(DeadLetter.died_at), col(DeadLetter.status)
    newest_first = (died.desc(), col(DeadLetter.id).desc())

    def newest(column: Any) -> Any:
        ordered = sa.dialects.postgresql.aggregate_order_by(column, *newest_first)
        return sa.func.array_agg(ordered)[1]

    def of(value: str) -> Any:
        return sa.func.count().filter(status == value)

    mark = col(DeadLetter.fingerprint)
    last_seen = sa.func.max(died)
    query = (
        sa.select(
            mark,
            newest(col(DeadLetter.stage)).label("stage"),
            newest(col(DeadLetter.error_type)).label("error_type"),
            newest(col(DeadLetter.cause)).label("cause"),
            newest(col(DeadLetter.id)).label("example"),
            sa.func.count().label("letters"),
            of("open").label("open"),
            of("replayed").label("replayed"),
            of("discarded").label("discarded"),
            sa.func.min(col(DeadLetter.first_failed_at)).label("first_seen"),
            last_seen.label("last_seen"),
            sa.func.array_agg(sa.distinct(col(DeadLetter.code_version))).label("code_versions"),
        )
        .where(*(chosen or Chosen()).conditions())
        .group_by(mark)
        .order_by(last_seen.desc(), mark.desc())
        .limit(limit + 1)
    )
    if cursor is not None:
        query = query.having(sa.tuple_(last_seen, mark) < _before(cursor))
    rows = [Group(**row._mapping) for row in session.execute(query)]
    shown = rows[:limit]
    more = len(rows) > limit
    return Groups(
        shown, pack([shown[-1].last_seen.isoformat(), shown[-1].fingerprint]) if more else None
    )


def resolution(session: Session, letter_id: UUID) -> DeadLetterResolution | None:
    """Who resolved a dead letter, how and why; None while it is open."""
    return session.get(DeadLetterResolution, letter_id)
