"""`attest evaluate retrieval`: a BEIR folder through the product's own ingest, index and search."""

import csv
import json
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlmodel import Session, select

from cli.evaluate.metrics import ndcg, recall, reciprocal_rank
from cli.evaluate.scratch import maintain, scratch, take_in
from messages import Stage
from store.core.settings import Settings
from store.documents.documents import SUBMITTED
from store.index import lexical
from store.models import Document
from workers.inline import InlineWorker
from workers.retrieve.search import search

Advance = Callable[[str, int, int], None]

RECORDS_PER_ITEM = 64
DEPTH = 100


class BadLayout(ValueError):
    """The folder has another layout; the text says what is missing."""


def evaluate_retrieval(directory: Path, settings: Settings, advance: Advance) -> dict[str, Any]:
    """Ingest `corpus.jsonl` into a scratch database and search it with `queries.jsonl`.

    A document's rank is that of its best chunk. Queries without a judgement are left out.

    Raises:
        BadLayout: a file is missing or malformed.
    """
    corpus = list(_lines(directory / "corpus.jsonl", "_id", "text"))
    lines = _lines(directory / "queries.jsonl", "_id", "text")
    queries = {row["_id"]: row["text"] for row in lines}
    judged = _judgements(directory / "qrels" / "test.tsv")
    with scratch(settings) as worker:
        _ingest(worker, corpus, advance)
        maintain(worker.store)
        ranked, times = _search(worker, queries, judged, advance)
    return _report(ranked, judged, times, len(corpus))


def _lines(path: Path, *fields: str) -> Iterator[dict[str, Any]]:
    if not path.is_file():
        raise BadLayout(f"{path} is missing: this is not a BEIR folder")
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            try:
                row = json.loads(line)
                missing = [field for field in fields if field not in row]
            except (ValueError, TypeError):
                raise BadLayout(f"{path}, line {number}: not a JSON object") from None
            if missing:
                raise BadLayout(f"{path}, line {number}: no field {missing[0]!r}")
            yield row


def _judgements(path: Path) -> dict[str, dict[str, int]]:
    if not path.is_file():
        raise BadLayout(f"{path} is missing: this is not a BEIR folder")
    judged: dict[str, dict[str, int]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            try:
                judged.setdefault(row["query-id"], {})[row["corpus-id"]] = int(row["score"])
            except (KeyError, ValueError):
                raise BadLayout(f"{path}: needs query-id, corpus-id, score") from None
    return judged


def _ingest(worker: InlineWorker, corpus: list[dict[str, Any]], advance: Advance) -> None:
    """Submit the corpus as packets of records and work until they are indexed."""
    done = 0
    for first in range(0, len(corpus), RECORDS_PER_ITEM):
        part = corpus[first : first + RECORDS_PER_ITEM]
        records = [
            {
                "source_type": "document",
                "source_key": row["_id"],
                "title": " ".join((row.get("title") or row["text"]).split())[:1000] or row["_id"],
                "text": row["text"] or row["title"],
            }
            for row in part
        ]
        content = "\n".join(json.dumps(record) for record in records).encode()

        def step(stage: Stage, count: int = len(part)) -> None:
            nonlocal done
            if stage is Stage.EMBED:
                done += count
                advance("ingest", min(done, len(corpus)), len(corpus))

        take_in(worker, content, step)


def _search(
    worker: InlineWorker,
    queries: dict[str, str],
    judged: dict[str, dict[str, int]],
    advance: Advance,
) -> tuple[dict[str, list[str]], list[float]]:
    with worker.store.reading() as session:
        keys = _source_keys(session)
    segments: dict[int, lexical.Segment] = {}
    ranked: dict[str, list[str]] = {}
    times: list[float] = []
    wanted = [query_id for query_id in queries if query_id in judged]
    for number, query_id in enumerate(wanted, start=1):
        begun = time.perf_counter()
        vector = worker.context.encoder.encode([queries[query_id]])[0]
        with worker.store.reading() as session:
            passages = search(session, queries[query_id], vector, segments).passages
        times.append((time.perf_counter() - begun) * 1000)
        ids = dict.fromkeys(keys[passage.document_id] for passage in passages)
        ranked[query_id] = list(ids)[:DEPTH]
        advance("search", number, len(wanted))
    return ranked, times


def _source_keys(session: Session) -> dict[UUID, str]:
    return {
        row.id: row.source_key.removeprefix(f"{SUBMITTED}:document:")
        for row in session.exec(select(Document))
    }


def _report(
    ranked: dict[str, list[str]],
    judged: dict[str, dict[str, int]],
    times: list[float],
    documents: int,
) -> dict[str, Any]:
    def mean(metric: Callable[..., float], k: int) -> float:
        return round(
            statistics.fmean(
                metric(keys, judged[query_id], k) for query_id, keys in ranked.items()
            ),
            4,
        )

    if not ranked:
        raise BadLayout("no query has a judgement: check that the ids in qrels and queries agree")
    return {
        "ndcg@10": mean(ndcg, 10),
        "recall@10": mean(recall, 10),
        "recall@100": mean(recall, 100),
        "mrr@10": mean(reciprocal_rank, 10),
        "queries": len(ranked),
        "docs": documents,
        "ms_per_query_p50": round(statistics.median(times), 2),
    }
