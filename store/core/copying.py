"""Bulk writes by PostgreSQL's binary COPY, which takes half the work of an INSERT, on both sides.

Fields are written in the binary form that PostgreSQL's types read (its manual, "COPY", and the
`*_recv` function of each type).
"""

import os
import struct
import time
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from uuid import UUID

from sqlmodel import Session

_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_INT4, _INT8 = struct.Struct("!i").pack, struct.Struct("!q").pack


def copy_rows(
    session: Session, table: str, columns: Sequence[str], rows: Sequence[Sequence[object]]
) -> None:
    """Write `rows` to `table`; each row has one field per entry of `columns`.

    A field is a string for a text column, a Decimal for a numeric one, bytes for any other
    (`jsonb`, `timestamptz`, `int4`, `int8`, `UUID.bytes`), or None. Raises psycopg.Error if
    PostgreSQL refuses a row.
    """
    connection = session.connection().connection.driver_connection
    assert connection is not None
    statement = f"COPY {table} ({', '.join(columns)}) FROM STDIN (FORMAT BINARY)"
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)


def jsonb(written: bytes) -> bytes:
    """A field of type jsonb from its JSON in UTF-8."""
    return b"\x01" + written


@lru_cache(maxsize=4096)
def timestamptz(moment: datetime) -> bytes:
    """A field of type timestamptz from a `moment` with a time zone."""
    return _INT8((moment - _EPOCH) // _MICROSECOND)


def int4(number: int) -> bytes:
    """A field of type integer."""
    return _INT4(number)


def int8(number: int) -> bytes:
    """A field of type bigint."""
    return _INT8(number)


def uuid_array(ids: Collection[UUID]) -> str:
    """The ids as a parameter to be cast to `uuid[]`: psycopg takes five times as long for a
    list."""
    return f"{{{','.join([uuid.hex for uuid in ids])}}}"


def text_array(texts: Collection[str]) -> str:
    """The texts as a parameter to be cast to `varchar[]`, for long lists of short texts."""
    if any('"' in text or "\\" in text for text in texts):
        texts = [text.replace("\\", "\\\\").replace('"', '\\"') for text in texts]
    written = '","'.join(texts)
    return f'{{"{written}"}}' if texts else "{}"


def ordered_uuid() -> UUID:
    """A new id that sorts by the time it was made (RFC 9562, version 7). The rows of one batch are
    neighbours in every index; random ids would touch one page each."""
    milliseconds = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10))
    return UUID(
        int=milliseconds << 80
        | 0x7 << 76
        | (random >> 68) << 64
        | 0x2 << 62
        | random & (1 << 62) - 1
    )
