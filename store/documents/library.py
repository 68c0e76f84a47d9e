"""What is held, for people who look through it: by filter, by words, and by what rests on it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import numpy as np
import sqlalchemy as sa
from sqlmodel import Session

from store.core.cursors import InvalidCursor, pack, unpack
from store.index import lexical
from store.index.filters import Filter
from store.index.terms import terms
from store.index.wire import Ids, ask

State = Literal["current", "superseded", "retracted"]
UPLOADED = "uploaded"
"""Stands for a source where nobody but a person sent the document."""


@dataclass(frozen=True)
class Wanted:
    """What a listing is limited to; None means any. A version without a date is in no range."""

    source_type: str | None = None
    source: str | None = None
    disease: str | None = None
    published_from: datetime | None = None
    published_to: datetime | None = None
    state: State = "current"


@dataclass(frozen=True)
class Held:
    """A version as the library lists it."""

    document_id: UUID
    version_id: UUID
    n: int
    title: str
    source_type: str
    source: str | None
    publisher: str | None
    publication_type: str | None
    published_at: datetime | None
    published_precision: str
    fetched_at: datetime
    status: str
    diseases: Sequence[str]


@dataclass(frozen=True)
class Found:
    """A passage with the words that were looked for: `text` is `[start, end)` of its version."""

    document_id: UUID
    n: int
    title: str
    source_type: str
    published_at: datetime | None
    published_precision: str
    section: str
    start: int
    end: int
    text: str
    score: float


@dataclass(frozen=True)
class Resting:
    """An answer that cites a document, in its version `n`."""

    question_id: UUID
    text: str
    asked_at: datetime
    n: int
    recall: str | None


_LINE = """
    SELECT v.document_id, v.id AS version_id, v.n, v.title, v.source_type, v.source, v.publisher,
           v.publication_type, v.published_at, v.published_precision, v.fetched_at, v.status,
           t.diseases
    FROM version_tags t JOIN document_version v ON v.id = t.version_id
    WHERE v.status = :state
"""
_WHERE = {
    "source_type": "t.source_type = :source_type",
    "source": "v.source = :source",
    "disease": "t.diseases && ARRAY[CAST(:disease AS text)]",
    "published_from": "t.published_at >= :published_from",
    "published_to": "t.published_at <= :published_to",
}


def listing(
    session: Session, wanted: Wanted, *, cursor: str | None, limit: int
) -> tuple[list[Held], str | None]:
    """A page of versions, the newest published first and those without a date last, and the cursor
    of the next page.

    Raises:
        InvalidCursor: `cursor` was not given out by this listing.
    """
    asked = {name: value for name, value in vars(wanted).items() if value is not None}
    clauses = [clause for name, clause in _WHERE.items() if name in asked]
    if asked.get("source") == UPLOADED:
        clauses[clauses.index(_WHERE["source"])] = "v.source IS NULL"
    query = " AND ".join([_LINE, *clauses])
    at, last = _position(cursor)
    rows: list[Held] = []
    if cursor is None or at is not None:
        behind = "AND (t.published_at, t.version_id) < (:at, :last)" if at else ""
        rows = _rows(
            session,
            f"{query} AND t.published_at IS NOT NULL {behind} "
            "ORDER BY t.published_at DESC, t.version_id DESC LIMIT :limit",
            {**asked, "at": at, "last": last, "limit": limit + 1},
        )
        last = None
    if len(rows) <= limit:  # the dated ones are through
        behind = "AND t.version_id < :last" if last else ""
        rows += _rows(
            session,
            f"{query} AND t.published_at IS NULL {behind} ORDER BY t.version_id DESC LIMIT :limit",
            {**asked, "last": last, "limit": limit + 1 - len(rows)},
        )
    shown = rows[:limit]
    if len(rows) <= limit:
        return shown, None
    end = shown[-1]
    dated = end.published_at.isoformat() if end.published_at else ""
    return shown, pack([dated, str(end.version_id)])


def _rows(session: Session, query: str, parameters: dict[str, Any]) -> list[Held]:
    return [Held(**row._mapping) for row in session.execute(sa.text(query), parameters)]


def _position(cursor: str | None) -> tuple[datetime | None, UUID | None]:
    if cursor is None:
        return None, None
    at, key = unpack(cursor, [str, str])
    try:
        return datetime.fromisoformat(str(at)) if at else None, UUID(str(key))
    except ValueError as error:
        raise InvalidCursor("use the next_cursor of the page before, unchanged") from error


_PASSAGES = """
    SELECT c.id, v.document_id, v.n, v.title, v.source_type, v.published_at, v.published_precision,
           c.section, c.start, c."end", substr(v.text, c.start + 1, c."end" - c.start)
    FROM chunk c JOIN document_version v ON v.id = c.version_id
    WHERE c.id = ANY(CAST(%(ids)s AS bigint[]))
