"""`make bench`: what the whole system does on this machine, printed as figures.

Starts `attest up` in a temporary data directory for each part, with nothing else on it:

1. questions: submit → answered over HTTP, 50 questions on the idle system, sample corpus, no model;
2. ingest with the hash encoder: documents a second from submission to searchable and anchored;
3. ingest with MiniLM beside what the encoder alone does with the same windows and cores.
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.corpus import documents
from cli.commands.demo import QUESTIONS, SAMPLES, free_port, running
from cli.commands.evidence.ingest import follow, submit
from cli.commands.questions.ask import ask
from cli.instance.instance import open_store
from cli.output.printing import Console
from clinical_text.chunks import chunk
from clinical_text.structure import segment
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.documents.records import SourceRecord
from workers.encoder import encoder_for

console = Console(stderr=True)


@contextmanager
def system(encoder: str) -> Iterator[tuple[str, Store, Settings]]:
    """A fresh instance with `encoder`; gives its URL, its store and its settings."""
    with tempfile.TemporaryDirectory(prefix="attest-bench-") as directory:
        os.environ["ATTEST_ENCODER"] = encoder  # for the processes of the instance
        settings = Settings(data_dir=Path(directory) / "data", port=free_port())
        with running(settings, console) as url:
            store = open_store(settings)
            yield url, store, settings
            store.engine.dispose()


def questions(count: int) -> dict[str, Any]:
    """Milliseconds from the POST to the answer, as a client sees them."""
    with system("minilm") as (url, store, _):
        follow(store, *submit(store, sorted(SAMPLES.glob("*.jsonl")), None))
        ask(url, {"question": QUESTIONS[0]})  # the first one warms caches, as in any process
        times = []
        for number in range(count):
            time.sleep(0.1)  # idle: nothing is awake when the question comes
            begun = time.perf_counter()
            ask(url, {"question": QUESTIONS[number % len(QUESTIONS)]})
            times.append((time.perf_counter() - begun) * 1000)
    times.sort()
    return {
        "questions": count,
        "ms_p50": round(statistics.median(times), 1),
        "ms_p95": round(times[int(0.95 * (count - 1))], 1),
        "ms_max": round(times[-1], 1),
    }


def ingest(encoder: str, count: int, characters: int) -> dict[str, Any]:
    """Documents a second from the first submission until the last is searchable and anchored."""
    records = list(documents(count, characters))
    with system(encoder) as (_, store, settings), tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "bench.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
        begun = time.perf_counter()
        report = follow(store, *submit(store, [path], None))
        seconds = time.perf_counter() - begun
        if report["indexed"] != count or report["failed"] or report["dead"]:
            raise RuntimeError(f"not everything was ingested: {report}")
        found: dict[str, Any] = {
            "encoder": encoder,
            "documents": count,
            "characters": characters,
            "documents_per_second": round(count / seconds, 1),
        }
        if encoder == "minilm":
            alone = encoder_alone(settings, records)
            found |= {
                "encoder_alone_documents_per_second": round(alone, 1),
                "share_of_encoder_alone": round(count / seconds / alone, 3),
            }
    return found


def encoder_alone(settings: Settings, records: list[dict[str, str]]) -> float:
    """Documents a second when nothing but their windows is encoded, in the pipeline's batches."""
    encoder = encoder_for(settings)
    windows: list[str] = []
    for given in records:
        record = SourceRecord.model_validate(given)
        for piece in chunk(record.text, segment(record.text)):
            read = f"{record.title}\n{record.text[piece.start : piece.end]}"
            windows += [window.of(read) for window in encoder.windows(read)]
    encoder.encode(windows[:8])
    batch = max(1, round(64 * len(windows) / len(records)))
    begun = time.perf_counter()
    for first in range(0, len(windows), batch):
        encoder.encode(windows[first : first + batch])
    return len(records) / (time.perf_counter() - begun)


def main() -> None:
    """Run the parts and print one JSON object each."""
    parser = argparse.ArgumentParser(description="Measure the whole system.")
    parser.add_argument("--questions", type=int, default=50)
    parser.add_argument("--documents", type=int, default=3000, help="with the hash encoder")
    parser.add_argument("--minilm-documents", type=int, default=320)
    given = parser.parse_args()
    print(json.dumps({"bench": "questions", **questions(given.questions)}), flush=True)
    print(json.dumps({"bench": "ingest", **ingest("hash", given.documents, 2000)}), flush=True)
    print(json.dumps({"bench": "ingest", **ingest("minilm", given.minilm_documents, 2000)}))


if __name__ == "__main__":
    main()
