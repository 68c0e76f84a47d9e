"""The connection to PostgreSQL, and which of its errors are transient."""

import json
import time
from typing import Any

import psycopg
import sqlalchemy as sa
from pydantic_core import from_json
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from store.core.postgres_watchdog import Door, Impatient
from store.index import wire

DISK_FULL = "53100"
PASSING_SQLSTATES = frozenset({"25P03", "40001", "40P01", "55P03", "57014"})
"""Idle in transaction, serialization failure, deadlock, lock or statement time-out: PostgreSQL
manual, appendix A."""
PASSING_CLASSES = frozenset({"08", "53", "57", "58"})
"""Connection lost, resources used up, operator intervention (shutdowns), system error: the same
appendix."""

RESTED_SECONDS = 0.05
"""A connection idle for longer than this is tested before it is used. No server is killed and back
within this time (an embedded one is within 0.25 s). Tested each time, that would be a tenth of all
statements of a question."""
CHECK_SECONDS = 3.0
"""Our limit for the answer to that test, which makes no work for the server."""
CONNECT_SECONDS = 10
PREPARED_STATEMENTS = 400
"""More than all stages have. With psycopg's default limit of 100, a worker of several stages would
drop statements and prepare them again all the time."""

ENDED_THERE = 0.8
"""The part of `answer_seconds` after which a server that is alive ends the statement. Ours."""

IDLE_IN_TRANSACTION_SECONDS = 60.0
"""After this time the server ends an idle transaction. A process that is frozen in the middle of a
commit holds locks that all others wait for, such as the head of the audit chain."""

_READS_SNAPSHOTS = (
    r" -c default_transaction_isolation=repeatable\ read -c default_transaction_read_only=on"
)

