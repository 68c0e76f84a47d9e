"""Does this tree open what another release made: documents, answers, texts, keys, audit?

    python -m tests.former_release COMMIT [--python PATH] [--questions FILE]

The tree of COMMIT makes a data directory: the samples, questions (those of the demo; FILE has one a
line), a note, a clinical document, a key. This tree then runs on it: every answer is as it was, the
key opens and another does not, the chain and its signed export hold, every answer is replayed, the
questions are asked again. PATH is a Python with what COMMIT needs (that of a `make setup` in its
tree) where its locks are others than ours. Prints a line a check, and ends with 1 if one failed. An
answer that was made under other policies asks for the release that has them when it is replayed:
that is told, and is no fault.
"""

import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from cli.commands.demo import QUESTIONS, free_port
from cli.output.printing import say
from tests.servers import wait_until

ROOT = Path(__file__).resolve().parent.parent
NOTE = "Assessment:\nType 2 diabetes mellitus.\nPlan:\nContinue metformin 500 mg twice daily.\n"
REPORT = (
    "SURGICAL PATHOLOGY REPORT\nFINAL DIAGNOSIS:\nInvasive ductal carcinoma, Nottingham grade 2.\n"
    "Margins negative.\nER: Positive (95%)\n"
)
WORDS = {True: "holds", False: "FAILS", None: "told "}
NOT_OURS = "replay it with the release that has those"


@dataclass(frozen=True)
class Release:
    """The `attest` of one tree, on one data directory."""

    tree: Path
    python: str
    data_dir: Path

    def command(self, *arguments: str) -> list[str]:
        start = "import sys; from cli.main import main; sys.exit(main())"
        return [self.python, "-c", start, "--data-dir", str(self.data_dir), *arguments]

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("ATTEST_")}
        return {**kept, "PYTHONPATH": str(self.tree), "COLUMNS": "200"}

    def run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """One command to its end."""
        return subprocess.run(
            self.command(*arguments), cwd=self.tree, env=self.environment, text=True,
            capture_output=True, check=False,
        )  # fmt: skip

    def told(self, *arguments: str) -> str:
        """What a command prints; it must end well."""
        done = self.run(*arguments)
        if done.returncode:
            raise SystemExit(f"{arguments[0]} ended with {done.returncode}: {done.stderr[-600:]}")
        return done.stdout

    @contextlib.contextmanager
    def up(self) -> Iterator[httpx.Client]:
        """The whole instance while the block runs; yields a client of its gateway."""
        port = free_port()
        log = self.data_dir.parent / f"{self.tree.name}.log"
        with log.open("wb") as output, httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
            process = subprocess.Popen(
                self.command("up", "--port", str(port)), cwd=self.tree, env=self.environment,
                stdout=output, stderr=output,
            )  # fmt: skip

            def ready() -> bool:
                if process.poll() is not None:
                    raise SystemExit(f"it did not start: {log.read_text()[-600:]}")
                with contextlib.suppress(httpx.TransportError):
                    return client.get("/readyz").status_code == 200
                return False

            try:
                wait_until(ready, 300, f"{self.tree.name} is ready")
                yield client
            finally:
                process.terminate()
                process.wait(timeout=120)


def made(release: Release, questions: Sequence[str]) -> tuple[dict[str, Any], str]:
    """Fill the data directory; returns the answers by the ids of their questions, and the key."""
    folder = release.data_dir.parent
    for name, text in (("note.txt", NOTE), ("report.txt", REPORT)):
        (folder / name).write_text(text)
    with release.up():
        say(release.told("ingest", str(release.tree / "samples" / "records")).strip())
        asked = [json.loads(release.told("ask", one, "--json")) for one in questions]
        release.told("summarize", str(folder / "note.txt"))
        release.told("extract", str(folder / "report.txt"))
        key = json.loads(
            release.told("keys", "create", "--name", "desk", "--scopes", "ask,read", "--json")
        )
        release.told("audit", "export", str(folder / "export.jsonl"))
        say(release.told("audit", "verify").strip())
    return {one["id"]: one["answer"] for one in asked}, key["key"]


def checks(
    release: Release, answers: dict[str, Any], key: str, questions: Sequence[str]
) -> Iterator[tuple[str, bool | None]]:
    """What must hold on what another release made, and whether it does; None: it is only told."""
    with release.up() as client:
        for number, answer in answers.items():
            found = client.get(f"/v1/questions/{number}").json()["answer"]
            yield f"answer {number} is as it was", found == answer
            done = release.run("audit", "replay", number)
            last = (done.stdout + done.stderr).strip().splitlines()[-1]
            yield f"replay: {last}", None if NOT_OURS in last else done.returncode == 0
        codes = [
            client.get("/v1/questions", headers={"Authorization": f"Bearer {one}"}).status_code
            for one in (key, f"{key}x")
        ]
        yield f"the key opens, another does not: {codes}", codes == [200, 401]
        export = str(release.data_dir.parent / "export.jsonl")
        for command in (("audit", "verify-export", export), ("audit", "verify"), ("recheck",)):
            done = release.run(*command)
            last = (done.stdout + done.stderr).strip().splitlines()[-1]
            yield f"{' '.join(command[:2])}: {last}", done.returncode == 0
        for one in questions:
            again = json.loads(release.told("ask", one, "--json"))["id"]
            done = release.run("audit", "replay", again)
            yield f"asked again and replayed: {one}", done.returncode == 0
        done = release.run("audit", "verify")
        yield f"audit verify: {done.stdout.strip()}", done.returncode == 0


def main() -> int:
    """Make, open, check; the number of what failed decides the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commit")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--questions", type=Path)
    chosen = parser.parse_args()
    questions = chosen.questions.read_text().splitlines() if chosen.questions else QUESTIONS
    packed = subprocess.run(
        ["git", "archive", chosen.commit], cwd=ROOT, capture_output=True, check=True
    ).stdout
    with tempfile.TemporaryDirectory() as folder:
        tree, data_dir = Path(folder, "former"), Path(folder, "data")
        with tarfile.open(fileobj=io.BytesIO(packed)) as held:
            held.extractall(tree, filter="data")
        answers, key = made(Release(tree, chosen.python, data_dir), questions)
        failed = 0
        for what, holds in checks(Release(ROOT, sys.executable, data_dir), answers, key, questions):
            say(f"{WORDS[holds]}  {what}")
            failed += holds is False
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
