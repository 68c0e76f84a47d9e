"""`python -m benchmarks.scaling.measure FILE.xml.gz`: what `benchmarks.scaling` multiplies.

Records of a PubMed file go through the product's reader, chunker, encoder's windows and, with other
numbers and the hash encoder, through every stage into a database of their own; then the tables are
weighed. Without a file made-up records are taken, which are longer than real ones. Sizes do not
depend on how busy the machine is, and the one time is of CPU. Vector index and lexical index are
not weighed: the records are copies, of which one vector is stored, and whose words repeat.
`benchmarks.search` has both.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import redis
import sqlalchemy as sa
import structlog

from benchmarks.pubmed_corpus import RECORDS_PER_SLICE, made_up, numbered, of_file, sets
from clinical_text.chunks import chunk
from clinical_text.structure import segment
from messages import Stage
from store.core.database import connect
from store.core.schema import migrate
from store.core.settings import Settings
from store.core.unit_of_work import Promise, Store
from store.documents.submissions import Origin, submit_item
from store.embedded import EmbeddedServers, embedded
from store.models import now
from store.questions import questions
from workers.encoder import encoder_for
from workers.ingest.parsers.pubmed.records import parse
from workers.inline import InlineWorker
from workers.runtime.broker import WokenBroker

GROUPS: Mapping[str, Sequence[str]] = {
    "text": ("document", "document_version", "version_tags"),
    "chunks": ("chunk",),
    "signals": ("anchor", "effect_estimate"),
    "work": ("ingest_item", "outbox", "stage_run"),
    "audit": ("audit_event",),
}
"""Tables, with their indexes and what is stored outside of the rows. Vectors are apart."""
ANSWER = ("question", "retrieval", "draft", "answer", "answer_inputs", "citation")
MESSAGES = 10_000
ENCODED = 500
QUESTION = "What did the randomized trial number {} find for survival in colon cancer?"


def reading(templates: list[bytes]) -> dict[str, float]:
    """Characters, chunks and windows of a record on average, as MiniLM reads them, and how many
    windows it encodes in a second of CPU."""
    encoder = encoder_for(Settings(encoder="minilm", encoder_threads=1))
    records = [
        one for part in sets(numbered(templates, len(templates))) for one in parse(part).records
    ]
    chunks, windows = 0, list[str]()
    for record in records:
        for piece in chunk(record.text, segment(record.text)):
            chunks += 1
            words = f"{record.title}\n{record.text[piece.start : piece.end]}"
            windows += [window.of(words) for window in encoder.windows(words)]
    encoder.encode(windows[:16])
    some = windows[:ENCODED]
    begun = time.process_time()
    for first in range(0, len(some), 64):
        encoder.encode(some[first : first + 64])
    seconds = time.process_time() - begun
    return {
        "records_read": len(records),
        "characters": round(sum(len(one.text) for one in records) / len(records)),
        "chunks": round(chunks / len(records), 3),
        "windows": round(len(windows) / len(records), 3),
        "windows_a_core_second": round(len(some) / seconds, 1),
    }


@contextmanager
def _worker(servers: EmbeddedServers) -> Iterator[InlineWorker]:
    engine = connect(servers.database_url)
    migrate(engine)
    settings = Settings(
        encoder="hash", database_url=servers.database_url, redis_url=servers.redis_url
    )
    worker = InlineWorker(settings, Store(engine))
    yield worker
    worker.close()
    engine.dispose()


def _ingest(worker: InlineWorker, templates: list[bytes], count: int) -> None:
    for number, part in enumerate(sets(numbered(templates, count))):
        with worker.store.unit_of_work("bench") as work:
            submit_item(
                work,
                filename=f"slice-{number}.xml",
                media_type=None,
                content=part,
                source_type=None,
                batch_id=uuid4(),
                origin=Origin("pubmed", now()),
            )
        worker.run()


def weigh(engine: sa.Engine) -> dict[str, int]:
    """Bytes of each group of tables and of the vectors without their index; the numbers of rows."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        # Payloads are emptied once they are read: their space is used again.
        connection.execute(sa.text("VACUUM FULL ingest_item"))
        connection.execute(sa.text("VACUUM ANALYZE"))

        def one(query: str) -> int:
            return int(connection.execute(sa.text(query)).scalar_one())

        sizes = {
            name: sum(one(f"SELECT pg_total_relation_size('{table}')") for table in tables)
            for name, tables in {**GROUPS, "answers": ANSWER}.items()
        }
        return {
            **sizes,
            "vectors": one("SELECT pg_total_relation_size('chunk_vector')"),
            "versions": one("SELECT count(*) FROM document_version"),
            "chunk_rows": one("SELECT count(*) FROM chunk"),
            "window_rows": one("SELECT count(*) FROM chunk_vector"),
            "audit_rows": one("SELECT count(*) FROM audit_event"),
        }


