"""Runs PostgreSQL's client programs: their connection, and their error messages."""

import contextlib
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import Conninfo


class ProgramFailed(RuntimeError):
    """A client program failed; the message is its error line, without values of rows."""


def environment(url: str) -> dict[str, str]:
    """Environment variables that connect a client program as psycopg connects to `url` here: values
    of the PG* variables or a service, overridden by the URL. Arguments would be visible to all.
    """
    options = [
        (option.keyword.decode(), option.envvar.decode(), option.val, option.compiled)
        for option in Conninfo.get_defaults()
        if option.envvar is not None
    ]
    around = {
        variable: value.decode()
        for _, variable, value, compiled in options
        if value is not None and value != compiled
    }
    # The other variables have its values now; kept, it would take precedence over the URL.
    around.pop("PGSERVICE", None)
    parameters = conninfo_to_dict(url.replace("postgresql+psycopg://", "postgresql://", 1))
    return {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        **{name: os.environ[name] for name in ("HOME", "PGSERVICEFILE") if name in os.environ},
        "LC_ALL": "C",
        **around,
        **{variable: str(parameters[key]) for key, variable, _, _ in options if key in parameters},
    }


@contextlib.contextmanager
def running(
    arguments: list[str], url: str, *, reading: bool
) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a client program and wait for its end. Raises ProgramFailed if it fails."""
    with tempfile.TemporaryFile() as messages:
        with subprocess.Popen(  # noqa: S603  our own arguments, no shell
            arguments,
            env=environment(url),
            stdin=subprocess.DEVNULL if reading else subprocess.PIPE,
            stdout=subprocess.PIPE if reading else messages,
            stderr=messages,
        ) as process:
            try:
                with contextlib.suppress(BrokenPipeError):  # it ended early; its message says why
                    yield process
                    if process.stdin is not None:
                        process.stdin.close()
            except BaseException:
                process.kill()
                raise
        if process.returncode != 0:
            messages.seek(0)
            lines = messages.read().decode(errors="replace").strip().splitlines() or ["no word why"]
            raise ProgramFailed(f"{Path(arguments[0]).name} failed: {_why(lines)}")


def _why(lines: list[str]) -> str:
    """The error line. DETAIL and CONTEXT lines would quote rows (invariant 11)."""
    errors = [line for line in lines if re.search(r"error|FATAL", line, re.IGNORECASE)]
    return (errors or lines)[0][:300]
