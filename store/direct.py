"""Sessions whose plain SQL goes to psycopg straight away.

For each execution SQLAlchemy looks its statement up, binds its values and describes its columns
anew: as much work as psycopg has with sending it and reading the rows. A question makes some fifty
such statements, so here that is done once for each. Mapped classes and `select()` go the usual way,
on the same connection and in the same transaction.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NoReturn, cast

import psycopg
import sqlalchemy as sa
from psycopg.pq import ExecStatus
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.engine.result import IteratorResult, SimpleResultMetaData
from sqlmodel import Session

_REMEMBERED = 2048
"""More than there are statements: some are put together of fragments."""
_DIALECT: sa.Dialect = PGDialect_psycopg()  # type: ignore[no-untyped-call]


class DirectSession(Session):
    """A session of SQLModel that does not compile, bind and describe plain SQL each time."""

    def execute(self, statement: Any, params: Any = None, **options: Any) -> sa.Result[Any]:
        """See `sqlalchemy.orm.Session.execute`.

        Raises:
            sqlalchemy.exc.DBAPIError: as there.
        """
        is_plain = isinstance(params, Mapping | None) and not options
        written = _as_sent(statement) if is_plain else None
        if written is None:
            return cast(sa.Result[Any], super().execute(statement, params, **options))
        connection = self.connection()
        sent = cast("psycopg.Connection[Any]", connection.connection.driver_connection)
        try:
            cursor = sent.execute(written, params or {})  # with none at all "%%" would stay
            found = cursor.pgresult
            has_rows = found is not None and found.status == ExecStatus.TUPLES_OK
            names = tuple(map(found.fname, range(found.nfields))) if found and has_rows else ()
            rows = cursor.fetchall() if has_rows else []
        except psycopg.Error as error:
            _raise_as_usual(connection, written, params, error)
        return IteratorResult(_columns(names), iter(rows))


def _as_sent(statement: Any) -> str | None:
    """Its SQL with psycopg's placeholders; None where SQLAlchemy has a part in it or its values."""
    if not isinstance(statement, sa.TextClause):
        return None
    binds = statement._bindparams.values()
    if any(one.type is not sa.types.NULLTYPE or not one.required or one.expanding for one in binds):
        return None
    return _compiled(statement.text)


@lru_cache(_REMEMBERED)
def _compiled(text: str) -> str:
    return str(sa.text(text).compile(dialect=_DIALECT))


@lru_cache(_REMEMBERED)
def _columns(names: tuple[bytes, ...]) -> SimpleResultMetaData:
    return SimpleResultMetaData([one.decode() for one in names])


def _raise_as_usual(
    connection: sa.Connection, written: str, params: Any, error: psycopg.Error
) -> NoReturn:
    """Raise what SQLAlchemy would; a connection that is lost is given up, as it does."""
    lost = connection.dialect.is_disconnect(
        cast(Any, error), connection.connection.dbapi_connection, None
    )
    told = sa.exc.DBAPIError.instance(
        written,
        params,
        error,
        psycopg.Error,
        hide_parameters=connection.engine.hide_parameters,
        connection_invalidated=lost,
        dialect=connection.dialect,
    )
    if lost:
        connection.invalidate(error)
    raise told from error
