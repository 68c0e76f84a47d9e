"""A small process that cleans up after a supervisor that was killed, and then ends.

It runs as a script, isolated, and reads the supervisor's pipe on standard input. Each line is
`+ GROUP SIGNAL SECONDS` (a process group began, with its stop signal and the time it may take to
stop) or `- GROUP` (it ended). End of file means that the supervisor is gone, however it died.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable

_POLL_SECONDS = 0.1


def read_groups(lines: Iterable[str]) -> dict[int, tuple[int, float]]:
    """Return the groups still running after `lines`: {group: (stop signal, seconds)}."""
    groups: dict[int, tuple[int, float]] = {}
    for line in lines:
        match line.split():
            case ["+", group, stop_signal, seconds]:
                groups[int(group)] = (int(stop_signal), float(seconds))
            case ["-", group]:
                groups.pop(int(group), None)
    return groups


def clean_up(groups: dict[int, tuple[int, float]], tell: bool) -> None:
    """Wait until each group is gone; kill it after its seconds. `tell`: send stop signals first."""
    if tell:
        for group, (stop_signal, _) in groups.items():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(group, stop_signal)
    began = time.monotonic()
    remaining = dict(groups)
    while remaining:
        for group, (_, seconds) in list(remaining.items()):
            overdue = time.monotonic() - began >= seconds
            try:
                os.killpg(group, signal.SIGKILL if overdue else 0)
            except (ProcessLookupError, PermissionError):
                del remaining[group]
            else:
                if overdue:
                    del remaining[group]
        time.sleep(_POLL_SECONDS if remaining else 0)


class Guard:
    """The supervisor's side: `with Guard() as guard:`, and a call when a group begins or ends."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Guard":
        self._process = subprocess.Popen(  # noqa: S603 - this file
            [sys.executable, "-I", "-S", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
            self._process.wait()

    def pids(self) -> set[int]:
        """The process id of the guard."""
        return {self._process.pid} if self._process is not None else set()

    def began(self, group: int, stop_signal: signal.Signals, timeout_seconds: float) -> None:
        """Report a process group to clean up if the supervisor is killed."""
        self._write(f"+ {group} {int(stop_signal)} {timeout_seconds}")

    def ended(self, group: int) -> None:
        """Report that a process group is gone: from now on its number may be reused."""
        self._write(f"- {group}")

    def _write(self, line: str) -> None:
        if self._process is None or self._process.stdin is None:
            return
        with contextlib.suppress(OSError):  # the guard was killed; PR_SET_PDEATHSIG remains
            self._process.stdin.write(f"{line}\n".encode())
            self._process.stdin.flush()


def main() -> None:
    """Follow the supervisor's lines until it is gone, then clean up."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    # Linux signalled the children already (PR_SET_PDEATHSIG); to some a second one means "at once".
    clean_up(read_groups(sys.stdin), tell=sys.platform != "linux")


if __name__ == "__main__":
    main()
