"""Dense search with pgvector: exact among few vectors, HNSW with a check among many.

Vectors are of length 1 (`Encoder.encode`), so the inner product is their cosine, and cheaper.
Below `EXACT_ROWS` windows there is no index. Beyond, an HNSW index is used with iterative scans:
they go on until enough rows pass the filter. Where a filter leaves few chunks, these are compared
one by one instead, and so they are where the index yields too few (ADR 0007, 0013).
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from pgvector import HalfVector
from sqlmodel import Session

from store.index.filters import Filter, few, passing, share, unseen

EXACT_ROWS = 2_000
"""A scan of so many windows with the join takes as long as HNSW does: 2 ms on a free core."""
HNSW_INDEX = "chunk_vector_hnsw"
CREATE_INDEX = (
    f"CREATE INDEX CONCURRENTLY {HNSW_INDEX} ON chunk_vector USING hnsw (embedding halfvec_ip_ops)"
)
EF_SEARCH = 100
"""How many neighbours a step of the index scan keeps at least (pgvector README, "Query Options"),
and a fifth of the root of all windows where that is more (benchmarks/search.py)."""


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
        copy.set_types(["int8", "int4", "int4", "bytea"])  # bytes as pgvector's halfvec_recv reads
        for chunk_id, start, end, vector in windows:
            copy.write_row((chunk_id, start, end, HalfVector(vector).to_binary()))


def search(
    session: Session,
    query: NDArray[np.float32],
    k: int,
    as_of: datetime | None = None,
    *,
    only: Filter | None = None,
) -> list[tuple[int, float]]:
    """The `k` nearest of the chunks that pass, with their cosine similarity, best first.

    A chunk counts with its best window. `session` reads one snapshot (`Store.reading`).

    Args:
        query: unit vector, (d,).
        as_of: search what was current then; for callers without a filter.
        only: what chunks have to be; those current now, or at `as_of`, if left out.
    """
    only = only or Filter(as_of=as_of)
    listed = few(session, only) if only.selects else None
    if listed is None:
        found = _by_index(session, query, k, only)
        if len(found) >= k:
            return found
        # The index ran out, or no more exist: what it left out decides.
        listed = few(session, only, likely=True)
    if listed is None:
        return _everywhere(session, query, k, only)
    return _among(session, query, k, only, listed)


def _by_index(
    session: Session, query: NDArray[np.float32], k: int, only: Filter
) -> list[tuple[int, float]]:
    """The nearest as the planner finds them, by HNSW where there is an index."""
    part = share(session, only) if only.selects else 1.0
    nearest = sa.text(
        "SELECT v.chunk_id, -(v.embedding <#> CAST(:query AS halfvec)) AS similarity "  # noqa: S608
        f"FROM chunk_vector v JOIN chunk c ON c.id = v.chunk_id JOIN {only.tables} "
        f"ON d.id = c.version_id WHERE {only.conditions} "
        "ORDER BY v.embedding <#> CAST(:query AS halfvec) LIMIT :windows"
    )
    chunks = k
    while True:
        asked = {"chunks": chunks, "part": part, "ef_search": EF_SEARCH}
        windows = session.execute(_SCAN, asked).scalar_one()
        parameters = {"query": HalfVector(query).to_text(), "windows": windows}
        rows = session.execute(nearest, parameters | only.parameters).all()
        best: dict[int, float] = {}
        for row in rows:
            best.setdefault(row.chunk_id, row.similarity)
        if len(best) >= k or len(rows) < windows:
            return list(best.items())[:k]
        chunks *= 2


_SCAN = sa.text(
    """
    SELECT CAST(w.windows AS integer), set_config('hnsw.iterative_scan', 'strict_order', true),
           -- A second step of a scan costs as much as the first: one should do.
           set_config('hnsw.ef_search', CAST(CAST(least(1000, greatest(
               :ef_search, sqrt(w.rows) / 5, 1.25 * w.windows / :part)) AS integer) AS text), true),
           -- A plan for any filter would be one for none in particular.
           set_config('plan_cache_mode', 'force_custom_plan', true)
    FROM (SELECT ceil(1.2 * :chunks * least(3, greatest(1, v.reltuples / greatest(c.reltuples, 1))))
                 AS windows, greatest(v.reltuples, 0) AS rows
          FROM pg_class v, pg_class c
          WHERE v.oid = CAST('chunk_vector' AS regclass) AND c.oid = CAST('chunk' AS regclass)) AS w
    """
)
"""Sets up a scan; gives how many windows are likely to be of so many chunks."""


def _among(
    session: Session, query: NDArray[np.float32], k: int, only: Filter, listed: NDArray[np.int64]
) -> list[tuple[int, float]]:
    """The nearest of the listed chunks that pass: the nearest of all, as many as it takes."""
    wanted = 2 * k
    while True:
        found = _compared(
            session,
            f"WHERE v.chunk_id = ANY({unseen('listed')})",
            {"query": HalfVector(query).to_text(), "k": wanted, "listed": listed.tolist()},
        )
        keys = np.fromiter((key for key, _ in found), np.int64, len(found))
        passed = [found[place] for place in np.flatnonzero(passing(session, only, keys))]
        if len(passed) >= k or len(found) < wanted:
            return passed[:k]
        wanted *= 4


def _everywhere(
    session: Session, query: NDArray[np.float32], k: int, only: Filter
) -> list[tuple[int, float]]:
    """The nearest of all chunks that pass, each of them looked at."""
    return _compared(
        session,
        f"JOIN chunk c ON c.id = v.chunk_id JOIN {only.tables} ON d.id = c.version_id "
        f"WHERE {only.conditions}",
        {"query": HalfVector(query).to_text(), "k": k, **only.parameters},
    )


def _compared(session: Session, which: str, parameters: dict[str, Any]) -> list[tuple[int, float]]:
    """The `k` nearest chunks of windows `v` compared one by one, without the HNSW index."""
    rows = session.execute(
        sa.text(
            "WITH compared AS MATERIALIZED (SELECT v.chunk_id, "  # noqa: S608  our own text
            "-(v.embedding <#> CAST(:query AS halfvec)) AS similarity "
            f"FROM chunk_vector v {which}) "
            "SELECT chunk_id, max(similarity) AS similarity FROM compared GROUP BY chunk_id "
            "ORDER BY similarity DESC, chunk_id LIMIT :k"
        ),
        parameters,
    )
    return [(row.chunk_id, row.similarity) for row in rows]


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
    connection.execute(sa.text(CREATE_INDEX))
    return True
