"""What a search is confined to, as conditions in SQL on version `d`, and the chunks that meet them.

Few matching chunks are listed and searched one by one, exactly; among many, an index finds the
nearest that match (ADR 0013).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlmodel import Session

from store.index.search_scope import CURRENT, CURRENT_THEN
from store.index.wire import Ids, ask, ids_of

LEAST = 500
FACTOR = 30
"""Up to `LEAST` chunks are always few; in an index of n, up to `FACTOR` √n. Listing and comparing m
of them takes m steps, an HNSW scan for the nearest 60 takes 60 n/m, each 30 times as long among a
million and less among fewer (benchmarks/search.py). Where there is no index, all are few."""


@dataclass(frozen=True)
class Filter:
    """Conditions that all have to hold; None means any.

    Only standing versions pass: those current now, or current at `as_of`; retracted ones never.
    Of tags, one has to agree. Versions without a date are outside every range of dates; both ends
    belong to it.
    """

    source_types: frozenset[str] | None = None
    focus: frozenset[str] | None = None
    diseases: frozenset[str] | None = None
    decisions: frozenset[str] | None = None
    published_from: datetime | None = None
    published_to: datetime | None = None
    version_ids: frozenset[UUID] | None = None
    as_of: datetime | None = None

    @property
    def selects(self) -> bool:
        """Whether it asks for more than standing now."""
        return bool(self._asked)

    @property
    def wanted(self) -> str:
        """In SQL, whether row `t` of `version_tags` is what is asked for, whatever its standing."""
        return " AND ".join([_CONDITIONS[name] for name in self._asked] or ["true"])

    @property
    def conditions(self) -> str:
        """In SQL, whether version `d` of `tables` passes."""
        return f"{self.standing} AND {self.wanted}"

    @property
    def standing(self) -> str:
        """In SQL, whether version `d` stands, whatever else is asked; `moment` goes with it."""
        return CURRENT if self.as_of is None else CURRENT_THEN

    @property
    def moment(self) -> dict[str, Any]:
        """What `standing` is asked with."""
        return {} if self.as_of is None else {"as_of": self.as_of}

    @property
    def tables(self) -> str:
        """The tables that the conditions read, to stand after `FROM`."""
        join = " JOIN version_tags t ON t.version_id = d.id" if self.selects else ""
        return f"document_version d{join}"

    @property
    def parameters(self) -> dict[str, Any]:
        """What the conditions are asked with."""
        return {
            name: sorted(value) if isinstance(value, frozenset) else value
            for name, value in self._asked.items()
        }

    @property
    def _asked(self) -> Mapping[str, Any]:
        return {name: value for name, value in vars(self).items() if value is not None}


_CONDITIONS = {
    "source_types": "t.source_type = ANY(CAST(%(source_types)s AS varchar[]))",
    "focus": "t.focus && CAST(%(focus)s AS text[])",
    "diseases": "t.diseases && CAST(%(diseases)s AS text[])",
    "decisions": "t.decisions && CAST(%(decisions)s AS text[])",
    "published_from": "t.published_at >= CAST(%(published_from)s AS timestamptz)",
    "published_to": "t.published_at <= CAST(%(published_to)s AS timestamptz)",
    "version_ids": "t.version_id = ANY(CAST(%(version_ids)s AS uuid[]))",
    "as_of": "t.created_at <= CAST(%(as_of)s AS timestamptz)",
}


HNSW_INDEX = "chunk_vector_hnsw"
_ALL = 2**31
"""More versions than there are."""


class Sizes(NamedTuple):
    """About how many rows there are, as the last ANALYZE counted them."""

    chunks: int
    versions: int
    windows: int
    indexed: bool
    """Whether there is an index of the vectors."""

    @property
    def windows_each(self) -> float:
        """Of a chunk; 3 where there are more."""
        return min(3.0, max(1.0, self.windows / max(self.chunks, 1)))


def sizes(session: Session) -> Sizes:
    """How large the index is."""
    look(session)
    known: Sizes | Any = session.info["sizes"]
    if not isinstance(known, Sizes):
        known = session.info["sizes"] = Sizes(*known.fetchone())
    return known


def look(session: Session, only: Filter | None = None) -> None:
    """Ask how large the index is, and how much of it the planner expects to be what is asked for,
    unless that is known in this session."""
    if "sizes" not in session.info:
        session.info["sizes"] = ask(session, _SIZES)
    plans = session.info.setdefault("plans", {})
    if only is not None and only.selects and only not in plans:
        plans[only] = ask(
            session,
            f"EXPLAIN (FORMAT JSON) SELECT FROM version_tags t WHERE {only.wanted}",
            only.parameters,
        )


_SIZES = f"""
    SELECT CAST(greatest(c.reltuples, 0) AS bigint), CAST(greatest(t.reltuples, 0) AS bigint),
           CAST(greatest(v.reltuples, 0) AS bigint), EXISTS (
               SELECT FROM pg_index WHERE indexrelid = to_regclass('{HNSW_INDEX}') AND indisvalid)
    FROM pg_class c, pg_class t, pg_class v WHERE c.oid = CAST('chunk' AS regclass)
      AND t.oid = CAST('version_tags' AS regclass) AND v.oid = CAST('chunk_vector' AS regclass)
