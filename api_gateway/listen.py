"""Wakes waiting requests: one LISTEN connection for each gateway process, no polling.

A notification is a hint. Waiters subscribe first and read then, so nothing falls in between, and
when the connection was lost all of them read again, because notifications were missed meanwhile.
"""

import asyncio
import contextlib
import random
from collections.abc import Iterator

import psycopg
import structlog
from psycopg import sql

log = structlog.get_logger(__name__)

HEARTBEAT_SECONDS = 20.0
HEARTBEAT_TIMEOUT_SECONDS = 5.0
"""A connection may die without a word (a machine that vanished): it must answer in this time."""
FIRST_RETRY_SECONDS = 0.1
SLOWEST_RETRY_SECONDS = 5.0


class Notices:
    """Who waits for which subject, and the task that wakes them. Lives in one event loop.

    Subjects are UUIDs, so that those of several channels do not meet. What stands behind one in a
    notice, after a space, is a step on its way: only those hear of it that follow each step.
    """

    def __init__(self, url: str, *channels: str) -> None:
        self._conninfo = url.replace("postgresql+psycopg://", "postgresql://", 1)
        self._channels = channels
        self._waiting: dict[str, dict[asyncio.Event, bool]] = {}
        self._task: asyncio.Task[None] | None = None
        self.closing = False
        self.connected = asyncio.Event()

    @contextlib.contextmanager
    def subscribe(self, subject: str, *, each_step: bool = False) -> Iterator[asyncio.Event]:
        """An event that is set by the notices about `subject`; clear it, read, then wait.

        Args:
            each_step: by those of a step on its way, too.
        """
        woken = asyncio.Event()
        self._waiting.setdefault(subject, {})[woken] = each_step
        try:
            yield woken
        finally:
            left = self._waiting[subject]
            del left[woken]
            if not left:
                del self._waiting[subject]

    @property
    def waiters(self) -> int:
        """How many requests wait."""
        return sum(len(events) for events in self._waiting.values())

    def start(self) -> None:
        """Begin listening, in a task of the running loop."""
        self._task = asyncio.create_task(self._run(), name="listen")

    def release(self) -> None:
        """The process ends: let every waiter answer with what there is."""
        self.closing = True
        self._wake_all()

    async def stop(self) -> None:
        """Stop listening."""
        self.release()
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    def _wake(self, notice: psycopg.Notify) -> None:
        subject, _, step = notice.payload.partition(" ")
        for event, each_step in self._waiting.get(subject, {}).items():
            if each_step or not step:
                event.set()

    def _wake_all(self) -> None:
        for events in self._waiting.values():
            for event in events:
                event.set()

    async def _run(self) -> None:
        retry = FIRST_RETRY_SECONDS
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(
                    self._conninfo,
                    autocommit=True,
                    connect_timeout=5,
                    application_name="attest-listen",
                ) as connection:
                    for channel in self._channels:
                        await connection.execute(
                            sql.SQL("LISTEN {}").format(sql.Identifier(channel))
                        )
                    retry = FIRST_RETRY_SECONDS
                    self.connected.set()
                    self._wake_all()
                    await self._follow(connection)
            except (psycopg.Error, OSError, TimeoutError) as error:
                self.connected.clear()
                log.warning("listen_connection_lost", error=type(error).__name__)
            await asyncio.sleep(retry * random.uniform(0.5, 1.0))  # noqa: S311  jitter, no secret
            retry = min(retry * 2, SLOWEST_RETRY_SECONDS)

    async def _follow(self, connection: psycopg.AsyncConnection[tuple[object, ...]]) -> None:
        while True:
            async for notice in connection.notifies(timeout=HEARTBEAT_SECONDS):
                self._wake(notice)
            async with asyncio.timeout(HEARTBEAT_TIMEOUT_SECONDS):
                await connection.execute("SELECT 1")
