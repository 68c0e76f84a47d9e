"""Keys that held lately, for a route that has to answer while the database is away.

Nobody can revoke a key while the database is away, so what held when it was last asked still does,
unless its time is over or this gateway alone cannot reach the database.
"""

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Generic, Protocol, TypeVar

from anyio import move_on_after, to_thread
from fastapi import Depends
from sqlalchemy.exc import SQLAlchemyError

from api_gateway.auth.refusals import Refused
from store.models import now

KEPT = timedelta(days=1)
"""Ours: a gateway that is cut off for longer lets nobody in."""
MOST = 100
"""Ours: of those that read metrics there are a few."""

PATIENCE_SECONDS = 2.0
"""Ours: for how long a database that hangs is asked about a key that held lately; what the route
itself asks of it takes its time as well, and a scraper has little."""


class _Caller(Protocol):
    @property
    def expires_at(self) -> datetime | None: ...


C = TypeVar("C", bound=_Caller)


@dataclass(frozen=True)
class _Known(Generic[C]):
    caller: C
    seen_at: datetime


class Remembered(Generic[C]):
    """Who came with which key, in this process only. Safe to share between threads."""

    def __init__(self) -> None:
        self._salt = secrets.token_bytes(32)
        self._lock = Lock()
        self._known: dict[bytes, _Known[C]] = {}

    async def admitted(self, presented: str, check: Callable[[], C]) -> C:
        """The caller that `check` finds behind a key; while the database is away or hangs, the one
        that it found lately. `check` runs in a thread.

        Raises:
            Exception: what `check` raised, where there was none lately.
        """
        lately = self.find(presented, now())
        if lately is None:
            return await to_thread.run_sync(self._checked, presented, check)
        try:
            with move_on_after(PATIENCE_SECONDS):
                return await to_thread.run_sync(
                    self._checked, presented, check, abandon_on_cancel=True
                )
        except SQLAlchemyError:
            pass
        return lately

    def _checked(self, presented: str, check: Callable[[], C]) -> C:
        try:
            caller = check()
        except Refused as refused:
            if refused.status_code == 401:
                self.forget(presented)
            raise
        self.keep(presented, caller, now())
        return caller

    def keep(self, presented: str, caller: C, at: datetime) -> None:
        """Remember a key that held at this moment."""
        name = self._name(presented)
        with self._lock:
            self._known.pop(name, None)  # so that the first one is who was away for longest
            self._known[name] = _Known(caller, at)
            while len(self._known) > MOST:
                del self._known[next(iter(self._known))]

    def forget(self, presented: str) -> None:
        """Forget a key that does not hold any more."""
        with self._lock:
            self._known.pop(self._name(presented), None)

    def find(self, presented: str, at: datetime) -> C | None:
        """Whose key this is, if it held lately and has not expired since."""
        with self._lock:
            found = self._known.get(self._name(presented))
        if found is None or at - found.seen_at > KEPT:
            return None
        expires_at = found.caller.expires_at
        return None if expires_at is not None and at >= expires_at else found.caller

    def _name(self, presented: str) -> bytes:
        """What a key is found by: no secret, and worth nothing elsewhere. Whoever guesses learns
        nothing from how long it takes, as guesses are hashed with a salt of this process."""
        written = presented.encode("utf-8", "surrogateescape")
        return hashlib.blake2b(written, digest_size=32, key=self._salt).digest()


async def _outlives() -> None:
    """Says of its route that it answers without the database."""


_outlives.remembers = True  # type: ignore[attr-defined]
outlives_the_database = Depends(_outlives)
"""The dependency of a route that lets in who was let in there lately while the database is away."""
