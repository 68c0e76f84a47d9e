"""The parent's side: a peer as a child process that is told what to do and answers in JSON."""

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
_PASSED_ON = ("PATH", "HOME", "LANG", "TMPDIR")


class ChildFailed(RuntimeError):
    """A peer's process ended, or did not answer in its form."""


class Child:
    """A running peer; see `benchmarks.peers.wire` for what it can be told."""

    def __init__(self, process: "subprocess.Popen[str]", name: str) -> None:
        self._process, self.name = process, name
        self.hosts: set[str] = set()
        self.versions: dict[str, str] = self._answer()["versions"]

    def do(self, what: str, **order: Any) -> dict[str, Any]:
        """Have something done; gives the answer.

        Raises:
            ChildFailed: the process has ended. Its words are on standard error.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"do": what, **order}) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise ChildFailed(f"{self.name} has ended") from None
        answer = self._answer()
        self.hosts |= set(answer.pop("hosts"))
        return answer

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise ChildFailed(f"{self.name} has ended, exit code {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextmanager
def child(
    python: Path, module: str, arguments: Sequence[str] = (), **environment: str
) -> Iterator[Child]:
    """`module` run by `python`, without this process's secrets in its environment."""
    kept = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    process = subprocess.Popen(
        [str(python), "-m", module, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**kept, "OPENAI_API_KEY": "none", **environment},
    )
    try:
        yield Child(process, module.rpartition(".")[2])
    finally:
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(BrokenPipeError):
            process.stdin.close()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
