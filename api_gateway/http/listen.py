"""Wakes waiting requests: one LISTEN connection per gateway process, no polling.

A notification is a hint. Waiters subscribe before they read, so none is missed in between. After a
lost connection all of them read again, because notifications may have been missed meanwhile.
"""

import asyncio
import contextlib
import random
from collections.abc import Iterator

import psycopg
import structlog
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq.abc import PGconn

log = structlog.get_logger(__name__)

HEARTBEAT_SECONDS = 20.0
HEARTBEAT_TIMEOUT_SECONDS = 5.0
"""A connection may die silently (its machine vanished), so it must answer within this time."""
FIRST_RETRY_SECONDS = 0.1
SLOWEST_RETRY_SECONDS = 5.0
CONNECT_SECONDS = 5  # for each host that the URL names, unless it says otherwise


class Notices:
    """The waiters of each subject, and the task that wakes them. Lives in one event loop.

    Subjects are UUIDs, so those of several channels do not collide. A notice may name a step after
    the subject and a space: it wakes only the waiters that follow each step.
    """

    def __init__(self, url: str, *channels: str) -> None:
        given = conninfo_to_dict(url.replace("postgresql+psycopg://", "postgresql://", 1))
        named = {"connect_timeout": CONNECT_SECONDS, **given, "application_name": "attest-listen"}
        self._conninfo = make_conninfo("", **named)
        self._channels = channels
        self._waiting: dict[str, dict[asyncio.Event, bool]] = {}
        self._task: asyncio.Task[None] | None = None
        self.closing = False
        self.connected = asyncio.Event()

    @contextlib.contextmanager
    def subscribe(self, subject: str, *, each_step: bool = False) -> Iterator[asyncio.Event]:
        """An event that notices about `subject` set; clear it, read, then wait.

        Args:
            each_step: notices of single steps set it as well.
        """
        woken = asyncio.Event()
        if self.closing:
            woken.set()
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
        """The number of requests that wait."""
        return sum(len(events) for events in self._waiting.values())

    def start(self) -> None:
        """Begin listening, in a task of the running loop."""
        self._task = asyncio.create_task(self._run(), name="listen")

    def release(self) -> None:
        """Before the process ends, let every waiter answer with the current state."""
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
                    self._conninfo, autocommit=True
                ) as connection:
                    connection.add_notify_handler(self._wake)
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
            await _hear(connection.pgconn, HEARTBEAT_SECONDS)
            async with asyncio.timeout(HEARTBEAT_TIMEOUT_SECONDS):
                await connection.execute("SELECT 1")


async def _hear(pgconn: PGconn, seconds: float) -> None:
    """Pass the notices that arrive within `seconds` to the connection's handler.

    A question sends four notices, even if nobody waits for them. psycopg's own `notifies` sets
    itself up anew for each, and polls ten times a second while none arrives.

    Raises:
        psycopg.OperationalError: the connection is lost.
    """
    loop = asyncio.get_running_loop()
    lost: asyncio.Future[None] = loop.create_future()

    def read() -> None:
        try:
            pgconn.consume_input()
            while (notice := pgconn.notifies()) is not None:
                if pgconn.notify_handler is not None:
                    pgconn.notify_handler(notice)
        except psycopg.Error as error:
            if not lost.done():
                lost.set_exception(error)

    descriptor = pgconn.socket
    loop.add_reader(descriptor, read)
    try:
        read()  # notices that arrived with the result of the previous statement
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await lost
    finally:
        loop.remove_reader(descriptor)
