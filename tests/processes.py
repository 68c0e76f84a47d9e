"""Processes of `attest` that begin at once: forked from one that has imported everything.

To import what a worker needs takes seconds, and tests of what is killed start hundreds. What is
forked is a process like any other: it has its own environment, settings, connections and output,
and hears every signal. That the command starts from nothing is shown in `tests/e2e`.
"""

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from pathlib import Path


class Forked:
    """A process, handled as a `subprocess.Popen` is."""

    def __init__(self, process: BaseProcess) -> None:
        self._process = process
        self._process.start()

    @property
    def pid(self) -> int:
        """Its number."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """How it ended, minus the number of the signal that ended it; None while it runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """`returncode`, as it is now."""
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end.

        Raises:
            subprocess.TimeoutExpired: it still runs after so many seconds.
        """
        self._process.join(timeout)
        ended = self.returncode
        if ended is None:
            raise subprocess.TimeoutExpired(self._process.name, timeout or 0.0)
        return ended

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal, if it lives."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL."""
        self.send_signal(signal.SIGKILL)


def attest(arguments: Sequence[str], env: Mapping[str, str], log: Path) -> Forked:
    """Start `attest ARGUMENTS` in this environment; what it prints is added to `log`."""
    name = " ".join(["attest", *arguments])
    given = (list(arguments), dict(env), str(log))
    return Forked(_warm().Process(target=_run, args=given, name=name, daemon=True))


@cache
def _warm() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.warm"])
    return context


def _run(arguments: list[str], env: dict[str, str], log: str) -> None:
    printed = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
        os.dup2(printed, stream.fileno())
        stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # both are files
    os.environ.clear()
    os.environ.update(env)
    sys.argv = ["attest", *arguments]
    from cli.main import main

    main()
