"""Dense search with pgvector: exact among few vectors, HNSW with a check among many.

Vectors have length 1 (`Encoder.encode`), so the inner product is their cosine, and cheaper. Below
`EXACT_ROWS` windows there is no index: chunks are compared one by one, after their sketches have
excluded those far away (ADR 0026). Beyond, an HNSW index is used with iterative scans, which go on
until enough rows pass the filter. If a filter leaves few chunks, or the index yields too few, the
chunks are compared one by one instead (ADR 0007, 0013).
"""

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from pgvector import HalfVector
from sqlmodel import Session

from store.index import partitions
from store.index.bm25 import all_chunks
from store.index.filters import UNSEEN, Filter, Unchecked, few, passing, share
from store.index.partitions import Part, at_each, received
from store.index.sizes import HNSW_INDEX, sizes
from store.index.sketches import sketches, worth_it
from store.index.wire import Half, Ids, Reader, ask

Search = Callable[[], list[tuple[int, float]]]
"""A search in progress; calling it waits for the result."""

EXACT_ROWS = 20_000
"""Up to this many windows the sketches take about as long as HNSW and find more, and an import need
not maintain a graph, which takes 0.7 ms a window (ADR 0026)."""
CREATE_INDEX = (
    f"CREATE INDEX CONCURRENTLY {HNSW_INDEX} ON chunk_vector USING hnsw (embedding halfvec_ip_ops)"
)
_BUILD_LOCK = 0x4174746573740005  # "Attest", 5: one process at a time builds the index
_VALID = sa.text("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(:name)")
_BUILDING = sa.text(
    "SELECT EXISTS (SELECT FROM pg_stat_progress_create_index "
    "WHERE datname = current_database() AND relid = to_regclass('chunk_vector'))"
)
EF_SEARCH = 100
"""The least number of candidates in a step of the index scan (pgvector README, "Query Options"); a
third of the square root of all windows is used if that is more. Of two indexes of the same million
windows, at a fifth of the root, one had a recall of 0.98, the other 0.94 (benchmarks/search)."""


class EncoderMismatch(RuntimeError):
    """The index holds vectors of another encoder, which cannot be compared."""


_BUILT_WITH = sa.text(
    "SELECT (SELECT name FROM index_encoder), current_setting('transaction_read_only') = 'on'"
)


