"""What walking the audit chain costs: events a second and memory, on a chain as stages write it.

    python -m benchmarks.audit --events 500000

Prints one JSON object: events written a second, verified a second (wall clock and processor time of
this process), exported a second, verified from the export a second, and how much the peak of this
process's memory grew while a chain of a tenth of the size, and then all of it, was walked.
"""

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from store.audit import audit
from store.audit.export import verify_export, write_export
from store.core.database import connect
from store.core.schema import migrate
from store.core.unit_of_work import Store, UnitOfWork, no_broker
from store.embedded import embedded

ANSWER = 5
"""Events of an answered question."""


def _answer(work: UnitOfWork, n: int) -> None:
    """The events of one question, as its stages write them."""
    subject, digest = uuid4(), f"{n:064x}"
    versions = [str(uuid4()) for _ in range(8)]
    asked = [
        {
            "purpose": "draft",
            "model": "a-model",
            "prompt_version": "trial.v1",
            "prompt_hash": digest,
            "output_hash": digest,
        }
    ]
    verdicts: list[dict[str, Any]] = [
        {
            "claim_id": f"c{one}",
            "verdict": "supported",
            "basis": "model",
            "quote_verdict": "verbatim",
            "findings": [],
            "rewritten_from": None,
        }
        for one in range(4)
    ]
    work.record("question.submitted", subject, text_hash=digest, request_hash=digest)
    work.record(
        "question.retrieved",
        subject,
        query_type="clinical_trials",
        retrieval_hash=digest,
        version_ids=versions,
        sufficiency=0.71,
        asked=[],
    )
    work.record("question.drafted", subject, draft_hash=digest, claims=4, asked=asked)
    work.record("question.verified", subject, answer_hash=digest, verdicts=verdicts, claims=["c0"])
    work.record("answer.sealed", subject, answer_hash=digest, claims=4, citations=4, verbatim=4)


def write(store: Store, events: int) -> None:
    """As many events, ten questions in a transaction; half of them of documents."""
    step = 10 * ANSWER
    for n in range(0, events, 2 * step):
        with store.unit_of_work("stage:verify", request_id=uuid4()) as work:
            for question in range(10):
                _answer(work, n + question)
        with store.unit_of_work("stage:ingest", request_id=uuid4()) as work:
            for _ in range(step):
                work.record("document.ingested", uuid4(), versions=1, fresh=1)


def _peak() -> float:
    """The most memory that this process ever had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def rates(events: int, run: Callable[[], Any]) -> dict[str, float]:
    """Events a second of one run."""
    wall, own = time.perf_counter(), time.process_time()
    run()
    return {
        "per_s": round(events / (time.perf_counter() - wall)),
        "per_cpu_s": round(events / (time.process_time() - own)),
    }


def _verify(store: Store, until: int | None = None) -> None:
    with store.reading() as session:
        report = audit.verify(session, until=until)
    assert report.whole, report.reason


def measure(events: int, directory: Path) -> dict[str, Any]:
    """All figures, on servers of its own."""
    with embedded(directory / "data") as servers:
        engine = connect(servers.database_url)
        migrate(engine)
        store = Store(engine, no_broker)
        written = rates(events, lambda: write(store, events))
        _verify(store, events // 10)
        before = _peak()
        verified = [rates(events, lambda: _verify(store)) for _ in range(3)]
        grown = _peak() - before
        file, key = directory / "log.jsonl", bytes(32)
        with file.open("wb") as out, store.reading() as session:
            begun = time.perf_counter()
            manifest = write_export(session, out, key, datetime.now(UTC))
            exported = events / (time.perf_counter() - begun)
        with file.open("rb") as lines:
            away = rates(events, lambda: verify_export(lines, manifest))
        engine.dispose()
    return {
        "events": events,
        "written": written,
        "verified": sorted(verified, key=lambda one: one["per_s"])[1],
        "verified_runs": verified,
        "peak_growth_mib": round(grown, 1),
        "exported_per_s": round(exported),
        "export_verified": away,
        "export_mib": round(manifest.count and file.stat().st_size / 2**20, 1),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=500_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="attest-bench-") as directory:
        print(json.dumps(measure(given.events, Path(directory))))


if __name__ == "__main__":
    main()
