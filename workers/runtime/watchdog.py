"""A worker that stands is stopped, whatever holds it.

A time limit is an exception, and a lease is renewed by a thread: neither has its turn while one
call (a pattern, a parser) holds the interpreter. The timer here is native (`faulthandler`): a
thread of C that needs no interpreter. A thread of Python winds it up again and again; once that
has no turn for so long, the timer writes to stderr where every thread stands (files, lines and
functions, no values) and ends the process. What the process worked on is free at the end of its
lease, and counts as a loss in the ledger.
"""

import contextlib
import faulthandler
import os
import resource
import sys
import threading
from pathlib import Path

import structlog

log = structlog.get_logger(__name__)

STOPPED_CODE = 70
"""The exit code of a worker that stops itself (EX_SOFTWARE); the native timer's own is 1."""
_ROUNDS = 5
"""How often the timer is wound up within its time: one turn that comes late stops nobody."""
_STATM = Path("/proc/self/statm")
_MB = 1024 * 1024
_STDERR = 2


class Watchdog:
    """Stops this process when its interpreter is held too long, or it needs too much memory."""

    def __init__(self, seconds: float, memory_mb: int) -> None:
        self._seconds = seconds
        self._memory_mb = memory_mb
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)

    def start(self) -> None:
        """Begin to watch; one for each process, as there is one native timer."""
        self._wind_up()
        self._thread.start()

    def stop(self) -> None:
        """End watching."""
        self._stop.set()
        self._thread.join(timeout=5)
        faulthandler.cancel_dump_traceback_later()

    def _wind_up(self) -> None:
        faulthandler.dump_traceback_later(self._seconds, exit=True, file=_STDERR)

    def _run(self) -> None:
        while not self._stop.wait(self._seconds / _ROUNDS):
            self._wind_up()
            if (used := memory_mb()) > self._memory_mb:
                stop_now("worker_too_large", used_mb=used, limit_mb=self._memory_mb)


def stop_now(event: str, **told: object) -> None:
    """End this process at once: what it works on is left to its leases, and counts as lost."""
    log.error(event, **told)
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(STOPPED_CODE)


def memory_mb() -> int:
    """What this process holds of the machine's memory, in MiB; the most it did, if nobody tells."""
    try:
        pages = int(_STATM.read_text("ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return pages * resource.getpagesize() // _MB