def require_encoder(session: Session, name: str, dimensions: int) -> None:
    """Check that the index was built with this encoder; claim it if it has none yet.

    A read-only session does not claim it: there are no vectors yet to compare with.

    Raises:
        EncoderMismatch: it was built with another encoder; says what to do.
    """
    have, reads = session.execute(_BUILT_WITH).one()
    if have is None and not reads:
        session.execute(
            sa.text(
                "INSERT INTO index_encoder VALUES (true, :name, :dimensions) ON CONFLICT DO NOTHING"
            ),
            {"name": name, "dimensions": dimensions},
        )
        have, _ = session.execute(_BUILT_WITH).one()
    if have not in (name, None):
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
        as_of: search the chunks current at this time; for callers without a filter.
        only: the filter for chunks; None: those current now, or at `as_of`.
    """
    return begin(session, query, k, only or Filter(as_of=as_of))()


def begin(session: Session, query: NDArray[np.float32], k: int, only: Filter) -> Search:
    """Send the query for the nearest chunks; the returned search gives the result of `search`.

    Inside `wire.together` the caller may do something else meanwhile.
    """
    if partitions.parts(session):
        return _at_all(session, query, k, only)
    indexed = sizes(session).indexed
    if not (only.selects or indexed):
        return _of_all(session, query, k, only)
    listed = few(session, only) if only.selects else None
    if listed is not None:
        return _nearly(session, query, k, only, listed)
    by_index = _by_index(session, query, k, only)

    def end() -> list[tuple[int, float]]:
        nearest = by_index()
        if len(nearest) >= k:
            return nearest
        # The index scan ended, or no more exist: look at the chunks it left out.
        listed = few(session, only, likely=True)
        if listed is None:
            return _everywhere(session, query, k, only)
        return _nearly(session, query, k, only, listed)()

    return end


def _whole(reader: Reader) -> NDArray[np.int64] | None:
    """All chunks of this server in the snapshot, ascending, if their words have been looked at."""
    segments = reader.info.get("segments")
    return None if segments is None else all_chunks(segments)


def _of_all(reader: Reader, query: NDArray[np.float32], k: int, only: Filter) -> Search:
    """The nearest standing chunks of a server without an index; if it has few, PostgreSQL compares
    them all, and is not told which there are."""
    whole = _whole(reader)
    if whole is not None and not len(whole):
        return list
    if whole is None or not worth_it(len(whole), k):
        return _among(reader, query, k, only, None)
    return _nearly(reader, query, k, only, whole)


def _at_all(session: Session, query: NDArray[np.float32], k: int, only: Filter) -> Search:
    """The nearest chunks of all servers, asked at once. They know no versions: what stands and
    matches is looked up among the nearest, and if too few do, among more."""
    listed = few(session, only) if only.selects else None
    many = only.selects and listed is None
    first = math.ceil(1.5 * k / share(session, only)) if many else 2 * k
    servers = sum(one.link is not None for one in partitions.parts(session))

    def begin(each: int) -> tuple[Search, dict[Part, Search]]:
        here = _unchecked(session, query, each, listed)
        return here, at_each(session, lambda _, its: _unchecked(its, query, each, listed))

    each = min(first, math.ceil(SPREAD * first / max(servers, 1)))
    begun = begin(each)

    def end() -> list[tuple[int, float]]:
        (here, there), chunks, asked = begun, first, each
        while True:
            lists = [here(), *received(session, there).values()]
            best = sorted(dict(chain(*lists)).items(), key=lambda one: (-one[1], one[0]))[:chunks]
            # A server that gave all it was asked for may hold more as near as its last.
            unseen = [nearest[-1][1] for nearest in lists if len(nearest) >= asked]
            if (
                unseen
                and asked < chunks
                and not (len(best) == chunks and best[-1][1] > max(unseen))
            ):
                asked = chunks
                here, there = begin(asked)
                continue
            keys = np.fromiter((key for key, _ in best), np.int64, len(best))
            passed = [best[at] for at in np.flatnonzero(passing(session, only, keys))]
            if len(passed) >= k or len(best) < chunks:
                return passed[:k]
            chunks, asked = chunks * 4, chunks * 4
            here, there = begin(asked)

    return end


SPREAD = 2.0
"""How many times its share of the nearest each server is first asked for. Ours: works are spread by
a hash, so the nearest are as well, but those of one work are together. At 1.5, one search in five
had to ask for more."""


def _unchecked(
    server: Reader, query: NDArray[np.float32], k: int, listed: NDArray[np.int64] | None
) -> Search:
    """The nearest chunks of one server, of those listed if it has them; they may not stand."""
    if listed is None:
        near = _by_index if sizes(server).indexed else _of_all
        return near(server, query, k, _ANY)
    whole = _whole(server)
    if whole is not None:
        listed = np.intersect1d(listed, whole, assume_unique=True)
        if not len(listed):
            return list
    return _nearly(server, query, k, _ANY, listed)


_ANY = Unchecked()


def _joined(only: Filter, tables: str) -> str:
    """The SQL that joins vectors `v` with versions `d`, for a server that has any."""
    if only is _ANY:
        return ""
    return f"JOIN chunk c ON c.id = v.chunk_id JOIN {tables} ON d.id = c.version_id "


def _by_index(reader: Reader, query: NDArray[np.float32], k: int, only: Filter) -> Search:
    """The nearest chunks as the planner finds them, by HNSW if there is an index."""
    size = sizes(reader)
    part = share(reader, only) if only.selects and isinstance(reader, Session) else 1.0

    def begin(chunks: int) -> tuple[int, Any]:
        windows = math.ceil(1.2 * chunks * size.windows_each)
        # A second step of a scan costs as much as the first: one should suffice.
        ef_search = int(
            min(1000, max(EF_SEARCH, math.sqrt(size.windows) / 3, 1.25 * windows / part))
        )
        ask(reader, _SCAN, {"ef_search": str(ef_search)})
        parameters = {"query": Half(query), **only.parameters}
        return windows, ask(reader, _nearest(only, windows), parameters)

    first = begin(k)

    def end() -> list[tuple[int, float]]:
        (windows, cursor), chunks = first, k
        while True:
            rows = cursor.fetchall()
            best = _best(rows)
            if len(best) >= k or len(rows) < windows:
                return best[:k]
            chunks *= 2
            windows, cursor = begin(chunks)

    return end


_SCAN = """
    SELECT set_config('hnsw.iterative_scan', 'strict_order', true),
           set_config('hnsw.ef_search', %(ef_search)s, true)
