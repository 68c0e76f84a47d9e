"""Ends long polls and event streams whose key or session is no longer valid.

A request is admitted once and may wait for a minute, or follow a question for hours. So the keys of
all waiting requests are checked every two seconds, in one statement. A request whose key was
revoked or has expired, or whose session has ended, is woken and refused.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol
from uuid import UUID

import sqlalchemy as sa
import structlog
from anyio import to_thread
from sqlmodel import Session

from api_gateway.auth.refusals import Refused
from store.access import keys, sessions
from store.models import now

log = structlog.get_logger(__name__)

LOOK_SECONDS = 2.0
"""Our choice, seconds between checks: how long a waiting request outlives the end of its key."""
ENDED = "the key is not known here, has expired or was revoked"
"""The same text whatever is wrong with a key."""


class Holder(Protocol):
    """A waiting caller: with a key, with a session that was begun with a key, or with neither."""

    @property
    def key_id(self) -> UUID | None: ...
    @property
    def expires_at(self) -> datetime | None: ...
    @property
    def session(self) -> bytes | None: ...


def refused(reason: str, key_id: UUID | None) -> Refused:
    """The 401 refusal of a key that is not valid."""
    return Refused(
        401,
        ENDED,
        reason=reason,
        key_id=key_id,
        headers={"WWW-Authenticate": 'Bearer error="invalid_token"'},
    )


@dataclass(eq=False)
class Held:
    """The key of a request that waits."""

    holder: Holder
    woken: asyncio.Event
    reason: str | None = field(default=None, init=False)

    @property
    def ended(self) -> bool:
        """Whether the key is no longer valid."""
        return self.reason is not None

    def require(self) -> None:
        """Require that the key is still valid.

        Raises:
            Refused: 401.
        """
        if self.reason is not None:
            raise refused(self.reason, self.holder.key_id)

    def end(self, reason: str) -> None:
        """Mark the key as no longer valid and wake the request that waits."""
        self.reason = reason
        self.woken.set()


class Holding:
    """The keys of all waiting requests. Lives in one event loop."""

    def __init__(self, engine: sa.Engine, clock: Callable[[], datetime] = now) -> None:
        self._engine = engine
        self._clock = clock
        self._held: set[Held] = set()

    @contextlib.contextmanager
    def waiting(self, holder: Holder, woken: asyncio.Event) -> Iterator[Held]:
        """Within the block, set `woken` when the holder's key ends."""
        held = Held(holder, woken)
        if holder.key_id is None:  # no key was required
            yield held
            return
        self._held.add(held)
        try:
            yield held
        finally:
            self._held.discard(held)

    async def watch(self) -> None:
        """Check the keys every `LOOK_SECONDS`, for ever."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if self._held:
                await self.look()

    async def look(self) -> None:
        """Wake the requests whose key is no longer valid. While the database is away nobody can
        revoke a key, but keys still expire."""
        looked_at, at = list(self._held), self._clock()
        try:
            known = await to_thread.run_sync(self._known, looked_at, at)
        except Exception as error:  # noqa: BLE001  whatever it was, the next check is soon
            log.warning("held_keys_not_looked_at", error=type(error).__name__)
            known = None
        for held in looked_at:
            expires_at = held.holder.expires_at
            if expires_at is not None and expires_at <= at:
                held.end("expired_key")
            elif known is not None and held.holder.key_id not in known[0]:
                held.end("revoked_key")
            elif known is not None and not known[1].issuperset(_session_of(held)):
                held.end("no_key")

    def _known(self, looked_at: list[Held], at: datetime) -> tuple[set[UUID], set[bytes]]:
        """The keys and the sessions that are still valid."""
        key_ids = {held.holder.key_id for held in looked_at if held.holder.key_id is not None}
        begun = {name for held in looked_at for name in _session_of(held)}
        with Session(self._engine) as session:
            return keys.usable(session, key_ids, at), sessions.open_of(session, begun, at)


def _session_of(held: Held) -> set[bytes]:
    return set() if held.holder.session is None else {held.holder.session}
