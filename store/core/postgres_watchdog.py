"""Time limits for a PostgreSQL that hangs: it keeps its connections open and does not respond.

Nothing else ends a wait for it: its host answers keepalives, and its own time-outs stand still with
it. So callers that cannot wait for ever give up and close the connection. The server may still
execute what it was sent once it goes on, a COMMIT too.
"""

import time
from collections.abc import Callable
from threading import Lock
from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.errors import ConnectionTimeout, _WaitTimeout
from psycopg.pq import TransactionStatus

RV = TypeVar("RV")
REST_SECONDS = 2.0
"""Our interval between attempts to connect to a server that did not respond."""


class Silent(psycopg.OperationalError):
    """The server has not responded in time."""


class Impatient(psycopg.Connection[Any]):
    """A connection that is closed when its server does not respond for `answer_seconds`; None: it
    waits without limit, as for the statements of an import."""

    answer_seconds: float | None = None

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        """See `psycopg.Connection.wait`, through which every exchange with the server goes.

        Raises:
            Silent: the server did not respond in time.
        """
        limit = self.answer_seconds if timeout is None else timeout
        try:
            return super().wait(gen, interval=interval, timeout=limit)
        except _WaitTimeout as error:
            if timeout is not None:  # set by psycopg, which handles it itself
                raise
            self.pgconn.finish()
            raise Silent("the server hangs: it says nothing") from error

    @property
    def _rests(self) -> bool:
        """True if no transaction is open. psycopg would then do nothing, but take as long to find
        that out as for a short statement."""
        return self._pipeline is None and self.pgconn.transaction_status == TransactionStatus.IDLE

    def commit(self) -> None:
        """See `psycopg.Connection.commit`."""
        if not self._rests:
            super().commit()

    def rollback(self) -> None:
        """See `psycopg.Connection.rollback`."""
        if not self._rests:
            super().rollback()

    def set_autocommit(self, value: bool) -> None:
        """See `psycopg.Connection.set_autocommit`."""
        if self._rests:
            self._autocommit = value
        else:
            super().set_autocommit(value)

    def asks(self, seconds: float) -> None:
        """Send an empty statement to test the connection.

        Raises:
            Silent: the server did not respond within `seconds`.
            psycopg.Error: the connection is lost.
        """
        usual, self.answer_seconds = self.answer_seconds, seconds
        try:
            self.autocommit = True
            self.execute("")
            self.autocommit = False
        finally:
            self.answer_seconds = usual


class Door:
    """Opens connections. While the server does not respond to attempts to connect, one caller at a
    time waits for it and the others are refused at once; else every thread of the process would
    wait for a time-out of its own. Safe to share between threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._silent = False
        self._next_try = 0.0

    def open(self, connect: Callable[[], Impatient], longest_seconds: float) -> Impatient:
        """Connect.

        Args:
            longest_seconds: the time limit for connecting.

        Raises:
            Silent: the server did not respond lately, or does not now.
            psycopg.Error: the server refuses, or is away.
        """
        with self._lock:
            if self._silent:
                if self._clock() < self._next_try:
                    raise Silent("the server hangs: it said nothing lately")
                self._next_try = self._clock() + longest_seconds + REST_SECONDS
        try:
            connection = connect()
        except ConnectionTimeout as error:
            self._heard(silent=True)
            raise Silent("the server hangs: it lets nobody in") from error
        except psycopg.Error:
            self._heard(silent=False)
            raise
        self._heard(silent=False)
        return connection

    def _heard(self, *, silent: bool) -> None:
        with self._lock:
            self._silent, self._next_try = silent, self._clock() + REST_SECONDS


def is_silent(error: BaseException) -> bool:
    """True if the error is that the server does not respond."""
    return isinstance(getattr(error, "orig", error), Silent)
