"""Runs one claimed piece of work alone: `python -m workers.alone` reads it from standard input.

Exit code 0 means that its outcome, good or bad, is recorded. `workers.runtime.alone` starts it.
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
from workers.runtime.stage import Context, Work, attempt
from workers.runtime.watchdog import Watchdog

NICENESS = 5
"""Our choice: the work may take a whole core while other work waits."""
_LOOK_SECONDS = 1.0


def main() -> int:
    """Do the work that standard input describes."""
    # A signal that stops the worker also reaches this process, which ends only after the worker.
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
    # Never started: the waiting worker renews the lease.
    leases = LeaseKeeper(store, settings.lease_seconds)
    context = Context(store=store, settings=settings, worker=suspect.worker, leases=leases)
    stage = Stage(suspect.stage)
    outbox_id = UUID(suspect.outbox_id) if suspect.outbox_id else None
    spec, message = spec_of(stage).paced(settings), parse(stage, suspect.payload)
    attempt(context, Work(spec, message, outbox_id, suspect.claim))
    broker.close()
    store.engine.dispose()
    return 0


def _end_with(parent: int) -> None:
    """End this process when its parent is gone: nobody renews the lease any more."""
    while os.getppid() == parent:
        time.sleep(_LOOK_SECONDS)
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
