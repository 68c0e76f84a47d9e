"""`attest` commands as a user types them, without the second that a process takes to start."""

import contextlib
import io
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
import structlog

from cli.main import main
from store.core.settings import Settings, get_settings

Done = subprocess.CompletedProcess[str]


def hear_hangups() -> None:
    """For a child that is to be hung up on: under nohup, as CI may run, it would not hear it."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@dataclass(frozen=True)
class Attest:
    """Runs commands, with these variables in their environment, to their end.

    A call runs the command's own main function in this process; `process` starts the command as a
    user does. They print and return the same: a file of tests starts at least one process.
    """

    environment: dict[str, str]

    @classmethod
    def on(cls, settings: Settings, **more: str) -> "Attest":
        """Commands on the instance of a test, printed 200 columns wide."""
        own = {
            "ATTEST_DATA_DIR": str(settings.data_dir),
            "ATTEST_DATABASE_URL": settings.database_url or "",
            "ATTEST_REDIS_URL": settings.redis_url or "",
            "ATTEST_REDIS_NAMESPACE": settings.redis_namespace,
            "COLUMNS": "200",
        }
        return cls({**own, **more})

    def process(self, *arguments: str, **changed: str) -> Done:
        """`attest ARGUMENTS` as a process."""
        return subprocess.run(
            [sys.executable, "-m", "cli.main", *arguments],
            env={**os.environ, **self.environment, **changed},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def __call__(self, *arguments: str, **changed: str) -> Done:
        """`attest ARGUMENTS` in this process."""
        command = ["attest", *arguments]
        out, error = io.StringIO(), io.StringIO()
        with (
            _as_a_process(command, {**self.environment, **changed}),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(error),
        ):
            code = _exit_code()
        return Done(command, code, out.getvalue(), error.getvalue())


def _exit_code() -> int:
    try:
        main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0


@contextlib.contextmanager
def _as_a_process(command: list[str], environment: dict[str, str]) -> Iterator[None]:
    """What a process has of its own: arguments, environment, settings read once, what it logs."""
    level, logs = logging.getLogger().level, structlog.get_config()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", command)
        for name, value in environment.items():
            patch.setenv(name, value)
        get_settings.cache_clear()
        try:
            yield
        finally:
            get_settings.cache_clear()
            logging.getLogger().setLevel(level)
            structlog.configure(**logs)
