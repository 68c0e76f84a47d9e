"""Search filters, as SQL conditions on version `d`, and the chunks that match them.

If few chunks match, they are listed and compared one by one, exactly; if many match, an index finds
the nearest that match (ADR 0013).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlmodel import Session

from store.index.partitions import at_each
from store.index.search_scope import CURRENT, CURRENT_THEN
from store.index.sizes import sizes
from store.index.wire import Ids, ask, ids_of

LEAST = 500
FACTOR = 30
"""Up to `LEAST` chunks count as few; in an index of n, up to `FACTOR` √n. Listing and comparing m
of them takes m steps; an HNSW scan for the nearest 60 takes 60 n/m, each 30 times as long with a
million chunks and less with fewer (benchmarks/search). Without an index, any number is few."""


@dataclass(frozen=True)
class Filter:
    """Conditions that must all hold; None means any.

    Only standing versions pass: those current now, or current at `as_of`, but never retracted ones.
    At least one tag must match. Whatever brought it, a guideline is one (`knowledge.works.kinds`).
    Versions without a date are outside every date range; a range includes both ends.
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
        """True if any condition is set beyond being current now."""
        return bool(self._asked)

    @property
    def wanted(self) -> str:
        """The SQL condition that row `t` of `version_tags` matches, without its standing."""
        return " AND ".join([_CONDITIONS[name] for name in self._asked] or ["true"])

    @property
    def conditions(self) -> str:
        """The SQL condition that version `d` of `tables` stands and matches."""
        return f"{self.standing} AND {self.wanted}"

    @property
    def standing(self) -> str:
        """The SQL condition that version `d` stands; its parameters are `moment`."""
        return CURRENT if self.as_of is None else CURRENT_THEN

    @property
    def moment(self) -> dict[str, Any]:
        """The parameters of `standing`."""
        return {} if self.as_of is None else {"as_of": self.as_of}

    @property
    def tables(self) -> str:
        """The tables that the conditions read, for the `FROM` clause."""
        join = " JOIN version_tags t ON t.version_id = d.id" if self.selects else ""
        return f"document_version d{join}"

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the conditions."""
        return {
            name: sorted(value) if isinstance(value, frozenset) else value
            for name, value in self._asked.items()
        }

    @property
    def _asked(self) -> Mapping[str, Any]:
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class Unchecked(Filter):
    """No condition at all, for a server that knows vectors and words, and no versions."""

    @property
    def standing(self) -> str:
        """The SQL condition that every version meets."""
        return "true"


_CONDITIONS = {
    "source_types": "(t.source_type = ANY(CAST(%(source_types)s AS varchar[]))"
    " OR t.kind = ANY(CAST(%(source_types)s AS varchar[])))",
    "focus": "t.focus && CAST(%(focus)s AS text[])",
    "diseases": "t.diseases && CAST(%(diseases)s AS text[])",
    "decisions": "t.decisions && CAST(%(decisions)s AS text[])",
    "published_from": "t.published_at >= CAST(%(published_from)s AS timestamptz)",
    "published_to": "t.published_at <= CAST(%(published_to)s AS timestamptz)",
    "version_ids": "t.version_id = ANY(CAST(%(version_ids)s AS uuid[]))",
    "as_of": "t.created_at <= CAST(%(as_of)s AS timestamptz)",
}


_ALL = 2**31
"""More versions than there are."""


def look(session: Session, only: Filter | None = None) -> None:
    """Send the query for how much of the index the planner expects to match `only`, unless this
    session knows the answer."""
    plans = session.info.setdefault("plans", {})
    if only is not None and only.selects and only not in plans:
        plans[only] = ask(
            session,
            f"EXPLAIN (FORMAT JSON) SELECT FROM version_tags t WHERE {only.wanted}",
            only.parameters,
        )


def few(session: Session, only: Filter, *, likely: bool = False) -> NDArray[np.int64] | None:
    """The ids of all chunks that match, ascending; None if there are many.

    They may not be standing: see `passing`. `session` reads one snapshot, so a list is valid until
    the session ends.

    Args:
        likely: list them even if the planner expects many.
    """
    listed: dict[Filter, NDArray[np.int64] | None] = session.info.setdefault("listed", {})
    if only in listed and not (likely and listed[only] is None):
        return listed[only]
    size = sizes(session)
    indexed = size.indexed or any(at_each(session, lambda _, its: sizes(its).indexed).values())
    most = max(LEAST, FACTOR * math.isqrt(size.chunks)) if indexed else _ALL
    listed[only] = None
    if likely or not indexed or _expected(session, only) <= most:
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
    """The planner's estimate of the share of the index that matches, in (0, 1]."""
    return min(1.0, max(_expected(session, only), 1) / max(sizes(session).chunks, 1))


def _expected(session: Session, only: Filter) -> int:
    """The planner's estimate of how many chunks match."""
    size = sizes(session)
    look(session, only)
    known = session.info["plans"]
    if not isinstance(known[only], int):
        ((plan,),) = known[only].fetchall()
        known[only] = plan[0]["Plan"]["Plan Rows"]
    expected: int = known[only] * size.chunks // max(size.versions, 1)
    return expected


UNSEEN = "CAST((SELECT CAST(%(ids)s AS bigint[])) AS bigint[])"
"""The array `ids` in SQL, hidden from the planner. Else the planner inspects each of thousands of
ids, which takes longer than the search."""


def ask_passing(session: Session, only: Filter, chunk_ids: NDArray[np.int64]) -> Any:
    """A cursor on the ids of the chunks in `chunk_ids` that pass."""
    return ask(
        session,
        f"SELECT c.id FROM chunk c JOIN {only.tables} ON d.id = c.version_id "  # noqa: S608
        f"WHERE c.id = ANY({UNSEEN}) AND {only.conditions}",
        {**only.parameters, "ids": Ids(chunk_ids)},
    )


def passing(session: Session, only: Filter, chunk_ids: NDArray[np.int64]) -> NDArray[np.bool_]:
    """A mask of the chunks that pass, (n,)."""
    return np.isin(chunk_ids, ids_of(ask_passing(session, only, chunk_ids).fetchall()))
