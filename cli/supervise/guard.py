"""A small process that outlives a killed supervisor just long enough to clean up behind it.

Run as a script, isolated, with the supervisor's pipe as standard input. Each line there is
`+ GROUP SIGNAL SECONDS` (a process group began; how it is stopped and how long it may take) or
`- GROUP` (it ended). End of file means that the supervisor is gone, however it died.
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
    """The groups still running at the end of `lines`: {group: (stop signal, seconds)}."""
    groups: dict[int, tuple[int, float]] = {}
    for line in lines:
        match line.split():
            case ["+", group, how, seconds]:
                groups[int(group)] = (int(how), float(seconds))
            case ["-", group]:
                groups.pop(int(group), None)
    return groups


def clean_up(groups: dict[int, tuple[int, float]], tell: bool) -> None:
    """Wait until each group is gone; kill it after its seconds. `tell`: send stop signals first."""
    if tell:
        for group, (how, _) in groups.items():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(group, how)
    began = time.monotonic()
    left = dict(groups)
    while left:
        for group, (_, seconds) in list(left.items()):
            overdue = time.monotonic() - began >= seconds
            try:
                os.killpg(group, signal.SIGKILL if overdue else 0)
            except (ProcessLookupError, PermissionError):
                del left[group]
            else:
                if overdue:
                    del left[group]
        time.sleep(_POLL_SECONDS if left else 0)


class Guard:
    """The supervisor's side: `with Guard() as guard:` and a word for each group."""

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
        """Its process."""
        return {self._process.pid} if self._process is not None else set()

    def began(self, group: int, stop_signal: signal.Signals, timeout_seconds: float) -> None:
        """A process group to clean up behind a killed supervisor."""
        self._write(f"+ {group} {int(stop_signal)} {timeout_seconds}")

    def ended(self, group: int) -> None:
        """A process group that is gone: its number may be used by others from now on."""
        self._write(f"- {group}")

    def _write(self, line: str) -> None:
        if self._process is None or self._process.stdin is None:
            return
        with contextlib.suppress(OSError):  # it was killed itself: the kernel's signal remains
            self._process.stdin.write(f"{line}\n".encode())
            self._process.stdin.flush()


def main() -> None:
    """Follow the supervisor's lines until it is gone, then clean up."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    # Linux told the children already (PR_SET_PDEATHSIG); some take a second signal as "at once".
    clean_up(read_groups(sys.stdin), tell=sys.platform != "linux")


if __name__ == "__main__":
    main()
