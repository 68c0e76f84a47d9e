"""The common base of the two embedded servers, for running them without a supervisor."""

import signal
import subprocess
from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

from store.embedded.datadir import DataDir, rotate_log
from store.embedded.errors import EmbeddedError, ServerUnavailable
from store.embedded.process import Command, last_lines, spawn, stop, wait_until

STOP_TIMEOUT_SECONDS = 30.0
START_TIMEOUT_SECONDS = 60.0


class EmbeddedServer(ABC):
    """One server of a locked data directory.

    Under a supervisor: `initialize()`, then run `command()` and ask `ready()`. On its own, for
    tests and evaluations: `start()`, `stop()`, `restart()`, `kill()`.
    """

    name: ClassVar[str]

    def __init__(self, data: DataDir) -> None:
        self.data = data
        self._process: subprocess.Popen[bytes] | None = None

    @abstractmethod
    def initialize(self) -> None:
        """Prepare the data directory for `command`: first start, leftovers of a killed owner."""

    @abstractmethod
    def command(self) -> Command:
        """How to start the server in the foreground."""

    @abstractmethod
    def ready(self) -> bool:
        """True if the server answers and holds what its clients expect."""

    @property
    def log_file(self) -> Path:
        """The log of a server started by `start`."""
        return self.data.log / f"{self.name}.log"

    @property
    def pid(self) -> int | None:
        """The pid of the process started by `start`; None if it does not run."""
        running = self._process is not None and self._process.poll() is None
        return self._process.pid if running and self._process else None

    def start(self, timeout_seconds: float = START_TIMEOUT_SECONDS) -> None:
        """Initialize, start, wait until ready. Raises ServerUnavailable with the last log lines."""
        if self.pid is not None:
            raise EmbeddedError(f"{self.name} already runs as process {self.pid}")
        try:
            self.initialize()
            rotate_log(self.log_file)
            with self.log_file.open("ab") as log:
                self._process = spawn(self.command(), log)
        except OSError as error:
            raise ServerUnavailable(
                f"{self.name} cannot use {self.data.path}: {error.strerror} ({error.filename})"
            ) from error
        try:
            self.wait_ready(timeout_seconds)
        except BaseException:
            self.kill()
            raise

    def wait_ready(self, timeout_seconds: float = START_TIMEOUT_SECONDS) -> None:
        """Wait until ready. Raises ServerUnavailable after the time-out, or if the process of
        `start` has ended."""

        def settled() -> bool:
            return self.ready() or self._ended()

        if wait_until(settled, timeout_seconds) and not self._ended():
            return
        why = "ended" if self._ended() else f"was not ready within {timeout_seconds:.0f} s"
        raise ServerUnavailable(
            f"{self.name} {why}: {last_lines(self.log_file)} (see {self.log_file})"
        )

    def stop(self, timeout_seconds: float = STOP_TIMEOUT_SECONDS) -> None:
        """Stop cleanly; kill after the time-out. Does nothing if it does not run."""
        if self._process is not None:
            stop(self._process, self.command().stop_signal, timeout_seconds)
            self._process = None

    def kill(self) -> None:
        """Kill the server with SIGKILL, like a crash."""
        if self._process is not None:
            stop(self._process, signal.SIGKILL, STOP_TIMEOUT_SECONDS)
            self._process = None

    def restart(self) -> None:
        """Stop cleanly and start again on the same data."""
        self.stop()
        self.start()

    def _ended(self) -> bool:
        return self._process is not None and self._process.poll() is not None
