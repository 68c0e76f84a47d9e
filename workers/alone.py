"""One claimed piece of work, done alone: `python -m workers.alone`, the work on standard input.

Exit code 0: how it ended is written down, well or not. `workers.runtime.alone` starts it.
"""

import os
import signal
import sys
import threading
import time
from uuid import UUID

from messages import Stage, parse
from store.core.settings import Settings
from workers.main import build_store
from workers.registry import spec_of
from workers.runtime.alone import Suspect, first_to_go
from workers.runtime.leases import LeaseKeeper
from workers.runtime.logs import configure_logs
from workers.runtime.stage import Context, attempt
from workers.runtime.watchdog import Watchdog

NICENESS = 5
"""Ours: it may be what takes all of a core, and others wait."""
_LOOK_SECONDS = 1.0


def main() -> int:
    """Do what standard input says."""
    # Whoever stops the worker means this process too only once the worker is gone.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    first_to_go()
    os.nice(NICENESS)
    suspect = Suspect.decoded(sys.stdin.buffer.read())
    settings = Settings(**suspect.settings)
    configure_logs(settings, f"alone-{suspect.stage}")
    Watchdog(settings.watchdog_seconds, settings.worker_memory_mb).start()
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    store, broker = build_store(settings, pool_size=2)
    # Never started: the lease is kept by the worker that waits.
    leases = LeaseKeeper(store, settings.lease_seconds)
    context = Context(store=store, settings=settings, worker=suspect.worker, leases=leases)
    stage = Stage(suspect.stage)
    outbox_id = UUID(suspect.outbox_id) if suspect.outbox_id else None
    attempt(context, spec_of(stage), parse(stage, suspect.payload), outbox_id, suspect.claim)
    broker.close()
    store.engine.dispose()
    return 0


def _end_with(parent: int) -> None:
    """Without the worker nobody keeps the lease."""
    while os.getppid() == parent:
        time.sleep(_LOOK_SECONDS)
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
