"""Publishing in the background: callers never wait for Redis, which only wakes (invariant 1)."""

import queue
import threading
from collections.abc import Sequence

import sqlalchemy as sa
import structlog
from sqlmodel import Session

from store.core.unit_of_work import Promise, Publisher
from store.pipeline import outbox

log = structlog.get_logger(__name__)

MAX_WAITING = 1000


class PublishingThread:
    """A publisher that passes messages to one thread and returns at once.

    While Redis is away, publishing takes about 0.1 s (refused) to 4 s (no answer). Within the
    request that would block the caller and, soon, every thread of the gateway. A message that
    cannot be published goes back to the outbox, where the relay finds it. If this process dies
    first, the reconciler finds the rows that nobody claimed.
    """

    def __init__(self, engine: sa.Engine, publish: Publisher) -> None:
        self._engine = engine
        self._publish = publish
        self._waiting: queue.Queue[list[Promise] | None] = queue.Queue(MAX_WAITING)
        self._thread = threading.Thread(target=self._run, name="publish", daemon=True)

    def start(self) -> None:
        """Begin publishing."""
        self._thread.start()

    def stop(self, timeout_seconds: float) -> None:
        """Publish what waits, then end. After the timeout the rest is left to the reconciler."""
        try:
            self._waiting.put(None, timeout=timeout_seconds)
        except queue.Full:
            return
        self._thread.join(timeout_seconds)

    def __call__(self, promises: Sequence[Promise]) -> None:
        """Queue `promises`. Raises ConnectionError if too many wait; the relay then sends them."""
        try:
            self._waiting.put_nowait(list(promises))
        except queue.Full:
            raise ConnectionError(f"{MAX_WAITING} publications wait already") from None

    def _run(self) -> None:
        while (promises := self._waiting.get()) is not None:
            try:
                self._publish(promises)
            except Exception as error:  # noqa: BLE001  in any case the relay publishes them
                log.warning(
                    "publish_failed",
                    error=type(error).__name__,
                    rows=len(promises),
                    request_id=promises[0].payload.get("request_id"),
                )
                self._give_back(promises)

    def _give_back(self, promises: list[Promise]) -> None:
        try:
            with Session(self._engine) as session:
                outbox.unpublish(session, [promise.id for promise in promises])
                session.commit()
        except Exception as error:  # noqa: BLE001  the reconciler finds them a little later
            log.warning("give_back_failed", error=type(error).__name__, rows=len(promises))
