"""`make load`: questions at rising arrival rates against a whole system, and beside an import.

Starts `attest up` in a temporary directory with the sample corpus, no language model, and asks by
an open loop (`load_figures`): what does not come in time does not keep the next one from coming.

1. rates: one step for each, with the queue empty at its start;
2. beside an import (`--documents`): one rate alone and while so many documents are ingested.

Prints one JSON object a step; `--write` puts table and plot into docs/load.md.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from benchmarks.corpus import documents
from benchmarks.load import page
from benchmarks.load.client import ask_all, drained, looking
from benchmarks.load.figures import Step, arrivals, step, table
from benchmarks.system import system
from cli.commands.demo import QUESTIONS, SAMPLES
from cli.commands.evidence.ingest import follow, submit
from cli.commands.questions.ask import ask
from cli.instance.instance import resolve
from messages import QUESTION_STAGES
from store.core.settings import Settings
from store.core.unit_of_work import Store

console = Console(stderr=True)
RATES = (1.0, 2.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0)
PATIENCE_SECONDS = 90.0


@contextmanager
def more_workers(settings: Settings, count: int) -> Iterator[None]:
    """So many more worker processes for questions, until the block ends."""
    found = resolve(settings)
    stages = [f"--stage={stage.value}" for stage in QUESTION_STAGES]
    env = {
        **os.environ,
        "ATTEST_DATABASE_URL": found.database_url,
        "ATTEST_REDIS_URL": found.redis_url,
        "ATTEST_DATA_DIR": str(settings.data_dir.resolve()),
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, "-m", "cli.main", "worker", *stages, "--threads=4"]
    started = [
        subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(count)
    ]
    try:
        yield
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait(60)


def warm_up(url: str) -> None:
    """Let caches, plans and connections be made.

    Raises:
        RuntimeError: a question failed, so there is nothing to measure.
    """
    for text in QUESTIONS * 3:
        found = ask(url, {"question": text})
        if found["status"] != "answered":
            raise RuntimeError(f"a question failed: {found.get('error')}")


def measure(url: str, store: Store, rate: float, seconds: float, seed: int) -> Step:
    """One step: ask at `rate`, wait for the ends."""
    moments = arrivals(rate, seconds, seed)
    with looking(store) as depths:
        asked = ask_all(url, QUESTIONS, moments, PATIENCE_SECONDS)
    if not drained(store, PATIENCE_SECONDS):
        raise RuntimeError("questions are still under way long after the last was asked")
    return step(asked, [one for one in depths if one.at <= seconds], seconds)


def rates(given: argparse.Namespace) -> list[Step]:
    """A step for each rate."""
    found = []
    with system("minilm") as (url, store, settings):
        follow(store, *submit(store, sorted(SAMPLES.glob("*.jsonl")), None))
        with more_workers(settings, given.workers - 1):
            warm_up(url)
            for number, rate in enumerate(given.rates):
                one = measure(url, store, rate, given.seconds, given.seed + number)
                print(json.dumps({"bench": "load", **page.body(one)}), flush=True)
                found.append(one)
    return found


def beside_import(given: argparse.Namespace) -> dict[str, Step]:
    """The same rate alone, while documents are ingested, and alone again."""
    found: dict[str, Step] = {}
    with system(given.encoder) as (url, store, _), tempfile.TemporaryDirectory() as directory:
        follow(store, *submit(store, sorted(SAMPLES.glob("*.jsonl")), None))
        path = Path(directory) / "bulk.jsonl"
        made = documents(given.documents, 2000)
        path.write_text("".join(json.dumps(record) + "\n" for record in made), "utf-8")
        warm_up(url)
        found["alone"] = measure(url, store, given.rate, given.seconds, given.seed)
        begun = time.monotonic()
        batch = submit(store, [path], None)
        found["while documents are ingested"] = measure(
            url, store, given.rate, given.seconds, given.seed
        )
        before_end = time.monotonic() - begun
        follow(store, *batch)
        took = time.monotonic() - begun
        console.print(
            f"the import of {given.documents} documents took {took:.0f} s, "
            f"{given.documents / took:.0f} a second; questions were asked for {before_end:.0f} s"
        )
        found["alone, when they are there"] = measure(
            url, store, given.rate, given.seconds, given.seed
        )
    for name, one in found.items():
        print(json.dumps({"bench": "starvation", "when": name, **page.body(one)}), flush=True)
    return found


def _write_rates(steps: list[Step], given: argparse.Namespace, machine: str) -> None:
    points = {
        name: [(one.offered, getattr(one, name)) for one in steps] for name in ("p50", "p95", "p99")
    }
    page.write_plot(
        "load",
        page.lines(
            "Milliseconds from the intended arrival to the answer, by arrival rate",
            "questions asked a second",
            points,
            logarithmic=True,
        ),
    )
    page.write_part(
        "rates",
        f"{machine}. {given.workers} worker process(es) for questions, {given.seconds:g} s a step, "
        f"seed {given.seed}.\n\n{table(steps)}\n\n"
        "![Latency against arrival rate](images/load.svg)\n",
    )


def _write_import(found: dict[str, Step], given: argparse.Namespace, machine: str) -> None:
    rows = "\n".join(
        f"| {name} | {one.p50 or 0:,.0f} | {one.p95 or 0:,.0f} | {one.p99 or 0:,.0f} "
        f"| {one.refused:.0%} |"
        for name, one in found.items()
    )
    page.write_part(
        "import",
        f"{machine}. {given.rate:g} questions a second for {given.seconds:g} s each, "
        f"{given.documents} documents of 2,000 characters, encoder {given.encoder}.\n\n"
        f"| questions | p50 ms | p95 ms | p99 ms | refused |\n| --- |{' ---: |' * 4}\n{rows}\n",
    )


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.load", description="Ask at rising rates, and beside an import."
    )
    parser.add_argument(
        "--rates",
        type=lambda text: [float(one) for one in text.split(",") if one],
        default=list(RATES),
    )
    parser.add_argument("--seconds", type=float, default=30.0, help="of a step")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1, help="processes for questions")
    parser.add_argument("--documents", type=int, default=3000, help="of the import; 0: without it")
    parser.add_argument("--rate", type=float, default=1.0, help="beside the import")
    parser.add_argument("--encoder", choices=("minilm", "hash"), default="minilm")
    parser.add_argument("--write", action="store_true", help="into docs/load.md")
    given = parser.parse_args()
    machine = page.machine()
    console.print(f"seed {given.seed}; {machine}")
    steps = rates(given) if given.rates else []
    if steps:
        print(table(steps), flush=True)
        if given.write:
            _write_rates(steps, given, machine)
    if given.documents:
        found = beside_import(given)
        if given.write:
            _write_import(found, given, machine)


if __name__ == "__main__":
    main()
