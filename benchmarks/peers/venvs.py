"""The virtual environments of the peers: one each, made from pinned versions when first needed."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parent
FOLDER = ".venv/peers"
VARIABLE = "PEERS_VENVS"
"""Of the environment: another folder that the virtual environments are, or will be, in."""


class NotInstalled(RuntimeError):
    """A peer could not be installed; the measurement goes on without it."""


def folder() -> Path:
    """Where the virtual environments are."""
    return Path(os.environ.get(VARIABLE) or FOLDER).resolve()


def python_of(name: str) -> Path:
    """The interpreter of the virtual environment `name`, made or renewed if its pins changed.

    Raises:
        NotInstalled: with pip's last line.
    """
    wanted = REQUIREMENTS / f"requirements-{name}.txt"
    home = folder() / name
    mark = home / f".installed-{hashlib.sha256(wanted.read_bytes()).hexdigest()[:16]}"
    python = home / "bin" / "python"
    if mark.exists():
        return python
    print(f"installing {name} into {home} (once)", file=sys.stderr)
    _run([sys.executable, "-m", "venv", "--clear", str(home)], name)
    _run([str(python), "-m", "pip", "install", "--quiet", "--no-deps", "-r", str(wanted)], name)
    mark.touch()
    return python


def _run(command: list[str], name: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no reason was given"]
        raise NotInstalled(f"{name} was not installed: {lines[-1]}")
