"""Hybrid search over the held evidence: exact BM25 and dense vectors, fused."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlmodel import Session

from knowledge.policy import retrieval_policy
from store.index import dense, lexical
from store.index.centroids import centroids
from store.index.filters import Filter
from store.index.terms import terms
from workers.retrieve.fusion import Fused, fuse, support


@dataclass(frozen=True)
class Passage:
    """A found chunk with its words and the version it belongs to."""

    fused: Fused
    document_id: UUID
    version_id: UUID
    n: int
    chunk_id: str
    section: str
    start: int
    end: int
    text: str
    title: str
    source_type: str


# Everything of a passage but its scores, in the order of its fields.
_PASSAGES = """
    SELECT c.id, d.document_id, c.version_id, d.n, 'chunk_' || c.ordinal, c.section, c.start,
           c."end", substr(d.text, c.start + 1, c."end" - c.start), d.title, d.source_type
    FROM chunk c JOIN document_version d ON d.id = c.version_id
    WHERE c.id = ANY(CAST(%(ids)s AS bigint[]))
"""


def search(
    session: Session,
    question: str,
    vector: NDArray[np.float32],
    segments: dict[int, lexical.Segment],
    *,
    as_of: datetime | None = None,
    only: Filter | None = None,
    limit: int | None = None,
) -> list[Passage]:
    """The passages for `question`, best first.

    Args:
        session: must read one snapshot (`Store.reading`).
        vector: the question as the encoder reads it, (d,).
        segments: the process's cache of lexical segments.
        as_of: search what was current then; for callers without a filter.
        only: what passages have to be; those current now, or at `as_of`, if left out.
        limit: how many at most; all fused candidates if left out.
    """
    only = only or Filter(as_of=as_of)
    depth = retrieval_policy().candidates
    by_words = lexical.search(session, terms(question), depth, segments, only=only)
    by_meaning = dense.search(session, vector, depth, only=only)
    fused = fuse(by_words, by_meaning)
    found = _passages(session, [one.chunk_id for one in fused])
    documents = {chunk_id: document_id for chunk_id, (document_id, *_) in found.items()}
    ranked = support(fused, *centroids(session, documents))
    return [Passage(one, *found[one.chunk_id]) for one in ranked[:limit]]


def _passages(session: Session, chunk_ids: Sequence[int]) -> dict[int, Sequence[Any]]:
    """The fields of these chunks by their ids; SQLAlchemy would take as long as PostgreSQL."""
    connection = session.connection().connection.driver_connection
    assert connection is not None
    with connection.cursor(binary=True) as cursor:
        cursor.execute(_PASSAGES, {"ids": list(chunk_ids)})
        return {chunk_id: fields for chunk_id, *fields in cursor.fetchall()}
