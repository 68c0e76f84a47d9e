"""A PostgreSQL that hangs: it is there, keeps its connections open, and says nothing.

Nothing ends a wait for it by itself: keepalives are answered by its host, and its own time-outs
stand still with it. So whoever may not wait for ever gives up, and closes the connection. What it
had been sent may still be done there once it goes on, a COMMIT too.
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
"""Ours: after this long one more connection is tried at a server that let nobody in."""


class Silent(psycopg.OperationalError):
    """The server has said nothing for too long."""


class Impatient(psycopg.Connection[Any]):
    """A connection that is closed where its server says nothing for `answer_seconds`; None: it
    waits, as for the statements of an import."""

    answer_seconds: float | None = None

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        """See `psycopg.Connection.wait`, through which every exchange with the server goes.

        Raises:
            Silent: it did not answer in time.
        """
        limit = self.answer_seconds if timeout is None else timeout
        try:
            return super().wait(gen, interval=interval, timeout=limit)
        except _WaitTimeout as error:
            if timeout is not None:  # of psycopg's own, which knows what it is for
                raise
            self.pgconn.finish()
            raise Silent("the server hangs: it says nothing") from error

    @property
    def _rests(self) -> bool:
        """Whether nothing is under way, so that psycopg would find that there is nothing to do, and
        take as long for it as for a short statement."""
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
        """Ask for a sign of life.

        Raises:
            Silent: none came within `seconds`.
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
    """Where connections are opened. While the server lets nobody in and does not say so, one caller
    at a time waits at it, and the others are refused at once: else all threads of a process wait
    there, one time-out each. Safe to share between threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._silent = False
        self._next_try = 0.0

    def open(self, connect: Callable[[], Impatient], longest_seconds: float) -> Impatient:
        """Connect.

        Args:
            longest_seconds: that connecting may take.

        Raises:
            Silent: the server did not answer lately, or does not now.
            psycopg.Error: it refuses, or is away.
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
    """Whether it is that the server says nothing."""
    return isinstance(getattr(error, "orig", error), Silent)
