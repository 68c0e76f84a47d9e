"""`make bench-search`: hybrid search in indexes of 10,000 to a million chunks, printed as figures.

For each size a synthetic corpus (`corpus.py`) is loaded in bulk, the vector index built as
the scheduler builds it, and the product's own search timed: lexical and dense search, fusion and
fetching the passages; encoding the question is timed by itself. Recall is against a look at every
vector that passes. Each is done without a filter and with three: about a fifth, a fiftieth and a
thousandth of the corpus.

`--keep DIR` keeps the databases and their recorded build times, so that a second run only searches.
"""

import argparse
import json
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import sqlalchemy as sa
from numpy.typing import NDArray
from rich.console import Console

from benchmarks.search.corpus import BLOCK, Corpus
from benchmarks.search.load import load, published, statuses
from knowledge.answering.policy import retrieval_policy
from store.core.database import connect
from store.core.schema import migrate
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.embedded import embedded
from store.index import dense, lexical
from store.index.filters import Filter
from store.index.partitions import Servers
from store.index.sizes import HNSW_INDEX
from store.index.terms import terms
from store.operations import partitions
from workers.encoder import encoder_for
from workers.retrieve.fusion import fuse
from workers.retrieve.search import search

console = Console(stderr=True)
SIZES = (10_000, 100_000, 1_000_000)
WARM_UP = 50
SINCE = datetime(2016, 1, 1, tzinfo=UTC)
FILTERS: Mapping[str, Filter] = {
    "none": Filter(),
    "trials": Filter(source_types=frozenset({"clinicaltrials"})),
    "disease": Filter(diseases=frozenset({"disease_3"})),
    "recent labels of a disease": Filter(
        source_types=frozenset({"label"}),
        diseases=frozenset({"disease_3"}),
        published_from=SINCE,
    ),
}
SIZE_OF = {
    "vector_index_mb": f"coalesce(pg_relation_size(to_regclass('{HNSW_INDEX}')), 0)",
    "vectors_mb": "pg_table_size('chunk_vector')",
    "lexical_mb": "pg_total_relation_size('lex_posting') + pg_total_relation_size('lex_segment')",
    "database_mb": "pg_database_size(current_database())",
}


@contextmanager
def index(
    corpus: Corpus, keep: Path | None, segment_chunks: int
) -> Iterator[tuple[Store, dict[str, Any], int]]:
    """A database with the corpus in it; gives what building it took, how large it is, and its
    server's process."""
    with tempfile.TemporaryDirectory(prefix="attest-bench-") as scratch:
        directory = (keep or Path(scratch)) / str(corpus.chunks)
        directory.mkdir(parents=True, exist_ok=True)
        record = directory / "built.json"
        if not record.exists():  # what an interrupted run left is not whole
            shutil.rmtree(directory / "data", ignore_errors=True)
        with embedded(directory / "data") as servers:
            engine = connect(servers.database_url)
            migrate(engine)
            if not record.exists():
                record.write_text(json.dumps(_build(engine, corpus, segment_chunks)), "utf-8")
            assert servers.postgres.pid is not None
            yield Store(engine), json.loads(record.read_text("utf-8")), servers.postgres.pid
            engine.dispose()


@contextmanager
def spread(store: Store, corpus: Corpus, count: int) -> Iterator[tuple[Store, float, list[int]]]:
    """The same corpus on so many servers, and none of it on the first; gives the seconds that
    moving it took, and the processes of the servers."""
    with tempfile.TemporaryDirectory(prefix="attest-bench-") as scratch, ExitStack() as stack:
        urls, pids = {}, []
        for number in range(count):
            servers = stack.enter_context(embedded(Path(scratch) / str(number)))
            urls[f"part-{number}"] = servers.database_url
            assert servers.postgres.pid is not None
            pids.append(servers.postgres.pid)
        spreading = Store(store.engine, servers=Servers(urls))
        stack.callback(spreading.servers.dispose)
        begun = time.perf_counter()
        for number, name in enumerate(urls):
            console.print(f"moving to {name}")
            partitions.add(spreading, name, "bench")
            most = None if number + 1 == count else corpus.chunks // count
            partitions.move(spreading, partitions.MAIN, name, "bench", most=most)
        seconds = time.perf_counter() - begun
        for engine in (store.engine, *map(spreading.servers.writing, urls)):
            with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.execute(sa.text(f"DROP INDEX IF EXISTS {HNSW_INDEX}"))
                connection.execute(sa.text("VACUUM ANALYZE"))
                dense.ensure_index(connection)
        yield spreading, round(seconds, 1), pids


