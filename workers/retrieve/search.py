"""Hybrid search over the held evidence: exact BM25 and dense vectors, fused."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlmodel import Session

from knowledge.answering.policy import retrieval_policy
from store.documents.content import alike, terms_of_interest
from store.documents.findings import doubts_of
from store.documents.tags import TAGS
from store.index import dense, lexical, partitions
from store.index.centroids import centroids
from store.index.filters import Filter, look
from store.index.wire import Ids, ask, together
from workers.retrieve.fusion import Fused, fuse, support
from workers.retrieve.names import one_by_all_names


class Passage(NamedTuple):
    """A found chunk with its words and the version it belongs to."""

    fused: Fused
    terms: frozenset[int]
    """Which of the question's terms it holds, with its title and section."""
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
    identifiers: Mapping[str, str]


class Version(NamedTuple):
    """A version that passages were found in."""

    id: UUID
    document_id: UUID
    n: int
    source_type: str
    title: str
    subjects: Sequence[str]
    identifiers: Mapping[str, str]
    url: str | None
    published_at: datetime | None
    publication_type: str | None
    evidence_level: str | None
    labels: Sequence[str]
    tags: tuple[Sequence[str], Sequence[str], Sequence[str], str | None] | None
    """Focus, diseases, decisions and kind; None where it was never tagged."""
    doubts: Sequence[str]
    """Its identifiers that must not be shown (`store.documents.findings.doubts_of`)."""


class Hits(NamedTuple):
    """What was found for a question, best first, and how much each of its terms tells there."""

    passages: list[Passage]
    versions: list[Version]
    """Of these passages, each once; in any order."""
    weights: dict[int, float]
    """Of `terms_of_interest`."""
    without: Sequence[str] = ()
    """The partitions of the index that were not searched."""


# What a passage does not share with others of its version, in the order of its fields.
_PASSAGES = """
    SELECT c.id, c.version_id, 'chunk_' || c.ordinal, c.section, c.start, c."end",
           substr(d.text, c.start + 1, c."end" - c.start)
    FROM chunk c JOIN document_version d ON d.id = c.version_id
    WHERE c.id = ANY(CAST(%(ids)s AS bigint[]))
"""


_VERSIONS = f"""
    SELECT id, document_id, n, source_type, title, subjects, identifiers, url, published_at,
           publication_type, evidence_level, labels, {TAGS}, {doubts_of("v.document_id")}
    FROM document_version v
    WHERE id IN (SELECT version_id FROM chunk WHERE chunk.id = ANY(CAST(%(ids)s AS bigint[])))
"""  # noqa: S608  our own fragments


def search(
    session: Session,
    question: str,
    vector: NDArray[np.float32],
    segments: dict[int, lexical.Segment],
    *,
    as_of: datetime | None = None,
    only: Filter | None = None,
    limit: int | None = None,
) -> Hits:
    """The passages for `question`.

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
    with together(session):
        look(session, only)
        terms = terms_of_interest(question)
        read = lexical.prepare(session, terms, segments)
        words = one_by_all_names(read, alike(question))
        # PostgreSQL looks for what is near while this process scores words.
        nearest = dense.begin(session, vector, depth, only)
        by_words = lexical.best(session, words, depth, only)
        fused = fuse(by_words, nearest())
        chunks = Ids(np.array([one.chunk_id for one in fused], np.int64))
        lie = centroids(session, chunks)
        # The words of what was found are fetched while this process sees what is near to what.
        rows = ask(session, _PASSAGES, {"ids": chunks}, plans_once=True)
        versions = ask(session, _VERSIONS, {"ids": chunks}, plans_once=True)
        ranked = support(fused, *lie())
        holds = words.held(np.sort(chunks.values)) if words else {}
        found = {chunk_id: fields for chunk_id, *fields in rows.fetchall()}
        held = {row[0]: Version(*row) for row in versions.fetchall()}
    nothing = frozenset[int]()
    passages = []
    for one in ranked[:limit]:
        version_id, *fields = found[one.chunk_id]
        version = held[version_id]
        named = version.title, version.source_type, version.identifiers
        known = version.document_id, version_id, version.n, *fields, *named
        passages.append(Passage(one, holds.get(one.chunk_id, nothing), *known))
    without = partitions.without(session)
    return Hits(passages, list(held.values()), lexical.weights(read, terms), without)