"""


def _nearest(only: Filter, windows: int) -> str:
    return (
        "SELECT v.chunk_id, -(v.embedding <#> CAST(%(query)s AS halfvec)) AS similarity "  # noqa: S608
        f"FROM chunk_vector v {_joined(only, only.tables)}WHERE {only.conditions} "
        f"ORDER BY v.embedding <#> CAST(%(query)s AS halfvec) LIMIT {windows}"
    )


def _nearly(
    reader: Reader, query: NDArray[np.float32], k: int, only: Filter, listed: NDArray[np.int64]
) -> Search:
    """The nearest standing chunks of those listed; their sketches exclude those far away."""
    near = sketches(reader).candidates(reader, query, k, listed)
    begun = _among(reader, query, k, only, near)

    def end() -> list[tuple[int, float]]:
        nearest = begun()
        if len(nearest) >= k or len(near) == len(listed):
            return nearest
        return _among(reader, query, k, only, listed)()

    return end


def _among(
    reader: Reader,
    query: NDArray[np.float32],
    k: int,
    only: Filter,
    listed: NDArray[np.int64] | None,
) -> Search:
    """The nearest standing chunks of those listed, or of all; reads more until `k` stand."""
    windows_each = sizes(reader).windows_each

    def begin(chunks: int) -> tuple[int, Any]:
        windows = math.ceil(chunks * windows_each)
        parameters = {"query": Half(query), "windows": windows, **only.moment}
        ids = {} if listed is None else {"ids": Ids(listed)}
        return windows, ask(reader, _compared(only, whole=listed is None), parameters | ids)

    most = k if only is _ANY else 2 * k
    first = begin(most)

    def end() -> list[tuple[int, float]]:
        (windows, cursor), chunks = first, most
        while True:
            rows = cursor.fetchall()
            best = _best((key, similarity) for key, similarity, stands in rows if stands)
            if len(best) >= k or len(rows) < windows:
                return best[:k]
            chunks *= 4
            windows, cursor = begin(chunks)

    return end


def _compared(only: Filter, *, whole: bool) -> str:
    """The SQL for the nearest `windows` of the chunks `ids`, or of all, compared one by one, and
    whether each stands: checking the nearest alone costs less than joining all of them first."""
    # Ordered by the negative distance: ordered by the distance itself, HNSW might be scanned.
    return (
        f"SELECT v.chunk_id, v.similarity, {only.standing} FROM ("  # noqa: S608  our own text
        "SELECT chunk_id, -(embedding <#> CAST(%(query)s AS halfvec)) AS similarity "
        f"FROM chunk_vector {'' if whole else f'WHERE chunk_id = ANY({UNSEEN})'} "
        "ORDER BY similarity DESC, chunk_id LIMIT %(windows)s) AS v "
        f"{_joined(only, 'document_version d')}"
        "ORDER BY v.similarity DESC, v.chunk_id"
    )


def _best(windows: Iterable[tuple[int, float]]) -> list[tuple[int, float]]:
    """Each chunk with the similarity of its first window."""
    best: dict[int, float] = {}
    for chunk_id, similarity in windows:
        best.setdefault(chunk_id, similarity)
    return list(best.items())


def _everywhere(
    session: Session, query: NDArray[np.float32], k: int, only: Filter
) -> list[tuple[int, float]]:
    """The nearest of all chunks that pass, comparing each of them."""
    parameters = {"query": Half(query), "k": k, **only.parameters}
    statement = (
        "WITH compared AS MATERIALIZED (SELECT v.chunk_id, "  # noqa: S608  our own text
        "-(v.embedding <#> CAST(%(query)s AS halfvec)) AS similarity "
        f"FROM chunk_vector v JOIN chunk c ON c.id = v.chunk_id JOIN {only.tables} "
        f"ON d.id = c.version_id WHERE {only.conditions}) "
        "SELECT chunk_id, max(similarity) AS similarity FROM compared GROUP BY chunk_id "
        "ORDER BY similarity DESC, chunk_id LIMIT %(k)s"
    )
    return ask(session, statement, parameters).fetchall()


def ensure_index(connection: sa.Connection) -> bool:
    """Build the HNSW index once the table is large; returns True if it did. Needs autocommit.

    An index whose build was interrupted is not valid: PostgreSQL keeps it up to date but never
    scans it, so it is rebuilt. An index that another process is building is left alone.
    """
    alone = {"key": _BUILD_LOCK}
    if not connection.execute(sa.text("SELECT pg_try_advisory_lock(:key)"), alone).scalar_one():
        return False
    try:
        return _ensure_index(connection)
    finally:
        connection.execute(sa.text("SELECT pg_advisory_unlock(:key)"), alone)


def _ensure_index(connection: sa.Connection) -> bool:
    rows = connection.execute(
        sa.text("SELECT reltuples FROM pg_class WHERE relname = 'chunk_vector'")
    ).scalar_one()
    if rows < EXACT_ROWS:
        return False
    valid = connection.execute(_VALID, {"name": HNSW_INDEX}).scalar_one_or_none()
    if valid or connection.execute(_BUILDING).scalar_one():
        return False
    if valid is not None:
        connection.execute(sa.text(f"DROP INDEX CONCURRENTLY IF EXISTS {HNSW_INDEX}"))
    connection.execute(sa.text(CREATE_INDEX))
    return True
