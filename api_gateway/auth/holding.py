"""Whether a key still holds while somebody waits with it: long polls and event streams end with it.

A request is let in once and may wait for a minute, or follow a question for hours. So all keys that
somebody waits with are looked at every other second, in one statement; who came with one that was
revoked or has expired, or with a session that ended, is woken and told so.
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
"""Ours: how long whoever waits is shown what they may not see any more."""
ENDED = "the key is not known here, has expired or was revoked"
"""In the same words whatever is wrong with a key."""


class Holder(Protocol):
    """Whoever waits: with a key, or with a session that was begun with one, or with neither."""

    @property
    def key_id(self) -> UUID | None: ...
    @property
    def expires_at(self) -> datetime | None: ...
    @property
    def session(self) -> bytes | None: ...


def refused(reason: str, key_id: UUID | None) -> Refused:
    """The refusal of a key that does not hold."""
    return Refused(
        401,
        ENDED,
        reason=reason,
        key_id=key_id,
        headers={"WWW-Authenticate": 'Bearer error="invalid_token"'},
    )


@dataclass(eq=False)
class Held:
    """A key while somebody waits with it."""

    holder: Holder
    woken: asyncio.Event
    reason: str | None = field(default=None, init=False)

    @property
    def ended(self) -> bool:
        """Whether it does not hold any more."""
        return self.reason is not None

    def require(self) -> None:
        """Let pass while it holds.

        Raises:
            Refused: 401.
        """
        if self.reason is not None:
            raise refused(self.reason, self.holder.key_id)

    def end(self, reason: str) -> None:
        """It does not hold any more: wake who waits."""
        self.reason = reason
        self.woken.set()


class Holding:
    """The keys that somebody waits with. Lives in one event loop."""

    def __init__(self, engine: sa.Engine, clock: Callable[[], datetime] = now) -> None:
        self._engine = engine
        self._clock = clock
        self._held: set[Held] = set()

    @contextlib.contextmanager
    def waiting(self, holder: Holder, woken: asyncio.Event) -> Iterator[Held]:
        """Wake `woken` when the holder's key ends, until the block does."""
        held = Held(holder, woken)
        if holder.key_id is None:  # nobody was asked for a key
            yield held
            return
        self._held.add(held)
        try:
            yield held
        finally:
            self._held.discard(held)

    async def watch(self) -> None:
        """Look at them now and then; for ever."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if self._held:
                await self.look()

    async def look(self) -> None:
        """Wake whose key does not hold any more. While the database is away nobody can revoke one,
        but it may expire."""
        looked_at, at = list(self._held), self._clock()
        try:
            known = await to_thread.run_sync(self._known, looked_at, at)
        except Exception as error:  # noqa: BLE001  whatever it was, it is looked again
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
        """Of the keys and the sessions those that hold."""
        key_ids = {one.holder.key_id for one in looked_at if one.holder.key_id is not None}
        begun = {name for one in looked_at for name in _session_of(one)}
        with Session(self._engine) as session:
            return keys.usable(session, key_ids, at), sessions.open_of(session, begun, at)


def _session_of(held: Held) -> set[bytes]:
    return set() if held.holder.session is None else {held.holder.session}
