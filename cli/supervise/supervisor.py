"""The process supervisor behind `attest up`.

One thread, one selector: it sleeps until a child ends or prints, or until something is due. Every
child has its own session, so that stopping it also ends what it started. A terminal's Ctrl-C
reaches only the supervisor, which then stops the children in order.
"""

import contextlib
import math
import os
import select
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from cli.supervise.guard import Guard
from cli.supervise.nursery import Adopted, Nursery
from cli.supervise.output import FileSink, Pipe, Sink, StderrSink
from cli.supervise.processes import Backoff, ProcessSpec, all_after, describe, start_order
from store.embedded.errors import EmbeddedError
from store.embedded.process import spawn

FORCED_EXIT_CODE = 130
_PROBE_SECONDS = (0.02, 0.5)
_IMPORT_SECONDS = 0.1  # between looks whether the nursery has imported what a process needs
# A terminal, a wrapper and a service manager may each pass on the same Ctrl-C.
_SAME_REQUEST_SECONDS = 0.5

_GATHER_SECONDS = 0.05
"""Our choice: the longest delay of a line, so that lines that follow are written with it. While
questions are asked, writing each line by itself took as much time as writing all of them."""
_MANY_BYTES = 16_384
"""A child that prints this much at once could soon block: a Linux pipe holds 65,536 (pipe(7))."""

OnEvent = Callable[[str, str], None]


class State(Enum):
    """The state of a child."""

    WAITING = "waiting"  # not running; `due` says when it may start
    STARTING = "starting"
    READY = "ready"
    STOPPING = "stopping"
    DONE = "done"


@dataclass
class _Child:
    spec: ProcessSpec
    state: State = State.WAITING
    process: "subprocess.Popen[bytes] | Adopted | None" = None
    due: float | None = 0.0
    """When to look at it again: to start, probe or kill it; None if only its end matters."""
    started: float = 0.0
    problem: str = ""
    """The error of its last probe; each is reported once."""
    probe_every: float = _PROBE_SECONDS[0]
    backoff: Backoff = field(default_factory=Backoff)
    satisfied: bool = False
    """It was ready once: its later restarts do not hold back its dependents."""


