"""Processes of `attest` that start at once: forked from a process that has imported everything.

The imports of a worker take seconds, and the tests that kill processes start hundreds. A fork is a
process like any other: it has its own environment, settings, connections and output, and receives
every signal. `tests/e2e` shows that the command starts without a fork server. What a worker starts
to do a suspect alone is forked from there too: a start of Python takes more CPU than most tests
of a killed worker; `tests/integration/runtime/test_lost_workers.py` shows that it starts by itself.
"""

import contextlib
import gc
import io
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
from types import SimpleNamespace
from typing import Any

import psutil


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
    context = _warm()
    forkserver._forkserver.ensure_running()
    server = str(vars(forkserver._forkserver)["_forkserver_address"])
    process_arguments = (list(arguments), dict(env), str(log), server)
    return Forked(context.Process(target=_run, args=process_arguments, name=name, daemon=True))


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


def _run(arguments: list[str], env: dict[str, str], log: str, server: str) -> None:
    _print_to(log)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = ["attest", *arguments]
    from cli.main import main

    if arguments[:1] == ["worker"]:
        _fork_suspects(log, server)
    gc.enable()
    main()


def _print_to(log: str) -> None:
    log_descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
        os.dup2(log_descriptor, stream.fileno())
        stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # both are files


def _fork_suspects(log: str, server: str) -> None:
    """In a worker that was forked: what does a suspect alone comes from the same server."""
    from workers.runtime import alone

    share_server()
    vars(forkserver._forkserver)["_forkserver_address"] = server
    multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]

    def start(command: list[str], *, stdin: int) -> "Suspected":
        assert command[1:] == ["-m", alone.MODULE]
        assert stdin == subprocess.PIPE
        return Suspected(log)

    vars(alone)["subprocess"] = SimpleNamespace(
        Popen=start, PIPE=subprocess.PIPE, TimeoutExpired=subprocess.TimeoutExpired
    )


class Suspected:
    """A process that does a suspect alone, with what `Alone` uses of `subprocess.Popen`."""

    def __init__(self, log: str) -> None:
        self._log = log
        self._forked: Forked | None = None

    def communicate(self, said: bytes, timeout: float) -> None:
        """Start it with these words, and wait for its end."""
        target_arguments = (said, dict(os.environ), self._log, os.getpid())
        process = _warm().Process(target=_do_alone, args=target_arguments)
        self._forked = Forked(process)
        # A worker that ends would wait for it; what `subprocess` starts is not waited for.
        vars(multiprocessing.process)["_children"].discard(process)
        self._forked.wait(timeout)

    @property
    def returncode(self) -> int | None:
        """As that of `Forked`."""
        return self._forked.returncode if self._forked else 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._forked, name)


def _do_alone(said: bytes, env: dict[str, str], log: str, worker: int) -> None:
    _print_to(log)
    os.environ.clear()
    os.environ.update(env)
    sys.stdin = io.TextIOWrapper(io.BytesIO(said))
    # Its parent is the server; what it looks for is whether the worker is there.
    vars(os)["getppid"] = lambda: worker if psutil.pid_exists(worker) else 1
    from workers.alone import main

    gc.enable()
    sys.exit(main())
