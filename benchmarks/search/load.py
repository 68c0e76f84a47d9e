"""Fills a database with a synthetic corpus, as ingest and embed would leave it, in bulk."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

import numpy as np
import sqlalchemy as sa
from sqlmodel import Session

from benchmarks.search.corpus import BLOCK, Corpus
from store.index import dense, lexical

CHARACTERS = 1_100
"""Of a chunk: what a SciFact chunk has on average."""
SUPERSEDED, RETRACTED = 0.10, 0.01
FIRST_DAY = datetime(2006, 1, 1, tzinfo=UTC)
DAYS = 20 * 365
STORED_AT = datetime(2026, 1, 1, tzinfo=UTC)

_VECTOR = np.dtype(
    [
        ("fields", ">i2"),
        *(("id_size", ">i4"), ("chunk_id", ">i8")),
        *(("start_size", ">i4"), ("start", ">i4"), ("end_size", ">i4"), ("end", ">i4")),
        *(("size", ">i4"), ("dimensions", ">i2"), ("unused", ">i2"), ("vector", ">f2", (384,))),
    ]
)
"""A row of `chunk_vector` as COPY reads it: PostgreSQL manual, COPY, "Binary Format"."""


def version_id(document: int) -> UUID:
    """The id of the one version of a document."""
    return UUID(int=(1 << 100) + document)


def statuses(corpus: Corpus) -> list[str]:
    """The status of each document's version."""
    rng = np.random.default_rng(corpus.seed + 8)
    drawn = rng.random(corpus.documents[-1] + 1)
    return [
        "retracted"
        if one < RETRACTED
        else "superseded"
        if one < RETRACTED + SUPERSEDED
        else "current"
        for one in drawn.tolist()
    ]


def published(corpus: Corpus) -> list[datetime]:
    """When each document was published."""
    rng = np.random.default_rng(corpus.seed + 9)
    days = rng.integers(0, DAYS, corpus.documents[-1] + 1)
    return [FIRST_DAY + timedelta(days=day) for day in days.tolist()]


def load(engine: sa.Engine, corpus: Corpus, segment_chunks: int) -> dict[str, float]:
    """Write the corpus; gives the seconds of each part. Foreign keys are not checked meanwhile.

    Of the lexical segments they are those of writing alone: drawing the words takes longer.
    """
    seconds = {}
    parts: dict[str, Callable[[Session, Corpus], float | None]] = {
        "documents": _documents,
        "chunks": _chunks,
        "vectors": _vectors,
        "segments": partial(_segments, most=segment_chunks),
    }
    for name, write in parts.items():
        begun = time.perf_counter()
        with Session(engine) as session:
            session.execute(sa.text("SET LOCAL session_replication_role = replica"))
            session.execute(sa.text("SET LOCAL idle_in_transaction_session_timeout = 0"))
            drawing = write(session, corpus) or 0.0
            session.commit()
        seconds[name] = round(time.perf_counter() - begun - drawing, 1)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(sa.text("VACUUM ANALYZE"))
    return seconds


def _cursor(session: Session) -> Any:
    connection = session.connection().connection.driver_connection
    assert connection is not None
    return connection.cursor()


def _copy(session: Session, table: str, columns: str, rows: Iterator[Sequence[Any]]) -> None:
    with _cursor(session) as cursor, cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def _documents(session: Session, corpus: Corpus) -> None:
    kinds, moments, states = corpus.source_types, published(corpus), statuses(corpus)
    words = corpus.text(2_000_000)
    span = 3 * CHARACTERS
    starts = np.random.default_rng(1).integers(0, len(words) - span, len(kinds)).tolist()
    ids = [version_id(number) for number in range(len(kinds))]
    _copy(
        session,
        "document",
        "id, source_type, source_key, created_at",
        ((one, kind, str(one), STORED_AT) for one, kind in zip(ids, kinds, strict=True)),
    )
    _copy(
        session,
        "document_version",
        "id, document_id, n, content_hash, title, text, structure, source_type, identifiers, "
        "authors, labels, published_at, published_precision, fetched_at, status, superseded_at, "
        "created_at",
        (
            (
                *(one, one, 1, "", words[start : start + 80], words[start : start + span]),
                *("{}", kind, "{}", "[]", "[]", moment, "day", STORED_AT, state),
                *(None if state == "current" else STORED_AT + timedelta(days=30), STORED_AT),
            )
            for one, kind, moment, state, start in zip(
                ids, kinds, moments, states, starts, strict=True
            )
        ),
    )


def _packed(ids: Iterable[int]) -> bytes:
    """Chunk ids as `version_tags` holds them."""
    return b"".join(one.to_bytes(8, "big") for one in ids)


def _chunks(session: Session, corpus: Corpus) -> None:
    _copy(
        session,
        "chunk",
        'id, version_id, ordinal, section, start, "end"',
        (
            (
                *(number + 1, version_id(number // 3), number % 3, "Results"),
                *(number % 3 * CHARACTERS, (number % 3 + 1) * CHARACTERS),
            )
            for number in range(corpus.chunks)
        ),
    )
    _copy(
        session,
        "version_tags",
        "version_id, focus, diseases, decisions, vocabulary, source_type, published_at, "
        "created_at, chunk_ids",
        (
            (
                *(version_id(number), [f"disease_{tag}"], [f"disease_{tag}"], [], "bench"),
                *(kind, moment, STORED_AT, _packed(range(3 * number + 1, 3 * number + 4))),
            )
            for number, (tag, kind, moment) in enumerate(
                zip(corpus.diseases.tolist(), corpus.source_types, published(corpus), strict=True)
            )
        ),
    )
    session.execute(
        sa.text("SELECT setval(pg_get_serial_sequence('chunk', 'id'), :last)"),
        {"last": corpus.chunks},
    )


def _vectors(session: Session, corpus: Corpus) -> None:
    dense.require_encoder(session, "bench", 384)
    header = b"PGCOPY\n\xff\r\n\0" + bytes(8)
    with (
        _cursor(session) as cursor,
        cursor.copy(
            'COPY chunk_vector (chunk_id, start, "end", embedding) FROM STDIN (FORMAT BINARY)'
        ) as copy,
    ):
        copy.write(header)
        for number, vectors in enumerate(corpus.vectors()):
            rows = np.zeros(len(vectors), _VECTOR)
            rows["fields"], rows["id_size"], rows["start_size"], rows["end_size"] = 4, 8, 4, 4
            rows["size"], rows["dimensions"] = 4 + 2 * 384, 384
            rows["chunk_id"] = number * BLOCK + 1 + np.arange(len(vectors))
            rows["end"] = CHARACTERS
            rows["vector"] = vectors
            copy.write(rows.tobytes())
        copy.write(b"\xff\xff")


def _segments(session: Session, corpus: Corpus, most: int) -> float:
    """Gives the seconds that went into drawing postings."""
    lengths = corpus.lengths()
    drawing = 0.0
    for number, first in enumerate(range(0, corpus.chunks, most)):
        part = lengths[first : first + most]
        ids = np.arange(first + 1, first + 1 + len(part), dtype=np.int64)
        begun = time.perf_counter()
        postings = corpus.postings(len(part), number)
        drawing += time.perf_counter() - begun
        lexical.insert_segment(session, 4, lexical.Segment(ids, part), postings)
    return drawing