"""  # noqa: S608  our own text


def few(session: Session, only: Filter, *, likely: bool = False) -> NDArray[np.int64] | None:
    """The ids of all chunks that are what is asked for, ascending; None if they are many.

    Whether they stand is another question: see `passing`. `session` reads one snapshot, so that
    what was listed once in it holds until it ends.

    Args:
        likely: list them though the planner expects many.
    """
    listed: dict[Filter, NDArray[np.int64] | None] = session.info.setdefault("listed", {})
    if only in listed and not (likely and listed[only] is None):
        return listed[only]
    size = sizes(session)
    most = max(LEAST, FACTOR * math.isqrt(size.chunks)) if size.indexed else _ALL
    listed[only] = None
    if likely or not size.indexed or _expected(session, only) <= most:
        ((packed,),) = ask(
            session,
            "SELECT string_agg(packed, '') FROM (SELECT t.chunk_ids AS packed "  # noqa: S608
            f"FROM version_tags t WHERE {only.wanted} LIMIT %(most)s) AS listed",
            {**only.parameters, "most": most + 1},
        ).fetchall()
        ids = np.frombuffer(packed or b"", ">i8").astype(np.int64)
        if len(ids) <= most:
            listed[only] = np.sort(ids)
    return listed[only]


def share(session: Session, only: Filter) -> float:
    """About how much of the index is what is asked for, as the planner expects, in (0, 1]."""
    return min(1.0, max(_expected(session, only), 1) / max(sizes(session).chunks, 1))


def _expected(session: Session, only: Filter) -> int:
    """How many chunks the planner expects to be what is asked for."""
    size = sizes(session)
    look(session, only)
    known = session.info["plans"]
    if not isinstance(known[only], int):
        ((plan,),) = known[only].fetchall()
        known[only] = plan[0]["Plan"]["Plan Rows"]
    expected: int = known[only] * size.chunks // max(size.versions, 1)
    return expected


UNSEEN = "CAST((SELECT CAST(%(ids)s AS bigint[])) AS bigint[])"
"""The array `ids` in SQL, so that the planner does not look into it, as it else does at each of
thousands for longer than the search takes."""


def ask_passing(session: Session, only: Filter, chunk_ids: NDArray[np.int64]) -> Any:
    """A cursor on the ids of those of these chunks that pass."""
    return ask(
        session,
        f"SELECT c.id FROM chunk c JOIN {only.tables} ON d.id = c.version_id "  # noqa: S608
        f"WHERE c.id = ANY({UNSEEN}) AND {only.conditions}",
        {**only.parameters, "ids": Ids(chunk_ids)},
    )


def passing(session: Session, only: Filter, chunk_ids: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of these chunks pass, (n,)."""
    return np.isin(chunk_ids, ids_of(ask_passing(session, only, chunk_ids).fetchall()))
