"""Forks this program's processes from one process that has imported everything.

The imports of a worker take two seconds of a core, and `attest up` starts nine processes. A nursery
is a process without threads that imports everything once and forks each process on request, as soon
as it has imported what that one needs. A fork uses memory of its own only for the pages that it
writes to.

The supervisor adopts the fork: it is a subreaper (prctl(2), PR_SET_CHILD_SUBREAPER), and the fork's
own parent exits at once. From then on the fork is a child of the supervisor like a spawned one: it
is waited for, gets signals, leads a session, and ends if the supervisor dies. Linux only;
elsewhere, and where the nursery fails, processes are spawned.
"""

import atexit
import contextlib
import ctypes
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, NoReturn

from setproctitle import getproctitle, setproctitle

from store.embedded.process import Command
from workers.registry import MODULES as STAGE_MODULES

MODULE = "cli.main"
"""The module that this program's processes run: `python -m cli.main ARGUMENTS`."""
IMPORTED = {
    "migrate": ("cli.commands.operation.migrate",),
    "gateway": ("api_gateway.main", "cli.instance.environment_check"),
    "scheduler": ("scheduler.main",),
    # The libraries of the encoder are large; a session of theirs is made in each process.
    "worker": ("workers.main", *STAGE_MODULES.values(), "tokenizers", "onnxruntime"),
}
"""What each command needs, imported in this order: the first to be asked for comes first."""
FORK_SECONDS = 30.0
"""Time limit for a fork, imports included; after it the process is spawned instead."""
_SERVE = (
    "import socket, sys; from cli.supervise.nursery import serve; "
    "serve(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]))"
)
_LONGEST = 1 << 20  # bytes of a request: arguments and environment
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36  # linux/prctl.h


class Adopted:
    """A forked process that this process adopted as its child; used like a `subprocess.Popen`."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._code: int | None = None

    def wait(self) -> int:
        """Wait and return the exit code, or minus the signal that ended the process."""
        if self._code is None:
            _, status = os.waitpid(self.pid, 0)
            self._code = os.waitstatus_to_exitcode(status)
        return self._code

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal, unless the process was waited for already."""
        if self._code is None:
            os.kill(self.pid, number)


class Nursery:
    """The supervisor's side: `with Nursery() as nursery:`, and `nursery.start` for each process."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None
        self._importing = set(IMPORTED)
        self._began = 0.0

    def __enter__(self) -> "Nursery":
        if sys.platform == "linux" and threading.current_thread() is threading.main_thread():
            near_end, far_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            near_end.settimeout(FORK_SECONDS)
            _prctl(_PR_SET_CHILD_SUBREAPER, 1)
            self._channel, self._began = near_end, time.monotonic()
            with far_end:
                self._process = subprocess.Popen(  # noqa: S603 - this module
                    [sys.executable, "-c", _SERVE, str(far_end.fileno()), str(os.getpid())],
                    stdin=subprocess.DEVNULL,
                    env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
                    pass_fds=(far_end.fileno(),),
                    start_new_session=True,
                )
        return self

    def __exit__(self, *_: object) -> None:
        if self._channel is not None:
            self._end()

    def is_importing(self, argv: Sequence[str]) -> bool:
        """Return true while it imports what this process needs: a start would wait for that."""
        if self._channel is None or time.monotonic() - self._began > FORK_SECONDS:
            return False
        while self._importing and select.select([self._channel], [], [], 0)[0]:
            self._hear(self._channel)
        return _is_own(argv) and not self._importing.isdisjoint(argv)

    def _hear(self, channel: socket.socket) -> bytes:
        """Return what the nursery says next: what it has imported, a process id, or b"" at its end.

        Raises OSError if it says nothing within FORK_SECONDS.
        """
        said = channel.recv(32)
        self._importing = self._importing - {said.decode()} if said else set()
        return said

    def start(self, command: Command, output: int) -> Adopted | None:
        """Fork the process of a command, with both output streams going to `output`.

        Returns None, and the caller must spawn it, if the command is not this program, runs as
        another user, or there is no nursery.
        """
        if self._channel is None or not _is_own(command.argv) or command.user is not None:
            return None
        request = {
            "arguments": command.argv[3:],
            "env": dict(command.env),
            "cwd": str(command.cwd or Path.cwd()),
            "stop_signal": int(command.stop_signal),
        }
        try:
            socket.send_fds(self._channel, [json.dumps(request).encode()], [output])
            while (said := self._hear(self._channel)).decode() in IMPORTED:
                pass
            return Adopted(int(said))
        except (OSError, ValueError):  # the nursery was killed, or takes too long
            self._end()
            return None

    def _end(self) -> None:
        """End the nursery: one that answers late would fork a second copy of a spawned process."""
        assert self._channel is not None
        assert self._process is not None
        self._channel.close()
        self._channel = None
        self._process.kill()
        self._process.wait()

    def bury_strangers(self, known: Set[int]) -> None:
        """Reap orphans that ended: a subreaper becomes the parent of all orphaned descendants.

        Args:
            known: ids of processes that other code waits for.
        """
        while self._process is not None:
            try:
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if ended is None or ended.si_pid in {*known, self._process.pid}:
                return
            os.waitpid(ended.si_pid, 0)


def serve(channel: socket.socket, supervisor: int) -> None:
    """Import everything, then fork a process for each request until the supervisor is gone."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    getproctitle()  # it must find the title before the environment is changed
    gc.disable()  # in what imports make there is no garbage: looking for it took a quarter of them
    importlib.import_module("cli.main")
    missing = list(IMPORTED)
    while True:
        while missing and not select.select([channel], [], [], 0)[0]:
            _import_for(missing.pop(0), channel)
        request, descriptors, _, _ = socket.recv_fds(channel, _LONGEST, 1)
        if not request or os.getppid() != supervisor:
            return
        wanted = set(json.loads(request)["arguments"])
        while not wanted.isdisjoint(missing):
            _import_for(missing.pop(0), channel)
        gc.freeze()  # keeps pages shared: the collector would write to each object
        read_end, write_end = os.pipe()
        parent = os.fork()
        if parent == 0:
            between = os.getpid()
            pid = os.fork()
            if pid == 0:
                channel.close()
                os.close(read_end)
                os.close(write_end)
                _become(json.loads(request), descriptors[0], supervisor, between)
                return
            os.write(write_end, str(pid).encode())
            os._exit(0)
        os.waitpid(parent, 0)  # from now on the fork is the supervisor's child
        channel.send(os.read(read_end, 32))
        for descriptor in (read_end, write_end, *descriptors):
            os.close(descriptor)


