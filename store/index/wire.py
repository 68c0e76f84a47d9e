"""Sends the statements of a search as a pipeline, without waiting for each result.

A search sends PostgreSQL six to nine statements. Waiting for each costs as much as the work itself,
and so does SQLAlchemy's overhead (ADR 0015).
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import psycopg
import sqlalchemy as sa
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


class Link:
    """A connection that reads another server, lent by a pool whose transactions read one snapshot
    (`store.core.database.connect`). What is asked between `begin` and `rest` is one pipeline in one
    snapshot, without BEGIN and COMMIT: PostgreSQL ends a transaction where a pipeline is awaited
    (manual, "Pipeline Mode")."""

    def __init__(self, engine: sa.Engine) -> None:
        self.engine = engine
        self.info: dict[str, Any] = {}
        """What is known of the server, as a session has it."""
        self._lent = engine.raw_connection()
        self._driver = cast(psycopg.Connection[Any], self._lent.driver_connection)
        self._driver.autocommit = True
        self._pipeline: AbstractContextManager[object] | None = None

    def begin(self) -> None:
        """Begin a snapshot, unless one is being read."""
        if self._pipeline is None:
            pipeline = self._driver.pipeline()
            pipeline.__enter__()
            self._pipeline, self.info[_DRIVER] = pipeline, self._driver

    def rest(self) -> None:
        """End the snapshot; whatever was asked can be read from its cursors without waiting."""
        pipeline, self._pipeline = self._pipeline, None
        self.info.clear()
        if pipeline is not None:
            pipeline.__exit__(None, None, None)

    def close(self) -> None:
        """Give the connection back."""
        self.rest()
        self._driver.autocommit = False
        self._lent.close()

    def drop(self) -> None:
        """Close the connection, which is broken."""
        self._lent.invalidate()


Reader = Session | Link
"""What a server is asked through: the first one by a session, a partition by a link."""
_DRIVER = "driver"


@contextmanager
def together(session: Session) -> Iterator[None]:
    """Send statements in a pipeline, without waiting; reading a result waits for all statements
    sent so far. Only `ask` may use the session's connection inside."""
    driver = _connection(session)
    with driver.pipeline():
        session.info[_DRIVER] = driver
        try:
            yield
        finally:
            del session.info[_DRIVER]


def ask(
    reader: Reader,
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
    driver: psycopg.Connection[Any] = reader.info.get(_DRIVER) or _connection(reader)
    cursor = driver.cursor(binary=True)
    # Else planned for its own values: a generic plan would suit no filter in particular.
    return cursor.execute(statement, parameters, prepare=None if plans_once else False)


def ids_of(rows: Sequence[tuple[Any, ...]]) -> "NDArray[np.int64]":
    """The first column of these rows, (n,)."""
    import numpy as np

    return np.fromiter((row[0] for row in rows), np.int64, len(rows))


def engine_of(reader: Reader) -> sa.Engine:
    """The engine whose server is asked."""
    return reader.engine if isinstance(reader, Link) else reader.connection().engine


def _connection(reader: Reader) -> psycopg.Connection[tuple[Any, ...]]:
    if isinstance(reader, Link):
        reader.begin()
        return cast(psycopg.Connection[tuple[Any, ...]], reader.info[_DRIVER])
    connection = reader.connection().connection.driver_connection
    assert connection is not None
    return cast(psycopg.Connection[tuple[Any, ...]], connection)
