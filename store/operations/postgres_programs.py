"""PostgreSQL's client programs: how they connect, and what they say when they fail."""

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
    """A client program failed; the text is its error line, without what it says of rows."""


def environment(url: str) -> dict[str, str]:
    """The connection for a client program, as psycopg makes it of `url` in this process: what the
    PG* variables or a service say, and the URL over that. In no argument: everybody can list those.
    """
    options = [
        (one.keyword.decode(), one.envvar.decode(), one.val, one.compiled)
        for one in Conninfo.get_defaults()
        if one.envvar is not None
    ]
    around = {
        variable: value.decode()
        for _, variable, value, compiled in options
        if value is not None and value != compiled
    }
    # Its values stand in the others now; left in, it would go before the URL's.
    around.pop("PGSERVICE", None)
    given = conninfo_to_dict(url.replace("postgresql+psycopg://", "postgresql://", 1))
    return {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        **{name: os.environ[name] for name in ("HOME", "PGSERVICEFILE") if name in os.environ},
        "LC_ALL": "C",
        **around,
        **{variable: str(given[key]) for key, variable, _, _ in options if key in given},
    }


@contextlib.contextmanager
def running(
    arguments: list[str], url: str, *, reading: bool
) -> Iterator["subprocess.Popen[bytes]"]:
    """A client program and its end. Raises ProgramFailed if it fails."""
    with tempfile.TemporaryFile() as said:
        with subprocess.Popen(  # noqa: S603  our own arguments, no shell
            arguments,
            env=environment(url),
            stdin=subprocess.DEVNULL if reading else subprocess.PIPE,
            stdout=subprocess.PIPE if reading else said,
            stderr=said,
        ) as process:
            try:
                with contextlib.suppress(BrokenPipeError):  # it ended early, and says why
                    yield process
                    if process.stdin is not None:
                        process.stdin.close()
            except BaseException:
                process.kill()
                raise
        if process.returncode != 0:
            said.seek(0)
            lines = said.read().decode(errors="replace").strip().splitlines() or ["no word why"]
            raise ProgramFailed(f"{Path(arguments[0]).name} failed: {_why(lines)}")


def _why(lines: list[str]) -> str:
    """The line with the error. DETAIL and CONTEXT would quote rows (invariant 11)."""
    errors = [line for line in lines if re.search(r"error|FATAL", line, re.IGNORECASE)]
    return (errors or lines)[0][:300]
