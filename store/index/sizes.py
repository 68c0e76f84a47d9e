"""How large the index of one server is, as its planner knows."""

from typing import Any, NamedTuple

from sqlmodel import Session

from store.index.wire import ask

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


def sizes(session: Session) -> Sizes:
    """The size of the index, read once in a session."""
    ask_sizes(session)
    known: Sizes | Any = session.info["sizes"]
    if not isinstance(known, Sizes):
        known = session.info["sizes"] = Sizes(*known.fetchone())
    return known


def ask_sizes(session: Session) -> None:
    """Send the query for the size of the index, unless this session has."""
    if "sizes" not in session.info:
        session.info["sizes"] = ask(session, _SIZES)


_SIZES = f"""
    SELECT CAST(greatest(c.reltuples, 0) AS bigint),
           CAST(coalesce(greatest(t.reltuples, 0), 0) AS bigint),
           CAST(greatest(v.reltuples, 0) AS bigint), EXISTS (
               SELECT FROM pg_index WHERE indexrelid = to_regclass('{HNSW_INDEX}') AND indisvalid)
    FROM pg_class v JOIN pg_class c ON c.oid = CAST('chunk' AS regclass)
    LEFT JOIN pg_class t ON t.oid = to_regclass('version_tags')
    WHERE v.oid = CAST('chunk_vector' AS regclass)
"""  # noqa: S608  our own text
"""A partition has no `version_tags`."""
