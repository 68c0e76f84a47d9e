"""Dense search with pgvector: exact while the index is small, HNSW with a check beyond.

Below `EXACT_ROWS` windows a sequential scan is exact, takes a few milliseconds and costs nothing at
ingest; above it an HNSW index is built once and used with iterative scans, so that a filter never
leaves fewer rows than exist (pgvector README, "Iterative Index Scans"; ADR 0007).
"""

from collections.abc import Sequence
from datetime import datetime

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from pgvector import Vector
from sqlmodel import Session

from store.index.standing import STANDING

EXACT_ROWS = 20_000
HNSW_INDEX = "chunk_vector_hnsw"


class EncoderMismatch(RuntimeError):
    """The index holds vectors of another encoder: they do not compare."""


def require_encoder(session: Session, name: str, dimensions: int) -> None:
    """Claim the index for this encoder, or check that it is the one it was built with.

    Raises:
        EncoderMismatch: says what to do.
    """
    session.execute(
        sa.text(
            "INSERT INTO index_encoder VALUES (true, :name, :dimensions) ON CONFLICT DO NOTHING"
        ),
        {"name": name, "dimensions": dimensions},
    )
    have = session.execute(sa.text("SELECT name FROM index_encoder")).scalar_one()
    if have != name:
        raise EncoderMismatch(
            f"the index was built with the encoder {have!r}, this process has {name!r}: "
            "set ATTEST_ENCODER back, or start with an empty database"
        )


def write_vectors(
    session: Session, windows: Sequence[tuple[int, int, int, NDArray[np.float32]]]
) -> None:
    """Store windows, each (chunk id, start, end, unit vector), in the session's transaction."""
    connection = session.connection().connection.driver_connection
    assert connection is not None
    with (
        connection.cursor() as cursor,
        cursor.copy(
            'COPY chunk_vector (chunk_id, start, "end", embedding) FROM STDIN (FORMAT BINARY)'
        ) as copy,
    ):
        copy.set_types(["int8", "int4", "int4", "bytea"])  # bytes as pgvector's vector_recv reads
        for chunk_id, start, end, vector in windows:
            copy.write_row((chunk_id, start, end, Vector(vector).to_binary()))


_NEAREST = f"""
    SELECT v.chunk_id, 1 - (v.embedding <=> CAST(:query AS vector)) AS similarity
    FROM chunk_vector v JOIN chunk c ON c.id = v.chunk_id
    JOIN document_version d ON d.id = c.version_id
    WHERE {STANDING}
    ORDER BY v.embedding <=> CAST(:query AS vector) LIMIT :k
"""  # noqa: S608  the standing rule is our own text


def search(
    session: Session, query: NDArray[np.float32], k: int, as_of: datetime | None = None
) -> list[tuple[int, float]]:
    """The `k` standing chunks nearest to `query` with their cosine similarity, best first.

    A chunk counts with its best window. If the index yields fewer windows than asked for, the
    search is done again exactly.
    """
    parameters = {"query": Vector(query).to_text(), "k": 3 * k, "as_of": as_of}
    session.execute(sa.text("SET LOCAL hnsw.iterative_scan = strict_order"))
    session.execute(sa.text("SET LOCAL hnsw.ef_search = 200"))
    rows = session.execute(sa.text(_NEAREST), parameters).all()
    if len(rows) < 3 * k:
        session.execute(sa.text("SET LOCAL enable_indexscan = off"))
        rows = session.execute(sa.text(_NEAREST), parameters).all()
        session.execute(sa.text("SET LOCAL enable_indexscan = on"))
    best: dict[int, float] = {}
    for row in rows:
        best.setdefault(row.chunk_id, float(row.similarity))
    return list(best.items())[:k]


def ensure_index(connection: sa.Connection) -> bool:
    """Build the HNSW index once the table is large; says whether it did. Needs autocommit."""
    rows = connection.execute(
        sa.text("SELECT reltuples FROM pg_class WHERE relname = 'chunk_vector'")
    ).scalar_one()
    there = connection.execute(
        sa.text("SELECT to_regclass(:name)"), {"name": HNSW_INDEX}
    ).scalar_one()
    if there is not None or rows < EXACT_ROWS:
        return False
    connection.execute(
        sa.text(
            f"CREATE INDEX CONCURRENTLY {HNSW_INDEX} ON chunk_vector "
            "USING hnsw (embedding vector_cosine_ops)"
        )
    )
    return True
