"""The processes that the supervisor runs, their start order, and the delays before restarts."""

import os
import pwd
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from store.embedded.process import Command
from store.embedded.server import STOP_TIMEOUT_SECONDS, EmbeddedServer

FIRST_DELAY_SECONDS = 0.5
MAX_DELAY_SECONDS = 30.0
HEALTHY_AFTER_SECONDS = 60.0


@dataclass(frozen=True)
class ProcessSpec:
    """One supervised process.

    `after` names processes that must be ready before this one starts. Those, and all that they come
    after, stop only after it. `ready` is called repeatedly until it returns true and must answer
    within about a second; without it a process is ready as soon as it runs. `restart=False` makes
    it a step: it runs once and is ready when it has ended with code 0. Any other end stops
    everything with exit code 1.
    """

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    cwd: Path | None = None
    user: str | int | None = None
    ready: Callable[[], bool] | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    stop_timeout_seconds: float = 10.0
    after: tuple[str, ...] = ()
    restart: bool = True

    def command(self) -> Command:
        """Return the command to start. Raises KeyError for an unknown user name."""
        user = pwd.getpwnam(self.user).pw_uid if isinstance(self.user, str) else self.user
        return Command(self.argv, self.env, self.cwd, user, self.stop_signal)


def start_order(specs: Sequence[ProcessSpec]) -> tuple[ProcessSpec, ...]:
    """Return `specs` with each behind all that it comes `after`, otherwise in the given order.

    Raises ValueError for a name used twice, an unknown name in `after`, or a cycle.
    """
    names = [spec.name for spec in specs]
    if len(set(names)) != len(names):
        raise ValueError(f"process names must differ: {names}")
    ordered: list[ProcessSpec] = []
    waiting = list(specs)
    while waiting:
        placed = {spec.name for spec in ordered}
        startable = next((spec for spec in waiting if placed.issuperset(spec.after)), None)
        if startable is None:
            stuck = ", ".join(f"{spec.name} after {'/'.join(spec.after)}" for spec in waiting)
            raise ValueError(f"processes that can never start: {stuck}")
        ordered.append(startable)
        waiting.remove(startable)
    return tuple(ordered)


def all_after(ordered: Sequence[ProcessSpec]) -> dict[str, set[str]]:
    """Map each process to all that come after it, directly or not. A step between two may have
    ended long ago, and the later one still needs the earlier one.

    Args:
        ordered: in the order of `start_order`.
    """
    later: dict[str, set[str]] = {spec.name: set() for spec in ordered}
    for spec in reversed(ordered):
        for name in spec.after:
            later[name] |= {spec.name} | later[spec.name]
    return later


class Backoff:
    """Delays before restarts: they double, and start anew after a healthy run."""

    def __init__(self) -> None:
        self._next = FIRST_DELAY_SECONDS

    def delay_after(self, ran_seconds: float) -> float:
        """Return the seconds to wait after a crash of a process that ran for `ran_seconds`."""
        if ran_seconds >= HEALTHY_AFTER_SECONDS:
            self._next = FIRST_DELAY_SECONDS
        delay, self._next = self._next, min(self._next * 2, MAX_DELAY_SECONDS)
        return delay


def server_spec(server: EmbeddedServer) -> ProcessSpec:
    """Return an embedded server as a process; call `server.initialize()` before running it."""
    command = server.command()
    return ProcessSpec(
        name=server.name,
        argv=command.argv,
        env=command.env,
        cwd=command.cwd,
        user=command.user,
        ready=server.ready,
        stop_signal=command.stop_signal,
        stop_timeout_seconds=STOP_TIMEOUT_SECONDS,
    )


def describe(code: int) -> str:
    """Return an exit code in words; a negative one is a signal, as in `subprocess`."""
    if code >= 0:
        return f"with code {code}"
    try:
        return f"by {signal.Signals(-code).name}"
    except ValueError:
        return f"by signal {-code}"
