"""Starts a server as a direct child, as a suitable user, that ends when its parent does."""

import contextlib
import ctypes
import os
import pwd
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psutil

from store.embedded.errors import ServerUnavailable

SERVICE_ACCOUNTS = ("attest", "postgres", "nobody")
"""Accounts tried, in this order, when root must run a server without privileges."""

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class Command:
    """How to start one process. `user` is a uid to drop to; None keeps the caller's."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path | None = None
    user: int | None = None
    stop_signal: signal.Signals = signal.SIGTERM


def service_uid(data: Path) -> int | None:
    """The uid under which servers run on the directory `data`; None: the caller's own.

    PostgreSQL refuses to run as root. Root therefore uses the owner of existing data, else the
    first of SERVICE_ACCOUNTS that exists. No account is created: adding users to a machine is its
    administrator's decision.

    Raises ServerUnavailable if none of the accounts exists.
    """
    if os.geteuid() != 0:
        return None
    with contextlib.suppress(FileNotFoundError):
        owner = data.stat().st_uid
        if owner != 0:
            return owner
    for name in SERVICE_ACCOUNTS:
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name).pw_uid
    raise ServerUnavailable(
        "PostgreSQL does not run as root and this machine has none of the accounts "
        f"{', '.join(SERVICE_ACCOUNTS)}: run `useradd --system attest`, or start as another user"
    )


def group_of(uid: int) -> int:
    """The primary group of `uid`, or the number itself for a uid without an account."""
    try:
        return pwd.getpwuid(uid).pw_gid
    except KeyError:
        return uid


def _die_with_parent(death_signal: signal.Signals) -> Callable[[], None] | None:
    """A function for the forked child: ask the kernel for `death_signal` when the parent dies.

    Linux only (prctl(2), PR_SET_PDEATHSIG). "Parent" means the parent *thread* there, so that a
    child of a short-lived thread would be ended too early: only the main thread asks for it.
    """
    if sys.platform != "linux" or threading.current_thread() is not threading.main_thread():
        return None
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    parent = os.getpid()

    def ask() -> None:  # runs after setuid, which would clear the request
        prctl(_PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)
        if os.getppid() != parent:  # the parent died before the request was made
            os._exit(1)

    return ask


@contextlib.contextmanager
def _signals_later() -> Iterator[None]:
    """Deliver signals behind the block.

    While Python forks it calls functions in which an exception is printed and lost
    (`os.register_at_fork`; `logging` has some). That of a handler which ends the program, as
    Ctrl-C does, would be: the program would go on, told to end.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # handlers run in the main thread only
        return
    arrived: list[int] = []
    handlers = {number: signal.getsignal(number) for number in _ENDING}
    handled = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in handled:
        signal.signal(number, lambda came, _: arrived.append(came))
    try:
        yield
    finally:
        for number, handler in handled.items():
            signal.signal(number, handler)
        for came in arrived:
            signal.raise_signal(came)


def spawn(command: Command, output: int | IO[bytes]) -> "subprocess.Popen[bytes]":
    """Start `command` in a session of its own, both output streams going to `output`.

    The working directory is entered before privileges are dropped, so a server may work in a
    directory that its user could not reach by name. Raises ServerUnavailable if it cannot start.
    """
    process = None
    try:
        with _signals_later():
            process = _spawn(command, output)
    except BaseException:  # of a signal: the caller does not know the process
        if process is not None:
            stop(process, signal.SIGKILL, 5)
        raise
    return process


def _spawn(command: Command, output: int | IO[bytes]) -> "subprocess.Popen[bytes]":
    user = None if command.user == os.geteuid() else command.user
    with warnings.catch_warnings():
        # Python 3.12 warns of any code between fork and exec; ours is one bound C call.
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return subprocess.Popen(  # noqa: S603 - the caller's own command, no shell
                list(command.argv),
                env=dict(command.env),
                cwd=command.cwd,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_die_with_parent(command.stop_signal),
                user=user,
                group=None if user is None else group_of(user),
                extra_groups=None if user is None else [],
            )
        except (OSError, subprocess.SubprocessError) as error:
            who = "" if user is None else f" as uid {user}"
            raise ServerUnavailable(f"cannot start {command.argv[0]}{who}: {error}") from error


def processes_in(directory: Path, name: str) -> list[psutil.Process]:
    """Living processes called `name` whose working directory is `directory`."""
    processes = []
    for process in psutil.process_iter(["name", "cwd", "status"]):
        info = process.info
        alive = info["status"] != psutil.STATUS_ZOMBIE
        if alive and info["name"] == name and info["cwd"] == str(directory):
            processes.append(process)
    return processes


LEFTOVER_SECONDS = 15.0
"""How long a leftover server may take to end by itself (ours)."""
SHOWN_LINES = 3


def end_leftovers(directory: Path, name: str, stop_signal: signal.Signals) -> None:
    """End servers that a killed owner left behind in `directory`; the caller holds its lock.

    They were told to stop when their owner died and usually only need a moment. What still
    lives after that is killed: both servers recover from that.
    """
    leftovers = processes_in(directory, name)
    for process in leftovers:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(stop_signal)
    _, alive = psutil.wait_procs(leftovers, timeout=LEFTOVER_SECONDS)
    for process in alive:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(alive, timeout=5)


def stop(process: "subprocess.Popen[bytes]", how: signal.Signals, timeout_seconds: float) -> None:
    """Send `how`, wait, and kill the whole process group after the time-out."""
    if process.poll() is not None:
        return  # reaped before: its pid may already belong to another process
    process.send_signal(how)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout_seconds)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def wait_until(
    condition: Callable[[], bool], timeout_seconds: float, interval_seconds: float = 0.02
) -> bool:
    """Poll `condition` until it is true; returns False if it is not within the time-out."""
    deadline = time.monotonic() + timeout_seconds
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(interval_seconds)
    return True


def run_once(command: Command, timeout_seconds: float) -> tuple[int, str]:
    """Run a helper program to its end; returns its exit code and its output."""
    process = spawn(command, subprocess.PIPE)
    try:
        output, _ = process.communicate(timeout=timeout_seconds)
    except subprocess.TimeoutExpired:
        stop(process, signal.SIGKILL, 5)
        output = b"it did not end in time"
    except BaseException:  # the caller ends, and removes files that the program would still write
        stop(process, signal.SIGKILL, 5)
        raise
    return process.returncode, output.decode(errors="replace").strip()


def last_lines(path: Path) -> str:
    """The last lines of a log, joined for a one-line error message."""
    try:
        lines: Sequence[str] = path.read_text(errors="replace").splitlines()
    except OSError:
        return ""
    return " / ".join(line.strip() for line in lines[-SHOWN_LINES:])