_CUTS = {
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
"""These detect in about a minute that the server's host is gone: the first three while waiting for
an answer, the last while sent data is not acknowledged, which else takes a quarter of an hour."""


class _Pool(sa.QueuePool):
    """Also closes connections that are returned after the pool was disposed of (by a thread at its
    last commit). SQLAlchemy's pool keeps them open until the garbage collector finds them."""

    _disposed = False

    def dispose(self) -> None:
        self._disposed = True
        super().dispose()

    def _do_return_conn(self, record: sa.pool.ConnectionPoolEntry) -> None:
        super()._do_return_conn(record)
        if self._disposed:
            super().dispose()


class NoAddress(ValueError):
    """The setting is not a database URL. It is not repeated, as it may contain a password."""


def _parsed(url: str) -> sa.URL:
    try:
        parsed = sa.make_url(url)
    except (ArgumentError, ValueError):
        parsed = None
    if parsed is None or parsed.drivername not in ("postgresql", "postgresql+psycopg"):
        raise NoAddress("ATTEST_DATABASE_URL is no address such as postgresql://user@host/attest")
    return parsed


def connect(
    url: str,
    *,
    pool_size: int = 5,
    idle_in_transaction_seconds: float = IDLE_IN_TRANSACTION_SECONDS,
    answer_seconds: float | None = None,
    plans_once: bool = False,
    snapshots: bool = False,
) -> sa.Engine:
    """An engine for `url`; idle connections are tested before use, so it survives a restart.

    Accepts `postgresql://` as well and uses psycopg for it. Statements are prepared after five
    executions (psycopg's default), and planned for their values each time: the best plan for ten
    ids is not the best for ten thousand. The URL's own time limits take precedence. If it names
    several hosts and `target_session_attrs=read-write`, each is tried in turn: who was promoted is
    found.

    Args:
        plans_once: for callers that ask for a few rows, never for thousands: PostgreSQL may keep a
            generic plan where it expects no gain from another (PostgreSQL manual, PREPARE,
            "Notes"). Planning is a quarter of its work for a question. A search is planned for its
            values in any case (`store.index.wire`).
        answer_seconds: for callers that somebody waits for: a server that does not respond for
            this time is given up (`store.core.postgres_watchdog`). A live server ends the statement
            a little sooner, so that it does not work for nobody. None: only connecting and the test
            of an idle connection have a time limit.
        snapshots: for callers that only read, and can ask again (`store.index.partitions`): every
            transaction reads one snapshot, whether BEGIN began it or not, and an idle connection
            is not tested before use.

    Raises:
        NoAddress: `url` is not the URL of a PostgreSQL database.
    """
    parsed = _parsed(url)
    connect_seconds = CONNECT_SECONDS if answer_seconds is None else int(answer_seconds / 2)
    server_side = {"idle_in_transaction_session_timeout": int(idle_in_transaction_seconds * 1000)}
    if answer_seconds is not None:
        server_side["statement_timeout"] = int(answer_seconds * ENDED_THERE * 1000)
    limits = " ".join(f"-c {name}={ms}" for name, ms in server_side.items())
    limits += _READS_SNAPSHOTS if snapshots else ""
    plans = "" if plans_once else "-c plan_cache_mode=force_custom_plan "
    own_options = parsed.query.get("options", "")
    ours = {"connect_timeout": connect_seconds, "application_name": "attest", **_CUTS}
    engine = sa.create_engine(
        parsed.set(drivername="postgresql+psycopg"),
        poolclass=_Pool,
        pool_size=pool_size,
        max_overflow=pool_size,
        pool_use_lifo=True,  # the last used has prepared statements and a warm backend
        json_deserializer=read_json,  # a question reads hundreds of JSON values
        hide_parameters=True,  # parameters are texts of documents and questions (invariant 11)
        connect_args={
            "options": f"{own_options} {plans}{limits}".strip(),
            **{name: value for name, value in ours.items() if name not in parsed.query},
        },
    )
    door = Door()

    def opened(_: object, __: object, args: list[Any], named: dict[str, Any]) -> Impatient:
        connection = door.open(lambda: Impatient.connect(*args, **named), connect_seconds)
        connection.answer_seconds = answer_seconds
        return connection

    sa.event.listen(engine, "do_connect", opened)
    sa.event.listen(engine, "connect", _connected)
    if not snapshots:
        sa.event.listen(engine, "checkin", _rests)
        sa.event.listen(engine, "checkout", _check)
    return engine


def read_json(written: bytes) -> Any:
    """Parse JSON from PostgreSQL, in half the time that the standard library takes."""
    try:
        return from_json(written)
    except ValueError:  # nested too deeply: nobody here writes that, but a queue may hold it
        return json.loads(written)


def _connected(connection: psycopg.Connection[Any], _: object) -> None:
    wire.register(connection)
    connection.prepared_max = PREPARED_STATEMENTS


def _rests(_: object, record: sa.pool.ConnectionPoolEntry) -> None:
    record.info["rests_since"] = time.monotonic()


def _check(connection: Impatient, record: sa.pool.ConnectionPoolEntry, _: object) -> None:
    """Test an idle connection; if it is lost, the pool replaces all its connections."""
    since = record.info.get("rests_since")
    if since is None or time.monotonic() - since < RESTED_SECONDS:
        return
    try:
        connection.asks(CHECK_SECONDS)
    except psycopg.Error as error:
        raise sa.exc.InvalidatePoolError from error


def passes_by_itself(error: BaseException) -> bool:
    """True if a retry can help: the server was away or busy, or two writers met."""
    if isinstance(error, (InterfaceError, PoolTimeout, psycopg.InterfaceError)):
        return True
    if isinstance(error, DBAPIError):
        if error.connection_invalidated:
            return True
        sqlstate = getattr(error.orig, "sqlstate", None)
        return _passes(sqlstate, lost=isinstance(error, OperationalError))
    if isinstance(error, psycopg.Error):  # from a cursor of our own, as COPY needs one
        return _passes(error.sqlstate, lost=isinstance(error, psycopg.OperationalError))
    return False


def is_disk_full(error: BaseException) -> bool:
    """True if PostgreSQL refused because the disk is full."""
    return getattr(getattr(error, "orig", error), "sqlstate", None) == DISK_FULL


def _passes(sqlstate: str | None, *, lost: bool) -> bool:
    if sqlstate is None:
        return lost
    return sqlstate in PASSING_SQLSTATES or sqlstate[:2] in PASSING_CLASSES