class Supervisor:
    """Runs `specs` until SIGTERM, SIGINT or SIGHUP; `run` belongs in the main thread.

    `nursery`, which was entered, forks the processes that run this program; without it all are
    spawned.
    `on_event(name, what)` receives each change as a short text that begins with starting, ready,
    exited, cannot start, not ready, stopping, killed or stopped; by default it is written to the
    output. The children's output goes to standard error, or to `log_dir/NAME.log`.
    """

    def __init__(
        self,
        specs: Sequence[ProcessSpec],
        on_event: OnEvent | None = None,
        log_dir: Path | None = None,
        nursery: Nursery | None = None,
    ) -> None:
        ordered = start_order(specs)
        self._children = {spec.name: _Child(spec) for spec in ordered}
        self._later = all_after(ordered)
        self._sink: Sink = (
            FileSink(log_dir) if log_dir else StderrSink(max(map(len, self._children), default=0))
        )
        self._on_event = on_event or self._print_event
        self._selector = selectors.DefaultSelector()
        self._wake_fd = -1
        self._few_lines = False
        self._guard = Guard()
        self._nursery = nursery
        self._stop_requested: float | None = None
        self._exit_code = 0

    def run(self) -> int:
        """Start everything, keep it running, and stop it on request.

        Returns 0 after a requested stop, 1 if a step failed, FORCED_EXIT_CODE if a second request
        killed the children that had not stopped yet.
        """
        with self._signals(), self._guard, contextlib.ExitStack() as stack:
            stack.callback(self._drain)
            stack.callback(self._kill_all)  # children are left only after an exception
            while not self._finished():
                self._reap()
                for child in list(self._children.values()):
                    if child.due is not None and time.monotonic() >= child.due:
                        self._act(child)
                self._sleep()
        return self._exit_code

    # --- one child -----------------------------------------------------------------------

    def _act(self, child: _Child) -> None:
        """Do what is due for a child: start, probe or kill it."""
        match child.state:
            case State.WAITING:
                self._start(child)
            case State.STARTING:
                self._probe(child)
            case State.STOPPING:
                self._tell(child, "killed: did not stop in time")
                self._kill(child)

    def _start(self, child: _Child) -> None:
        spec = child.spec
        if not all(self._children[name].satisfied for name in spec.after):
            child.due = None  # `_became_ready` of the last dependency sets it
            return
        if self._nursery is not None and self._nursery.is_importing(spec.argv):
            child.due = time.monotonic() + _IMPORT_SECONDS
            return
        self._tell(child, "starting")
        pipe = Pipe(spec.name)
        try:
            command = spec.command()
            forked = self._nursery and self._nursery.start(command, pipe.write_end)
            child.process = forked or spawn(command, pipe.write_end)
        except (EmbeddedError, KeyError) as error:
            pipe.close()
            self._tell(child, f"cannot start: {error}")
            self._ended(child, ran_seconds=0.0, code=127)
            return
        finally:
            os.close(pipe.write_end)
        self._selector.register(pipe, selectors.EVENT_READ, pipe)
        self._guard.began(child.process.pid, spec.stop_signal, spec.stop_timeout_seconds)
        child.started = time.monotonic()
        child.state = State.STARTING
        child.probe_every = _PROBE_SECONDS[0]
        if spec.ready is not None:
            child.due = child.started
        elif spec.restart:
            self._became_ready(child)
        else:
            child.due = None  # a step: its end decides

    def _probe(self, child: _Child) -> None:
        assert child.spec.ready is not None
        try:
            if child.spec.ready():
                self._became_ready(child)
                return
        except Exception as error:  # noqa: BLE001 - a failing probe means "not ready", whatever it is
            if (problem := f"not ready: {error}") != child.problem:
                self._tell(child, problem)
            child.problem = problem
        child.due = time.monotonic() + child.probe_every
        child.probe_every = min(child.probe_every * 1.5, _PROBE_SECONDS[1])

    def _became_ready(self, child: _Child) -> None:
        child.state, child.due, child.satisfied, child.problem = State.READY, None, True, ""
        self._tell(child, "ready")
        for dependent in self._children.values():
            if dependent.state is State.WAITING and child.spec.name in dependent.spec.after:
                dependent.due = 0.0

    def _ended(self, child: _Child, ran_seconds: float, code: int) -> None:
        """Restart a child, finish it, or stop everything, after its process has ended."""
        child.process = None
        if child.state is State.STOPPING or self._stop_requested is not None:
            self._tell(child, "stopped")
            child.state, child.due = State.DONE, None
        elif child.spec.restart:
            delay = child.backoff.delay_after(ran_seconds)
            self._tell(child, f"exited {describe(code)}, restarting in {delay:g} s")
            child.state, child.due = State.WAITING, time.monotonic() + delay
        else:
            self._tell(child, f"exited {describe(code)}")
            if code == 0:
                self._became_ready(child)
            else:
                self._exit_code = 1
                self._request_stop()
            child.state = State.DONE

    # --- all children --------------------------------------------------------------------

    def _reap(self) -> None:
        """Collect ended children, and kill what they left in their process groups."""
        for child in list(self._children.values()):
            process = child.process
            if process is None or not _has_ended(process):
                continue
            # Before wait() lets the system reuse the number.
            _signal_group(process.pid, signal.SIGKILL)
            code = process.wait()
            self._guard.ended(process.pid)
            self._pass_on_last_words(child.spec.name)
            self._ended(child, time.monotonic() - child.started, code)
        if self._nursery is not None:
            running = {child.process.pid for child in self._children.values() if child.process}
            self._nursery.bury_strangers(running | self._guard.pids())
        if self._stop_requested is not None:
            self._stop_next()

    def _stop_next(self) -> None:
        """Send the stop signal to each child whose dependents have all stopped."""
        for child in self._children.values():
            if child.process is None:
                child.state, child.due = State.DONE, None
        for child in self._children.values():
            if child.state in (State.DONE, State.STOPPING) or child.process is None:
                continue
            dependents = (self._children[name] for name in self._later[child.spec.name])
            if all(dependent.state is State.DONE for dependent in dependents):
                self._tell(child, "stopping")
                child.state = State.STOPPING
                child.due = time.monotonic() + child.spec.stop_timeout_seconds
                child.process.send_signal(child.spec.stop_signal)

    def _request_stop(self) -> None:
        now = time.monotonic()
        if self._stop_requested is None:
            self._stop_requested = now
        elif now - self._stop_requested >= _SAME_REQUEST_SECONDS:
            self._exit_code = FORCED_EXIT_CODE
            for child in self._children.values():
                if child.process is not None:
                    self._tell(child, "killed: asked twice to stop")
                    self._kill(child)

    def _finished(self) -> bool:
        return all(child.state is State.DONE for child in self._children.values())

    def _kill(self, child: _Child) -> None:
        assert child.process is not None
        child.state, child.due = State.STOPPING, None
        _signal_group(child.process.pid, signal.SIGKILL)

    def _kill_all(self) -> None:
        for child in self._children.values():
            if child.process is not None:
                self._kill(child)
                child.process.wait()

    # --- sleeping and waking ---------------------------------------------------------------

    def _sleep(self) -> None:
        """Wait for the next due time, a signal, or output; pass the output on."""
        if self._finished():
            return
        if self._few_lines:  # more may follow: waking for each costs more than passing it on
            select.select([self._wake_fd], [], [], min(_GATHER_SECONDS, self._until_due()))
        due, copied = self._until_due(), []
        for key, _ in self._selector.select(due if due < math.inf else None):
            if key.fd == self._wake_fd:
                self._read_signals()
            else:
                copied.append(self._copy(key.data))
        self._few_lines = 0 < max(copied, default=0) < _MANY_BYTES

    def _until_due(self) -> float:
        """Return the seconds until something is due; infinity if nothing is."""
        due = [child.due for child in self._children.values() if child.due is not None]
        return max(0.0, min(due) - time.monotonic()) if due else math.inf

    def _read_signals(self) -> None:
        arrived = os.read(self._wake_fd, 4096)
        if any(number != signal.SIGCHLD for number in arrived):
            self._request_stop()

    def _copy(self, pipe: Pipe) -> int:
        """Pass on what a child printed; return the number of bytes."""
        copied = pipe.copy_to(self._sink)
        if copied is None:
            self._selector.unregister(pipe)
            pipe.close()
        return copied or 0

    def _pass_on_last_words(self, name: str) -> None:
        """Log the child's last output before the event that it ended."""
        for key in list(self._selector.get_map().values()):
            if key.data is not None and key.data.name == name:
                self._copy(key.data)

    def _drain(self) -> None:
        """Pass on the children's last output, then close all pipes."""
        while ready := [key.data for key, _ in self._selector.select(0) if key.data]:
            for pipe in ready:
                self._copy(pipe)
        for key in list(self._selector.get_map().values()):
            if key.data is not None:
                self._selector.unregister(key.fileobj)
                key.data.close()

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        """Turn signals into bytes on a pipe, which wakes the selector without a race."""
        self._wake_fd, write_end = os.pipe()
        for end in (self._wake_fd, write_end):
            os.set_blocking(end, False)
        handled = [signal.SIGCHLD, signal.SIGTERM, signal.SIGINT]
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # keep what nohup set
            handled.append(signal.SIGHUP)
        before = {number: signal.signal(number, lambda *_: None) for number in handled}
        wake_before = signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
        self._selector.register(self._wake_fd, selectors.EVENT_READ, None)
        try:
            yield
        finally:
            self._selector.unregister(self._wake_fd)
            signal.set_wakeup_fd(wake_before)
            for number, handler in before.items():
                signal.signal(number, handler)
            os.close(self._wake_fd)
            os.close(write_end)
            self._selector.close()

    def _tell(self, child: _Child, what: str) -> None:
        self._on_event(child.spec.name, what)

    def _print_event(self, name: str, what: str) -> None:
        self._sink.write(name, [f"[{what}]".encode()])


def _has_ended(process: "subprocess.Popen[bytes] | Adopted") -> bool:
    """Return true if the process ended; it stays a zombie, so its number is not reused yet."""
    try:
        ended = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return ended is not None


def _signal_group(group: int, number: signal.Signals) -> None:
    # macOS answers EPERM for a group in which only a zombie is left.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
