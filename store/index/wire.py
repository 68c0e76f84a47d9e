"""Sends the statements of a search as a pipeline, without waiting for each result.

A search sends PostgreSQL six to nine statements. Waiting for each costs as much as the work itself,
and so does SQLAlchemy's overhead (ADR 0015).
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import Dumper
from psycopg.pq import Format
from sqlmodel import Session

if TYPE_CHECKING:  # each connection registers the dumpers, and few processes send vectors
    import numpy as np
    from numpy.typing import NDArray

_BIGINT, _BIGINTS = 20, 1016  # PostgreSQL, pg_type.dat: the oids of bigint and its array
_ELEMENT = [("size", ">i4"), ("value", ">i8")]


@dataclass(frozen=True, eq=False)
class Ids:
    """Ids to send as one `bigint[]`, (n,); thousands take no longer than copying their bytes."""

    values: "NDArray[np.int64]"


class _IdsDumper(Dumper):
    format = Format.BINARY
    oid = _BIGINTS

    def dump(self, obj: Ids) -> Buffer:
        """Encode the ids for PostgreSQL's array_recv."""
        import numpy as np

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

    vector: "NDArray[np.float32]"


class _HalfDumper(Dumper):
    format = Format.BINARY  # without oid: that of an extension's type differs by database

    def dump(self, obj: Half) -> Buffer:
        """Encode the vector for pgvector's halfvec_recv."""
        import numpy as np

        return np.array([len(obj.vector), 0], ">u2").tobytes() + obj.vector.astype(">f2").tobytes()


def register(connection: psycopg.Connection[Any]) -> None:
    """Register the dumpers on a connection; `store.core.database.connect` does so for each."""
    connection.adapters.register_dumper(Ids, _IdsDumper)
    connection.adapters.register_dumper(Half, _HalfDumper)


@contextmanager
def together(session: Session) -> Iterator[None]:
    """Send statements in a pipeline, without waiting; reading a result waits for all statements
    sent so far. Only `ask` may use the session's connection inside."""
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
        plans_once: prepare it, for look-ups by id, whose plan does not depend on the ids.

    Raises:
        psycopg.Error: at once, or inside `together` when a result is read.
    """
    cursor = _connection(session).cursor(binary=True)
    # Else planned for its own values: a generic plan would suit no filter in particular.
    return cursor.execute(statement, parameters, prepare=None if plans_once else False)


def ids_of(rows: Sequence[tuple[Any, ...]]) -> "NDArray[np.int64]":
    """The first column of these rows, (n,)."""
    import numpy as np

    return np.fromiter((row[0] for row in rows), np.int64, len(rows))


def _connection(session: Session) -> psycopg.Connection[tuple[Any, ...]]:
    connection = session.connection().connection.driver_connection
    assert connection is not None
    return cast(psycopg.Connection[tuple[Any, ...]], connection)
