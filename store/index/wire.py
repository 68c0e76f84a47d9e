"""Statements of a search, several sent at once, and others while one is worked on.

A search asks PostgreSQL six to nine times. Sent one by one, each with its own wait, that costs as
much as the work itself; SQLAlchemy's part of it likewise (ADR 0015).
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg.abc import Buffer
from psycopg.adapt import Dumper
from psycopg.pq import Format
from sqlmodel import Session

_BIGINT, _BIGINTS = 20, 1016  # PostgreSQL, pg_type.dat: the oids of bigint and its array
_ELEMENT = np.dtype([("size", ">i4"), ("value", ">i8")])


@dataclass(frozen=True, eq=False)
class Ids:
    """Ids to send as one `bigint[]`, (n,): thousands of them as fast as their bytes are copied."""

    values: NDArray[np.int64]


class _IdsDumper(Dumper):
    format = Format.BINARY
    oid = _BIGINTS

    def dump(self, obj: Ids) -> Buffer:
        """As PostgreSQL's array_recv reads it."""
        count = len(obj.values)
        if not count:
            return np.array([0, 0, _BIGINT], ">i4").tobytes()
        elements = np.empty(count, _ELEMENT)
        elements["size"] = 8
        elements["value"] = obj.values
        return np.array([1, 0, _BIGINT, count, 1], ">i4").tobytes() + elements.tobytes()


@dataclass(frozen=True, eq=False)
class Half:
    """A vector to send in half precision, (d,); the statement casts it to `halfvec`."""

    vector: NDArray[np.float32]


class _HalfDumper(Dumper):
    format = Format.BINARY  # and no oid: that of an extension's type differs by database

    def dump(self, obj: Half) -> Buffer:
        """As pgvector's halfvec_recv reads it."""
        return np.array([len(obj.vector), 0], ">u2").tobytes() + obj.vector.astype(">f2").tobytes()


def register(connection: psycopg.Connection[Any]) -> None:
    """Teach a connection what is sent here; `store.core.database.connect` does so with each."""
    connection.adapters.register_dumper(Ids, _IdsDumper)
    connection.adapters.register_dumper(Half, _HalfDumper)


@contextmanager
def together(session: Session) -> Iterator[None]:
    """Inside, what is asked is sent without waiting; reading an answer waits for all that was
    asked so far. Only `ask` may use the session's connection meanwhile."""
    with _connection(session).pipeline():
        yield


def ask(
    session: Session,
    statement: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    plans_once: bool = False,
) -> psycopg.Cursor[tuple[Any, ...]]:
    """Send a statement; its rows are read from the cursor, in binary (`fetchall`, `fetchone`).

    Args:
        statement: SQL with placeholders as `%(name)s`; never text from outside.
        plans_once: for rows by their ids, which are found in one way whatever these are.

    Raises:
        psycopg.Error: at once, or inside `together` when an answer is read.
    """
    cursor = _connection(session).cursor(binary=True)
    # Else planned for its own values: a plan for any filter would be one for none in particular.
    return cursor.execute(statement, parameters, prepare=None if plans_once else False)


def ids_of(rows: Sequence[tuple[Any, ...]]) -> NDArray[np.int64]:
    """The first column of these rows, (n,)."""
    return np.fromiter((row[0] for row in rows), np.int64, len(rows))


def _connection(session: Session) -> psycopg.Connection[tuple[Any, ...]]:
    connection = session.connection().connection.driver_connection
    assert connection is not None
    return cast(psycopg.Connection[tuple[Any, ...]], connection)
