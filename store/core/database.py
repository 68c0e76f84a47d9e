"""The connection to PostgreSQL, and the errors that pass by themselves."""

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
"""Connection lost, resources used up, operator intervention (shutdowns), system error: there."""

RESTED_SECONDS = 0.05
"""A connection that rested longer than this is asked whether it still stands before it is used: no
server is killed and back within it (within 0.25 s an embedded one is). Asked each time, that is a
tenth of all that a question asks."""
CHECK_SECONDS = 3.0
"""Ours: within which it must have said so. It has nothing to do for that but to say it."""
CONNECT_SECONDS = 10
PREPARED_STATEMENTS = 400
"""More than all stages have; psycopg's own limit of 100 would let a mixed worker forget and learn
them again all the time."""

ENDED_THERE = 0.8
"""Ours: of the time for an answer; after it a server that is alive ends the statement itself."""

IDLE_IN_TRANSACTION_SECONDS = 60.0
"""A process that is frozen in the middle of a commit holds locks that everybody waits for, the
head of the audit chain among them: the server ends its transaction after this long."""

_CUTS = {
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
"""A server whose host is gone is noticed in about a minute: by the first three where we wait for
it, by the last where it has not even got what we sent, which takes a quarter of an hour else. The
URL may say otherwise."""


class _Pool(sa.QueuePool):
    """Closes also what is given back after the pool was disposed of (a thread at its last commit);
    SQLAlchemy's own keeps it open until the garbage collector finds it."""

    _disposed = False

    def dispose(self) -> None:
        self._disposed = True
        super().dispose()

    def _do_return_conn(self, record: sa.pool.ConnectionPoolEntry) -> None:
        super()._do_return_conn(record)
        if self._disposed:
            super().dispose()


class NoAddress(ValueError):
    """What was set is no database's URL. It is not repeated: a password may stand in it."""


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
) -> sa.Engine:
    """An engine for `url`; connections that rested are checked, so a restart is survived.

    Accepts `postgresql://` as well and means psycopg by it. Statements are prepared once they came
    five times (psycopg's own rule), and planned for their values each time: what is best for ten
    ids is not for ten thousand.

    Args:
        plans_once: for those who ask for a row or some, never for thousands: a plan is kept where
            PostgreSQL expects nothing of another (PostgreSQL manual, PREPARE, "Notes"). Planning
            is a quarter of its work for a question. A search is planned for its values in any case
            (`store.index.wire`).
        answer_seconds: for those behind whom somebody waits: a server that says nothing for so long
            is given up (`store.core.postgres_watchdog`). One that is alive ends its statement a
            little sooner, so that nothing stays at work for nobody. Else only connecting, and
            asking a connection that rested, have an end.

    Raises:
        NoAddress: it is no URL of a PostgreSQL database.
    """
    parsed = _parsed(url)
    connect_seconds = CONNECT_SECONDS if answer_seconds is None else int(answer_seconds / 2)
    server_side = {"idle_in_transaction_session_timeout": int(idle_in_transaction_seconds * 1000)}
    if answer_seconds is not None:
        server_side["statement_timeout"] = int(answer_seconds * ENDED_THERE * 1000)
    limits = " ".join(f"-c {name}={ms}" for name, ms in server_side.items())
    plans = "" if plans_once else "-c plan_cache_mode=force_custom_plan "
    own_options = parsed.query.get("options", "")
    engine = sa.create_engine(
        parsed.set(drivername="postgresql+psycopg"),
        poolclass=_Pool,
        pool_size=pool_size,
        max_overflow=pool_size,
        pool_use_lifo=True,  # the one that was used last has its statements and its backend warm
        json_deserializer=read_json,  # a question reads hundreds of JSON values
        hide_parameters=True,  # parameters are texts of documents and questions (invariant 11)
        connect_args={
            "connect_timeout": connect_seconds,
            "application_name": "attest",
            "options": f"{own_options} {plans}{limits}".strip(),
            **{name: value for name, value in _CUTS.items() if name not in parsed.query},
        },
    )
    door = Door()

    def opened(_: object, __: object, args: list[Any], named: dict[str, Any]) -> Impatient:
        connection = door.open(lambda: Impatient.connect(*args, **named), connect_seconds)
        connection.answer_seconds = answer_seconds
        return connection

    sa.event.listen(engine, "do_connect", opened)
    sa.event.listen(engine, "connect", _connected)
    sa.event.listen(engine, "checkin", _rests)
    sa.event.listen(engine, "checkout", _check)
    return engine


def read_json(written: bytes) -> Any:
    """What PostgreSQL wrote, in half the time that the standard library takes for it."""
    try:
        return from_json(written)
    except ValueError:  # nested deeper than it goes; what nobody here writes, but a queue may hold
        return json.loads(written)


def _connected(connection: psycopg.Connection[Any], _: object) -> None:
    wire.register(connection)
    connection.prepared_max = PREPARED_STATEMENTS


def _rests(_: object, record: sa.pool.ConnectionPoolEntry) -> None:
    record.info["rests_since"] = time.monotonic()


def _check(connection: Impatient, record: sa.pool.ConnectionPoolEntry, _: object) -> None:
    """Ask a connection that rested whether it stands; else the pool makes all of them anew."""
    since = record.info.get("rests_since")
    if since is None or time.monotonic() - since < RESTED_SECONDS:
        return
    try:
        connection.asks(CHECK_SECONDS)
    except psycopg.Error as error:
        raise sa.exc.InvalidatePoolError from error


def passes_by_itself(error: BaseException) -> bool:
    """Whether trying again later can help: the server was away, busy, or two writers met."""
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
    """Whether PostgreSQL refused because there is no room left for what it has to write."""
    return getattr(getattr(error, "orig", error), "sqlstate", None) == DISK_FULL


def _passes(sqlstate: str | None, *, lost: bool) -> bool:
    if sqlstate is None:
        return lost
    return sqlstate in PASSING_SQLSTATES or sqlstate[:2] in PASSING_CLASSES
