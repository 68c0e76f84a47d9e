"""How large the index of one server is, as its planner knows."""

from collections.abc import Sequence
from typing import NamedTuple

from store.index.wire import Reader, ask

HNSW_INDEX = "chunk_vector_hnsw"


class Sizes(NamedTuple):
    """Approximate row counts, from the last ANALYZE."""

    chunks: int
    versions: int
    windows: int
    indexed: bool
    """True if the vectors have a valid index."""

    @property
    def windows_each(self) -> float:
        """The average number of windows per chunk, from 1 to at most 3."""
        return min(3.0, max(1.0, self.windows / max(self.chunks, 1)))


def sizes(reader: Reader) -> Sizes:
    """The size of the index, read once in a session."""
    if "sizes" not in reader.info:
        ((counts,),) = ask(reader, SIZES).fetchall()
        learn(reader, counts)
    known: Sizes = reader.info["sizes"]
    return known


def learn(reader: Reader, counts: Sequence[int]) -> None:
    """Keep what `SIZES` selects, which another statement may bring along."""
    chunks, versions, windows, indexed = counts
    reader.info.setdefault("sizes", Sizes(chunks, versions, windows, bool(indexed)))


SIZES = f"""
    SELECT ARRAY[
        CAST(greatest(c.reltuples, 0) AS bigint), CAST(greatest(t.reltuples, 0) AS bigint),
        CAST(greatest(v.reltuples, 0) AS bigint), (
            SELECT count(*) FROM pg_index
            WHERE indexrelid = to_regclass('{HNSW_INDEX}') AND indisvalid)]
    FROM pg_class v JOIN pg_class c ON c.oid = CAST('chunk' AS regclass)
    LEFT JOIN pg_class t ON t.oid = to_regclass('version_tags')
    WHERE v.oid = CAST('chunk_vector' AS regclass)
"""  # noqa: S608  our own text
"""The fields of `Sizes` as one array. A partition has no `version_tags`."""