def storing(
    servers: EmbeddedServers, templates: list[bytes], count: int, asked: int
) -> dict[str, Any]:
    """Bytes of what a record, a chunk, a window, a question leave behind."""
    with _worker(servers) as worker:
        engine = worker.store.engine
        empty = weigh(engine)
        _ingest(worker, templates, count)
        full = weigh(engine)
        for number in range(asked):
            with worker.store.unit_of_work("bench") as work:
                questions.submit(work, QUESTION.format(number), {})
        worker.run()
        after = weigh(engine)
    rows = full["versions"]
    grown = ("answers", "work", "audit")
    return {
        "records_stored": rows,
        "text_bytes": round((full["text"] - empty["text"]) / rows),
        "chunk_bytes": round((full["chunks"] - empty["chunks"]) / full["chunk_rows"]),
        "vector_bytes": round((full["vectors"] - empty["vectors"]) / full["window_rows"]),
        "signal_bytes": round((full["signals"] - empty["signals"]) / rows),
        "work_bytes": round((full["work"] - empty["work"]) / rows),
        "audit_bytes": round((full["audit"] - empty["audit"]) / rows),
        "audit_event_bytes": round(full["audit"] / full["audit_rows"]),
        "question_bytes": round(sum(after[name] - full[name] for name in grown) / asked),
        "question_audit_bytes": round((after["audit"] - full["audit"]) / asked),
    }


def message_bytes(servers: EmbeddedServers) -> int:
    """Memory of Redis for a message that waits."""
    settings = Settings(database_url=servers.database_url, redis_url=servers.redis_url)
    broker, client = WokenBroker(settings), redis.Redis.from_url(servers.redis_url)
    used: list[int] = []
    for count in (10, MESSAGES):
        broker.publish(
            [
                Promise(
                    uuid4(),
                    Stage.RETRIEVE.value,
                    {"v": 1, "question_id": str(uuid4()), "request_id": str(uuid4())},
                )
                for _ in range(count)
            ]
        )
        info: Any = client.info("memory")
        used.append(int(info["used_memory"]))
    client.flushall()
    broker.close()
    return round((used[1] - used[0]) / MESSAGES)


def main() -> None:
    """Measure, and print what `benchmarks/scaling/measured.json` holds."""
    parser = argparse.ArgumentParser(description="Weigh what a record and a question leave behind.")
    parser.add_argument("file", nargs="?", type=Path, help="PubMed XML, or its gzip")
    parser.add_argument("--records", type=int, default=6000)
    parser.add_argument("--questions", type=int, default=100)
    given = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    templates = made_up() if given.file is None else of_file(given.file)
    found: dict[str, Any] = reading(templates)
    with (
        tempfile.TemporaryDirectory(prefix="attest-bench-") as scratch,
        embedded(Path(scratch) / "data") as servers,
    ):
        found |= storing(servers, templates, given.records, given.questions)
        found["message_bytes"] = message_bytes(servers)
    print(json.dumps({**found, "slice": RECORDS_PER_SLICE}, indent=2))


if __name__ == "__main__":
    main()
