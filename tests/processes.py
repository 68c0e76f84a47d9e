"""Processes of `attest` that start at once: forked from a process that has imported everything.

The imports of a worker take seconds, and the tests that kill processes start hundreds. A fork is a
process like any other: it has its own environment, settings, connections and output, and receives
every signal. `tests/e2e` shows that the command starts without a fork server.
"""

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from pathlib import Path


class Forked:
    """A process with the interface of `subprocess.Popen`."""

    def __init__(self, process: BaseProcess) -> None:
        self._process = process
        self._process.start()

    @property
    def pid(self) -> int:
        """The process id."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """The exit code, or minus the signal that ended the process; None while it runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """The current `returncode`."""
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end of the process; returns the exit code.

        Raises:
            subprocess.TimeoutExpired: it still runs after `timeout` seconds.
        """
        self._process.join(timeout)
        code = self.returncode
        if code is None:
            raise subprocess.TimeoutExpired(self._process.name, timeout or 0.0)
        return code

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal if the process still runs."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Send SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)


def attest(arguments: Sequence[str], env: Mapping[str, str], log: Path) -> Forked:
    """Start `attest ARGUMENTS` in this environment; its output is appended to `log`."""
    name = " ".join(["attest", *arguments])
    process_arguments = (list(arguments), dict(env), str(log))
    return Forked(_warm().Process(target=_run, args=process_arguments, name=name, daemon=True))


@cache
def _warm() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.warm"])
    return context


def start_server() -> None:
    """Start what `attest` forks from, before a process is needed."""
    _warm()
    forkserver.ensure_running()


def share_server() -> None:
    """In a fork of the process that started it: use it too.

    The fork cannot ask whether it still runs, as multiprocessing does: it is no child of the fork.
    """
    vars(forkserver._forkserver)["ensure_running"] = lambda: None


def _run(arguments: list[str], env: dict[str, str], log: str) -> None:
    log_descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
        os.dup2(log_descriptor, stream.fileno())
        stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # both are files
    os.environ.clear()
    os.environ.update(env)
    sys.argv = ["attest", *arguments]
    from cli.main import main

    main()
