"""Recently valid keys, for a route that has to answer while the database is away.

Nobody can revoke a key while the database is away, so a key that was valid at the last check still
is, unless it has expired or only this gateway cannot reach the database.
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
"""Our choice: a gateway without the database for longer lets nobody in."""
MOST = 100
"""Our choice: only a few keys read metrics."""

PATIENCE_SECONDS = 2.0
"""Our choice: how long to wait for a hanging database when checking a recently valid key. The
route's own queries take time as well, and a scraper waits only briefly."""


class _Caller(Protocol):
    @property
    def expires_at(self) -> datetime | None: ...


C = TypeVar("C", bound=_Caller)


@dataclass(frozen=True)
class _Known(Generic[C]):
    caller: C
    seen_at: datetime


class Remembered(Generic[C]):
    """Recent callers by their keys, in this process only. Safe to share between threads."""

    def __init__(self) -> None:
        self._salt = secrets.token_bytes(32)
        self._lock = Lock()
        self._known: dict[bytes, _Known[C]] = {}

    async def admitted(self, presented: str, check: Callable[[], C]) -> C:
        """The caller that `check` returns for a key. While the database is away or hangs, it is the
        caller that `check` returned recently. `check` runs in a thread.

        Raises:
            Exception: what `check` raised, if no recent caller is known.
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
        """Remember a key that was valid at `at`."""
        name = self._name(presented)
        with self._lock:
            self._known.pop(name, None)  # so that the first entry is the least recently seen
            self._known[name] = _Known(caller, at)
            while len(self._known) > MOST:
                del self._known[next(iter(self._known))]

    def forget(self, presented: str) -> None:
        """Forget a key that is no longer valid."""
        with self._lock:
            self._known.pop(self._name(presented), None)

    def find(self, presented: str, at: datetime) -> C | None:
        """The caller of a key that was valid recently and has not expired; otherwise None."""
        with self._lock:
            known = self._known.get(self._name(presented))
        if known is None or at - known.seen_at > KEPT:
            return None
        expires_at = known.caller.expires_at
        return None if expires_at is not None and at >= expires_at else known.caller

    def _name(self, presented: str) -> bytes:
        """The hash that a key is stored under: not secret, and useless elsewhere. Guesses are
        hashed with a salt of this process, so the time of a lookup reveals nothing."""
        written = presented.encode("utf-8", "surrogateescape")
        return hashlib.blake2b(written, digest_size=32, key=self._salt).digest()


async def _outlives() -> None:
    """Marks its route as one that answers without the database."""


_outlives.remembers = True  # type: ignore[attr-defined]
outlives_the_database = Depends(_outlives)
"""The dependency of a route that accepts recently valid keys while the database is away."""