def _build(engine: sa.Engine, corpus: Corpus, segment_chunks: int) -> dict[str, Any]:
    console.print(f"loading {corpus.chunks:,} chunks")
    seconds = load(engine, corpus, segment_chunks)
    begun = time.perf_counter()
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        console.print("building the vector index, if there are enough vectors")
        built = dense.ensure_index(connection)
        seconds["vector_index"] = round(time.perf_counter() - begun, 1) if built else 0.0
        sizes = {
            name: round(connection.execute(sa.text(f"SELECT {what}")).scalar_one() / 1e6, 1)
            for name, what in SIZE_OF.items()
        }
    return {"seconds": seconds, **sizes}


def passes(corpus: Corpus, only: Filter) -> NDArray[np.bool_]:
    """Which documents pass, worked out from what was drawn, (documents,)."""
    found: NDArray[np.bool_] = np.array(statuses(corpus)) == "current"
    if only.source_types is not None:
        found &= np.isin(corpus.source_types, sorted(only.source_types))
    if only.diseases is not None:
        found &= np.isin([f"disease_{tag}" for tag in corpus.diseases], sorted(only.diseases))
    if only.published_from is not None:
        found &= np.array([moment >= only.published_from for moment in published(corpus)])
    return found


def exact(
    corpus: Corpus, queries: NDArray[np.float32], masks: Mapping[str, NDArray[np.bool_]], k: int
) -> dict[str, list[list[tuple[int, float]]]]:
    """The `k` nearest chunks of each query among those that pass, by looking at every vector."""
    best = {
        name: (np.full((len(queries), k), -2, np.float32), np.zeros((len(queries), k), np.int64))
        for name in masks
    }
    for number, vectors in enumerate(corpus.vectors()):
        stored = vectors.astype(np.float16).astype(np.float32)
        similar = queries @ stored.T
        ids = number * BLOCK + 1 + np.arange(len(vectors))
        for name, mask in masks.items():
            passing = mask[corpus.documents[ids - 1]]
            scores, keys = best[name]
            scores = np.concatenate([scores, similar[:, passing]], axis=1)
            keys = np.concatenate([keys, np.tile(ids[passing], (len(queries), 1))], axis=1)
            order = np.argpartition(-scores, k - 1, axis=1)[:, :k]
            best[name] = (
                np.take_along_axis(scores, order, axis=1),
                np.take_along_axis(keys, order, axis=1),
            )
    return {
        name: [
            sorted(
                ((int(key), float(score)) for key, score in zip(*row, strict=True) if score > -2),
                key=lambda one: (-one[1], one[0]),
            )
            for row in zip(keys, scores, strict=True)
        ]
        for name, (scores, keys) in best.items()
    }


def measure(store: Store, corpus: Corpus, count: int) -> dict[str, Any]:
    """Times and recall of `count` queries for each filter."""
    queries, questions = corpus.queries(count), corpus.questions(count)
    masks = {name: passes(corpus, only) for name, only in FILTERS.items()}
    depth = retrieval_policy().candidates
    right = exact(corpus, queries, masks, depth)
    segments: dict[int, lexical.Segment] = {}
    found: dict[str, Any] = {}
    for name, only in FILTERS.items():
        for number in range(min(WARM_UP, count)):  # connections, plans, and pages in memory
            with store.reading() as session:
                search(session, questions[-number], queries[-number], segments, only=only)
        times: list[float] = []
        near: list[float] = []
        fused: list[float] = []
        for number, (question, vector) in enumerate(zip(questions, queries, strict=True)):
            begun = time.perf_counter()
            with store.reading() as session:
                search(session, question, vector, segments, only=only)
                times.append((time.perf_counter() - begun) * 1000)
                read = lexical.prepare(session, terms(question), segments)
                by_words = lexical.best(session, read, depth, only)
                by_meaning = dense.search(session, vector, depth, only=only)
            best = right[name][number]
            if len(by_meaning) < len(best):
                raise RuntimeError(f"{name}: {len(by_meaning)} chunks where {len(best)} pass")
            near.append(_recall(by_meaning, best))
            fused.append(
                _recall(
                    [(one.chunk_id, one.score) for one in fuse(by_words, by_meaning)],
                    [(one.chunk_id, one.score) for one in fuse(by_words, best)],
                )
            )
        found[name] = {
            "share": round(float(masks[name].mean()), 5),
            **_quantiles(times),
            "recall_at_10": round(statistics.fmean(fused), 4),
            "dense_recall_at_10": round(statistics.fmean(near), 4),
        }
    return found


