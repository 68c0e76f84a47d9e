"""Stops a worker whose interpreter is blocked.

A time limit is an exception, and a lease is renewed by a thread: neither can run while one call (a
pattern, a parser) holds the interpreter. The timer here is native (`faulthandler`): a C thread that
needs no interpreter. A Python thread resets it regularly; if it cannot for too long, the timer
writes every thread's stack to stderr (files, lines and functions, no values) and ends the process.
The work of the process is free at the end of its lease, and counts as a loss in the ledger.
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
"""The exit code of a worker that stops itself (EX_SOFTWARE); the native timer's is 1."""
_ROUNDS = 5
"""How often the timer is reset within its time: one late reset does not stop the process."""
_STATM = Path("/proc/self/statm")
_MB = 1024 * 1024
_STDERR = 2


class Watchdog:
    """Stops this process when its interpreter is blocked or it uses too much memory."""

    def __init__(self, seconds: float, memory_mb: int) -> None:
        self._seconds = seconds
        self._memory_mb = memory_mb
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)

    def start(self) -> None:
        """Start watching. Only one a process, because there is one native timer."""
        self._wind_up()
        self._thread.start()

    def stop(self) -> None:
        """Stop watching."""
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
    """End this process at once: its work is left to its leases, and counts as lost."""
    log.error(event, **told)
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(STOPPED_CODE)


def memory_mb() -> int:
    """The resident memory of this process in MiB, or its peak where that is not known."""
    try:
        pages = int(_STATM.read_text("ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return pages * resource.getpagesize() // _MB