def _is_own(argv: Sequence[str]) -> bool:
    return tuple(argv[:3]) == (sys.executable, "-m", MODULE)


def _import_for(command: str, channel: socket.socket) -> None:
    """Import what a command needs, and say so."""
    for name in IMPORTED[command]:
        importlib.import_module(name)
    channel.send(command.encode())


def _become(asked: Mapping[str, Any], output: int, supervisor: int, between: int) -> None:
    """Run as the requested process, and end as the command does.

    Args:
        between: the process that forked this one and ends, so that the supervisor adopts it.
    """
    os.setsid()
    _wait_for_end(between)
    for number in (signal.SIGHUP, asked["stop_signal"]):  # whatever started all of this ignores
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _prctl(_PR_SET_PDEATHSIG, asked["stop_signal"])
    if os.getppid() != supervisor:  # it died before the signal was set
        os._exit(1)
    gc.enable()
    for stream in (1, 2):
        os.dup2(output, stream)
    os.close(output)
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["env"])
    sys.argv = [MODULE, *asked["arguments"]]
    setproctitle(" ".join([sys.executable, "-m", MODULE, *asked["arguments"]]))
    from cli.main import main

    run_to_the_end(main)


def run_to_the_end(run: Callable[[], object]) -> NoReturn:
    """Run it and end this process as Python does, but for taking apart what it holds.

    A fork would write for that to nearly every page that it shares with the nursery, and so copy
    it: nine processes took two seconds of CPU to end. Python's steps, which have no public names,
    are those of Py_FinalizeEx: threads end, then what is registered at exit runs.
    """
    code = 0
    try:
        run()
    except SystemExit as ended:
        if not isinstance(ended.code, int | None):
            raise  # a message, which Python prints
        code = ended.code or 0
    vars(threading)["_shutdown"]()
    vars(atexit)["_run_exitfuncs"]()
    with contextlib.suppress(OSError, ValueError):  # nobody reads it, or it is closed
        sys.stdout.flush()
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(code)


def _wait_for_end(parent: int) -> None:
    """Wait until the parent has ended: its end would trigger PR_SET_PDEATHSIG if set earlier.

    Whoever adopts then is the next subreaper: where the supervisor is gone too, that may be a
    service manager of any number, not only process 1.
    """
    while os.getppid() == parent:
        os.sched_yield()


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, int(value), 0, 0, 0)