def cpu(store: Store, corpus: Corpus, count: int, pids: Sequence[int]) -> dict[str, float]:
    """Milliseconds of CPU of one search without a filter: of this process, of the server that works
    most, and of all. Other programs do not change it, and on hosts of their own servers work at the
    same time."""
    queries, questions = corpus.queries(count), corpus.questions(count)
    segments: dict[int, lexical.Segment] = {}

    def spent() -> list[float]:
        here = time.process_time()
        return [here, *map(_of_tree, pids)]

    def run() -> None:
        for question, vector in zip(questions, queries, strict=True):
            with store.reading() as session:
                search(session, question, vector, segments, only=Filter())

    run()
    before = spent()
    run()
    each = [(now - then) * 1000 / count for now, then in zip(spent(), before, strict=True)]
    return {
        "cpu_ms_here": round(each[0], 1),
        "cpu_ms_busiest_server": round(max(each[1:]), 1),
        "cpu_ms_all": round(sum(each), 1),
    }


def _of_tree(pid: int) -> float:
    """Seconds of CPU of a server and the processes of its connections."""
    server = psutil.Process(pid)
    return sum(sum(one.cpu_times()[:2]) for one in (server, *server.children(recursive=True)))


def _recall(found: list[tuple[int, float]], right: list[tuple[int, float]]) -> float:
    """The share of the first ten that are among the first ten found."""
    wanted = {key for key, _ in right[:10]}
    return len(wanted & {key for key, _ in found[:10]}) / len(wanted) if wanted else 1.0


def encoding(count: int) -> dict[str, float]:
    """Milliseconds for the encoder to read one question, warm."""
    encoder = encoder_for(Settings(encoder="minilm"))
    question = "Does adjuvant chemotherapy improve survival in stage {} colon cancer?"
    times = []
    for number in range(-5, count):
        begun = time.perf_counter()
        encoder.encode([question.format(number)])
        times.append((time.perf_counter() - begun) * 1000)
    return _quantiles(times[5:])


def _quantiles(times: list[float]) -> dict[str, float]:
    times = sorted(times)
    return {
        "ms_p50": round(statistics.median(times), 1),
        "ms_p95": round(times[int(0.95 * (len(times) - 1))], 1),
    }


def main() -> None:
    """Measure each size, print a line for each filter, and all of it as JSON."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.search", description="Measure search in large indexes."
    )
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="chunks, by commas")
    parser.add_argument("--queries", type=int, default=200, help="for each filter")
    parser.add_argument("--keep", type=Path, help="a directory for the databases")
    parser.add_argument(
        "--partitions", type=int, default=0, help="then again on so many servers; not with --keep"
    )
    chosen = parser.parse_args()
    if chosen.partitions and chosen.keep:
        parser.error("--partitions moves what --keep would keep")
    segment_chunks = lexical.MAX_SEGMENT_CHUNKS
    body: dict[str, Any] = {"bench": "search", "load": round(os.getloadavg()[0], 1)}
    body["encoding_a_question"] = encoding(chosen.queries)
    print(f"a question is encoded in {body['encoding_a_question']['ms_p50']} ms (median)")
    for size in map(int, chosen.sizes.split(",")):
        corpus = Corpus(size)
        if chosen.partitions:
            segment_chunks = min(segment_chunks, -(-size // (4 * chosen.partitions)))
        with index(corpus, chosen.keep, segment_chunks) as (store, built, pid):
            found = measure(store, corpus, chosen.queries)
            work = cpu(store, corpus, chosen.queries, [pid])
            body[str(size)] = {"built": built, "searches": found, "work": work}
            if chosen.partitions:
                with spread(store, corpus, chosen.partitions) as (spreading, moving, pids):
                    there = measure(spreading, corpus, chosen.queries)
                    more = cpu(spreading, corpus, chosen.queries, [pid, *pids])
                body[str(size)]["spread"] = {"moved_in_s": moving, "searches": there, "work": more}
                print(f"one server {work}, {chosen.partitions} servers {more}")
                found |= {
                    f"{name}, {chosen.partitions} servers": row for name, row in there.items()
                }
        seconds = built["seconds"]
        print(
            f"{size:,} chunks: lexical index written in {seconds['segments']:.0f} s, "
            f"{built['lexical_mb']:,.0f} MB; vector index built in "
            f"{seconds['vector_index']:.0f} s, {built['vector_index_mb']:,.0f} MB"
        )
        for name, row in found.items():
            print(
                f"  filter {name}, {row['share']:.2%}: p50 {row['ms_p50']} ms, p95 {row['ms_p95']} "
                f"ms; recall@10 {row['recall_at_10']}, dense alone {row['dense_recall_at_10']}",
                flush=True,
            )
    print(json.dumps(body))


if __name__ == "__main__":
    main()