"""


def search(
    session: Session,
    words: str,
    segments: dict[int, lexical.Segment],
    *,
    only: Filter,
    limit: int,
) -> list[Found]:
    """The passages that have these words, best first, by BM25: words are found, not meanings.

    Args:
        session: must read one snapshot (`Store.reading`).
        segments: the process's cache of lexical segments.
        only: what passages have to be.
    """
    best = dict(lexical.search(session, terms(words), limit, segments, only=only))
    ids = Ids(np.array(list(best), np.int64))
    rows = {key: fields for key, *fields in ask(session, _PASSAGES, {"ids": ids}).fetchall()}
    return [Found(*[*rows[key], score]) for key, score in best.items() if key in rows]


_FACETS = {
    "kinds": """
        SELECT source_type, count(*) FROM document_version WHERE status = 'current'
        GROUP BY source_type ORDER BY source_type
    """,
    "sources": """
        SELECT coalesce(source, 'uploaded'), count(*) FROM document_version
        WHERE status = 'current' GROUP BY source ORDER BY 1
    """,
    "diseases": """
        SELECT disease, count(*) FROM (SELECT unnest(diseases) AS disease FROM
            (SELECT diseases FROM version_tags LIMIT 50000) AS counted) AS named
        GROUP BY disease ORDER BY disease
    """,
}
"""Diseases are counted in so many versions only, which takes a tenth of a second. Ours."""


def facets(session: Session) -> dict[str, list[tuple[str, int]]]:
    """What there is to filter by (`kinds`, `sources`, `diseases`), with the number of versions."""
    return {
        name: [(value, many) for value, many in session.execute(sa.text(query))]
        for name, query in _FACETS.items()
    }


_KINDS_ON = sa.text(
    """
    SELECT wanted.name FROM unnest(CAST(:kinds AS text[])) AS wanted(name)
    WHERE EXISTS (SELECT FROM version_tags t WHERE t.source_type = wanted.name
                  AND t.diseases && ARRAY[CAST(:disease AS text)])
    """
)


def kinds_on(session: Session, disease: str, kinds: Collection[str]) -> set[str]:
    """Those of the kinds of source of which something is held on a disease."""
    return set(session.execute(_KINDS_ON, {"kinds": [*kinds], "disease": disease}).scalars())


_RESTING = sa.text(
    """
    SELECT q.id AS question_id, q.text, q.created_at AS asked_at, max(v.n) AS n, r.state AS recall
    FROM document_version v JOIN citation c ON c.version_id = v.id
    JOIN question q ON q.id = c.question_id LEFT JOIN answer_recall r ON r.question_id = q.id
    WHERE v.document_id = :document AND q.owner = :owner AND q.status = 'answered'
    GROUP BY q.id, r.state ORDER BY q.created_at DESC, q.id LIMIT :limit
    """
)


def resting_on(session: Session, document_id: UUID, *, owner: str, limit: int) -> list[Resting]:
    """The owner's answers that cite any version of a document, the newest first."""
    rows = session.execute(_RESTING, {"document": document_id, "owner": owner, "limit": limit})
    return [Resting(**row._mapping) for row in rows]
