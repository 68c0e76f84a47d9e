"""Processes of ours begin as forks of one that has imported everything.

To import what a worker needs takes more than a second of a core, and `attest up` starts nine. A
nursery is a process without threads that imports them all once and then forks whoever is asked for:
what is forked owns its memory only where it writes to it.

The supervisor adopts what was forked: it is a subreaper (prctl(2), PR_SET_CHILD_SUBREAPER), and the
fork's own parent ends at once. From then on the process is a child of the supervisor like one that
it spawned: it is waited for, hears signals, leads a session, and ends if the supervisor dies. Linux
only; elsewhere, and where the nursery fails, processes are spawned as ever.
"""

import ctypes
import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any

from setproctitle import getproctitle, setproctitle

from store.embedded.process import Command

MODULE = "cli.main"
"""What our processes run: `python -m cli.main ARGUMENTS`."""
IMPORTED = (
    "cli.main",
    "workers.main",
    "scheduler.main",
    "api_gateway.main",
    "cli.commands.migrate",
)
FORK_SECONDS = 30.0
"""Within which a fork must be told, imports included; else the process is spawned."""
_SERVE = (
    "import socket, sys; from cli.supervise.nursery import serve; "
    "serve(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]))"
)
_LONGEST = 1 << 20  # bytes of a request: arguments and environment
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36  # linux/prctl.h


class Adopted:
    """A forked process that is a child of this one, handled as a `subprocess.Popen` is."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._code: int | None = None

    def wait(self) -> int:
        """Its exit code, or minus the signal that ended it."""
        if self._code is None:
            _, status = os.waitpid(self.pid, 0)
            self._code = os.waitstatus_to_exitcode(status)
        return self._code

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal, if it was not waited for yet."""
        if self._code is None:
            os.kill(self.pid, number)


class Nursery:
    """The supervisor's side: `with Nursery() as nursery:`, and `nursery.start` for each process."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None

    def __enter__(self) -> "Nursery":
        if sys.platform == "linux" and threading.current_thread() is threading.main_thread():
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            ours.settimeout(FORK_SECONDS)
            _prctl(_PR_SET_CHILD_SUBREAPER, 1)
            self._channel = ours
            with theirs:
                self._process = subprocess.Popen(  # noqa: S603 - this module
                    [sys.executable, "-c", _SERVE, str(theirs.fileno()), str(os.getpid())],
                    stdin=subprocess.DEVNULL,
                    env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                )
        return self

    def __exit__(self, *_: object) -> None:
        if self._channel is not None:
            self._channel.close()  # it ends at the end of file
        if self._process is not None:
            self._process.wait()

    def start(self, command: Command, output: int) -> Adopted | None:
        """Fork the process of a command, both output streams going to `output`.

        Returns None where it is none of ours, or runs as somebody else, or there is no nursery:
        then it has to be spawned.
        """
        ours = (sys.executable, "-m", MODULE)
        if self._channel is None or command.argv[:3] != ours or command.user is not None:
            return None
        asked = {
            "arguments": command.argv[3:],
            "env": dict(command.env),
            "cwd": str(command.cwd or Path.cwd()),
            "stop_signal": int(command.stop_signal),
        }
        try:
            socket.send_fds(self._channel, [json.dumps(asked).encode()], [output])
            return Adopted(int(self._channel.recv(32)))
        except (OSError, ValueError):  # it was killed, or takes too long
            self._channel.close()
            self._channel = None
            return None

    def bury_strangers(self, known: Set[int]) -> None:
        """Wait for orphans that ended: a subreaper gets those of its whole family.

        Args:
            known: processes that somebody else waits for.
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
    """Import what is needed, then fork whatever is asked for until the supervisor is gone."""
    for ignored in (signal.SIGINT, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    getproctitle()  # it finds where the title is while the environment lies as the kernel put it
    for name in IMPORTED:
        importlib.import_module(name)
    gc.freeze()  # what is shared stays shared: the collector would write to each object
    while True:
        asked, descriptors, _, _ = socket.recv_fds(channel, _LONGEST, 1)
        if not asked or os.getppid() != supervisor:
            return
        told, tell = os.pipe()
        between = os.fork()
        if between == 0:
            pid = os.fork()
            if pid == 0:
                channel.close()
                os.close(told)
                os.close(tell)
                _become(json.loads(asked), descriptors[0], supervisor)
                return
            os.write(tell, str(pid).encode())
            os._exit(0)
        os.waitpid(between, 0)  # from now on it is the supervisor's child
        channel.send(os.read(told, 32))
        for descriptor in (told, tell, *descriptors):
            os.close(descriptor)


def _become(asked: Mapping[str, Any], output: int, supervisor: int) -> None:
    """Be the process that was asked for; ends as the command does, with SystemExit."""
    os.setsid()
    _wait_for_adoption(supervisor)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    _prctl(_PR_SET_PDEATHSIG, asked["stop_signal"])
    if os.getppid() != supervisor:  # it died before that was asked for
        os._exit(1)
    for stream in (1, 2):
        os.dup2(output, stream)
    os.close(output)
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["env"])
    sys.argv = [MODULE, *asked["arguments"]]
    setproctitle(" ".join([sys.executable, "-m", MODULE, *asked["arguments"]]))
    from cli.main import main as run

    run()


def _wait_for_adoption(supervisor: int) -> None:
    """Until the process between has ended: its end would fulfil a wish to die with the parent."""
    while os.getppid() != supervisor:
        if os.getppid() == 1 and supervisor != 1:
            os._exit(1)  # there is nobody any more
        os.sched_yield()


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, int(value), 0, 0, 0)
