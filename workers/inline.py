"""Runs the stages in this process and thread, without Redis: for evaluations and single commands.

Messages still go through the outbox and the ledger; only the broker is replaced by a list.
"""

import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from datetime import datetime

from messages import Stage
from store.core.settings import Settings
from store.core.unit_of_work import Promise, Store
from store.index.partitions import Servers
from store.models import now
from workers.registry import spec_of
from workers.runtime.leases import LeaseKeeper
from workers.runtime.relay import sweep
from workers.runtime.stage import Context, handle


class InlineWorker:
    """Runs stages when `run` is called, until no message is due."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        *,
        now: Callable[[], datetime] = now,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._waiting: deque[Promise] = deque()
        self.store = Store(store.engine, self._publish, Servers.of(settings))
        leases = LeaseKeeper(self.store, settings.lease_seconds)
        leases.start()
        self._leases = leases
        self.context = Context(
            self.store, settings, f"inline:{os.getpid()}", leases, now=now, sleep=sleep
        )

    def _publish(self, promises: Sequence[Promise]) -> None:
        self._waiting.extend(promises)

    def run(self, progress: Callable[[Stage], None] | None = None) -> int:
        """Handle all due messages and those they cause; returns how many were handled."""
        handled = 0
        while self._waiting or sweep(self.store, self._publish):
            promise = self._waiting.popleft()
            stage = Stage(promise.stage)
            spec = spec_of(stage).paced(self.context.settings)
            handle(self.context, spec, promise.payload, promise.id)
            handled += 1
            if progress is not None:
                progress(stage)
        return handled

    def close(self) -> None:
        """Stop renewing leases."""
        self._leases.stop()
