"""Hybrid search over the held evidence: exact BM25 and dense vectors, fused."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlmodel import Session

from knowledge.policy import retrieval_policy
from store.index import dense, lexical
from store.index.standing import STANDING
from store.index.terms import terms
from store.standing import STANDS
from workers.retrieve.fusion import Fused, fuse


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


_PASSAGES = f"""
    SELECT c.id, d.document_id, c.version_id, d.n, c.ordinal, c.section, c.start, c."end",
           substr(d.text, c.start + 1, c."end" - c.start) AS text, d.title, d.source_type
    FROM chunk c JOIN document_version d ON d.id = c.version_id
    WHERE c.id = ANY(:ids) AND {STANDING} AND {STANDS}
"""  # noqa: S608  the rules are our own text


def search(
    session: Session,
    question: str,
    vector: NDArray[np.float32],
    segments: dict[int, lexical.Segment],
    *,
    as_of: datetime | None = None,
    limit: int | None = None,
) -> list[Passage]:
    """The passages for `question`, best first.

    Args:
        vector: the question as the encoder reads it, (d,).
        segments: the process's cache of lexical segments.
        as_of: search what was current then; now if left out.
        limit: how many at most; all fused candidates if left out.
    """
    depth = retrieval_policy().candidates
    by_words = lexical.search(session, terms(question), 2 * depth, segments)
    by_meaning = dense.search(session, vector, depth, as_of)
    found = _passages(session, [chunk_id for chunk_id, _ in (*by_words, *by_meaning)], as_of)
    standing = [(key, score) for key, score in by_words if key in found][:depth]
    ranked = fuse(standing, by_meaning)
    return [_passage(one, found[one.chunk_id]) for one in ranked if one.chunk_id in found][:limit]


def _passages(session: Session, chunk_ids: Sequence[int], as_of: datetime | None) -> dict[int, Any]:
    rows = session.execute(sa.text(_PASSAGES), {"ids": sorted(set(chunk_ids)), "as_of": as_of})
    return {row.id: row for row in rows}


def _passage(fused: Fused, row: Any) -> Passage:
    return Passage(
        fused=fused,
        document_id=row.document_id,
        version_id=row.version_id,
        n=row.n,
        chunk_id=f"chunk_{row.ordinal}",
        section=row.section,
        start=row.start,
        end=row.end,
        text=row.text,
        title=row.title,
        source_type=row.source_type,
    )
