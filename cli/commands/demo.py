"""`attest demo`: a private instance, the sample corpus, three answers and one abstention."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from api_gateway.documents.adding_view import SAMPLES as SAMPLES
from cli.client.gateway import without_key
from cli.commands.evidence.ingest import follow, submit
from cli.commands.questions.ask import ask
from cli.instance.instance import open_store
from cli.output.answers import render, stale_sources
from cli.output.printing import Console, say_json
from cli.output.typed import typed
from store.core.settings import Settings

QUESTIONS = (
    "What clinical trials are studying MRD-guided treatment de-escalation?",
    "What does NCCN say about ctDNA in colorectal cancer?",
    "How does ctDNA-guided management compare with standard management in stage II colon cancer?",
    "Does ctDNA-guided adjuvant therapy improve survival after resection of pancreatic cancer?",
)
"""A trial, a guideline and a comparison question, and one that the samples cannot answer."""

START_SECONDS = 120.0


_PRIVATE = {
    "ATTEST_HOST": "127.0.0.1",
    "ATTEST_REQUIRE_KEYS": "false",
    "ATTEST_DATABASE_URL": "",
    "ATTEST_REDIS_URL": "",
    "ATTEST_DATABASE_URL_FILE": "",
    "ATTEST_REDIS_URL_FILE": "",
}
"""Settings of the demo's own instance, which override those of the environment."""


class DemoFailed(RuntimeError):
    """The demo did not show what it promises."""


def run_demo(settings: Settings, *, as_json: bool) -> int:
    """Run the demo in a data directory of its own; return the exit code.

    Raises:
        DemoFailed: an answer lacks its citations, or the unanswerable question was answered.
    """
    console = Console(stderr=as_json)
    with tempfile.TemporaryDirectory(prefix="attest-demo-") as directory:
        own = settings.model_copy(
            update={
                "data_dir": Path(directory) / "data",
                "port": free_port(),
                "database_url": "",
                "redis_url": "",
            }
        )
        with running(own, console) as url:
            store = open_store(own)
            files = sorted(SAMPLES.glob("*.jsonl"))
            report = follow(store, *submit(store, files, None))
            console.print(
                f"Ingested {report['documents']} sample records: paraphrases with true "
                "identifiers, labeled as such."
            )
            console.print()
            with without_key():
                answered = [ask(url, {"question": text}) for text in QUESTIONS]
            for question in answered:
                if as_json:
                    say_json(question)
                else:
                    render(console, question)
                    console.print()
            if note := about_age([question["answer"] for question in answered]):
                console.print(note)
            store.engine.dispose()
        _require(report, answered)
    console.print("Every quotation above is an exact span of a stored version.")
    console.print(f"Next, to keep an instance: {typed(settings, 'up')}")
    return 0


def about_age(answers: Sequence[dict[str, Any]]) -> str | None:
    """Return why sources are marked stale, once the samples are old; None if none is stale."""
    ages = [answer["freshness_summary"] for answer in answers if stale_sources(answer)]
    if not ages:
        return None
    day = max(age["latest_fetch_at"] for age in ages)[:10]
    return (
        f"Marked stale, as they must be: the samples are as of {day}, and nobody has looked at "
        "their sources since. What is followed (attest refresh) stays fresh."
    )


def _require(report: dict[str, Any], answered: list[dict[str, Any]]) -> None:
    if report["failed"] or report["dead"] or report["indexed"] != report["new_versions"]:
        raise DemoFailed(f"the samples were not ingested whole: {report}")
    for question in answered[:-1]:
        if question["answer"]["abstained"] or not question["answer"]["claims"]:
            raise DemoFailed(f"no answer to: {question['question']}")
    if not answered[-1]["answer"]["abstained"]:
        raise DemoFailed(f"answered without evidence: {answered[-1]['question']}")


def free_port() -> int:
    """Return a loopback port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def running(settings: Settings, console: Console) -> Iterator[str]:
    """Run `attest up` as a child process and yield its URL; stop it at the end."""
    log = settings.data_dir.parent / "up.log"
    url = f"http://127.0.0.1:{settings.port}"
    command = [sys.executable, "-m", "cli.main", "up", f"--data-dir={settings.data_dir}"]
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603  our own command
            [*command, f"--port={settings.port}"],
            stdout=output,
            stderr=output,
            env={**os.environ, **_PRIVATE},
        )
    try:
        with console.status("starting PostgreSQL, Redis, workers, scheduler and gateway"):
            _wait_ready(process, url, log)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=60)


def _wait_ready(process: "subprocess.Popen[bytes]", url: str, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            if httpx.get(f"{url}/readyz", timeout=2).status_code == httpx.codes.OK:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    tail = log.read_text("utf-8", errors="replace").splitlines()[-8:]
    raise DemoFailed(f"the instance did not start: {' | '.join(tail)}")
