"""Streams the stored chain in windows of sequence numbers, in constant memory.

Rows are read by binary COPY (PostgreSQL manual, "COPY"): reading them through SQLAlchemy takes
three times as long.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from struct import Struct
from typing import Any, NamedTuple

import sqlalchemy as sa
from pydantic_core import from_json
from sqlmodel import Session

from store.audit.links import canonical, link_of

_INT8 = Struct("!q").unpack
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_LEAST = -(2**63)  # of a bigint: an event inserted before the first must be found too


class StoredLink(NamedTuple):
    """A stored link. `written` is its canonical JSON; None if it has none, because it holds a value
    that this code never writes (such as a time outside the calendar)."""

    seq: int
    written: str | None
    previous_hash: bytes
    hash: bytes


def stored_links(
    session: Session, first: int | None = None, last: int | None = None, *, page: int = 5000
) -> Iterator[StoredLink]:
    """The links by sequence number, from `first` to `last`, both included.

    A number that is in the table twice (a copy may have lost its primary key) is yielded twice.
    """
    start = _next(session, _LEAST if first is None else first, last)
    while start is not None:
        end = start + page - 1 if last is None else min(start + page - 1, last)
        rows = _window(session, start, end)
        yield from map(_link, rows)
        start = end + 1 if len(rows) == page else _next(session, end + 1, last)


def _next(session: Session, first: int, last: int | None) -> int | None:
    """The smallest existing number from `first` to `last`; None if there is none."""
    query = sa.text("SELECT min(seq) FROM audit_event WHERE seq >= :first AND seq <= :last")
    bounds = {"first": first, "last": 2**63 - 1 if last is None else last}
    smallest: int | None = session.execute(query, bounds).scalar_one()
    return smallest


def _window(session: Session, start: int, end: int) -> list[tuple[Any, ...]]:
    connection = session.connection().connection.driver_connection
    assert connection is not None
    statement = (  # both are integers of our own, and COPY takes no parameters
        "COPY (SELECT seq, at, actor, event, subject, request_id, payload, "  # noqa: S608
        "previous_hash, hash "
        f"FROM audit_event WHERE seq BETWEEN {int(start)} AND {int(end)} ORDER BY seq) "
        "TO STDOUT (FORMAT BINARY)"
    )
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        return list(copy.rows())


def _link(row: tuple[Any, ...]) -> StoredLink:
    seq, at, actor, event, subject, request_id, payload, previous_hash, link_hash = row
    number = _INT8(seq)[0]
    try:
        written = link_of(
            number,
            _moment(at),
            actor.decode(),
            event.decode(),
            subject.decode(),
            _uuid(request_id) if request_id else None,
            canonical(from_json(payload[1:])),  # after the version byte of jsonb
        )
    except (OverflowError, ValueError):
        written = None
    return StoredLink(number, written, bytes(previous_hash), bytes(link_hash))


@lru_cache(maxsize=4096)  # the events of one transaction share their time
def _moment(at: bytes) -> str:
    moment = _EPOCH + timedelta(microseconds=_INT8(at)[0])
    return moment.isoformat(timespec="microseconds")


def _uuid(raw: bytes) -> str:
    digits = raw.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
