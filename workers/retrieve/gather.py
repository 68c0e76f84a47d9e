"""What is found for a question's sub-queries, put together: one candidate a version."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlmodel import Session

from knowledge.anchors import trial_of
from knowledge.links import direct_url, written
from knowledge.payers import without_payers
from knowledge.scenarios import Scenario
from knowledge.tagging import Tags, tags_of
from store import findings
from store.content import Content, content, terms_of_interest
from store.index import dense, lexical
from store.index.filters import Filter
from store.index.terms import term_set
from store.tags import TAGS
from workers.retrieve import named, packs
from workers.retrieve.candidates import Candidate, Place
from workers.retrieve.names import with_generic_names
from workers.retrieve.search import Passage, search
from workers.retrieve.understanding.model import SubQuery
from workers.runtime.errors import Permanent
from workers.runtime.stage import Context


@dataclass(frozen=True)
class Found:
    """The passages of one sub-query, best first, and what they should hold."""

    asked: SubQuery
    passages: Sequence[Passage]
    content: Content


def find(
    context: Context,
    sub_queries: Sequence[SubQuery],
    scenario: Scenario | None,
    only: Filter,
    sought: named.Identifiers,
) -> list[Found]:
    """Search for all sub-queries at once, each in a snapshot of its own.

    Works of the scenario's pack that are held are searched in any case: a pack names what matters,
    whatever the words of a question are (EB-5.2). So are those that the question itself names.
    """
    vectors = context.encoder.encode([with_generic_names(one.text) for one in sub_queries])
    if len(sub_queries) == 1:
        return [_search(context, sub_queries[0], vectors[0], scenario, only, sought)]
    with ThreadPoolExecutor(len(sub_queries)) as threads:
        return list(
            threads.map(
                lambda asked, vector: _search(context, asked, vector, scenario, only, sought),
                sub_queries,
                vectors,
            )
        )


def _search(
    context: Context,
    asked: SubQuery,
    vector: NDArray[np.float32],
    scenario: Scenario | None,
    only: Filter,
    sought: named.Identifiers,
) -> Found:
    segments = context.cache.setdefault("lexical_segments", {})
    with context.store.reading() as session:
        try:
            dense.require_encoder(session, context.encoder.name, context.encoder.dimensions)
        except dense.EncoderMismatch as error:
            raise Permanent(str(error)) from error
        passages = search(session, asked.text, vector, segments, only=only)
        wanted = packs.held_versions(session, scenario) | named.held_versions(session, sought)
        missing = wanted - {one.version_id for one in passages}
        if missing:
            among = replace(only, version_ids=frozenset(missing))
            anchors = search(session, asked.text, vector, segments, only=among)
            passages = [*passages, *_below(anchors, passages)]
        weighted = lexical.inverse_frequencies(session, terms_of_interest(asked.text))
    return Found(asked, passages, content(without_payers(asked.text), weighted))


def _below(anchors: Sequence[Passage], passages: Sequence[Passage]) -> list[Passage]:
    """Fused scores compare within one search only: what the main search did not find comes after
    what it found."""
    floor = min((one.fused.score for one in passages), default=1.0)
    return [
        one._replace(fused=one.fused._replace(score=one.fused.score * floor)) for one in anchors
    ]


def gather(session: Session, found: Sequence[Found]) -> list[Candidate]:
    """One candidate for each version found, best first; a passage counts with the sub-query that
    it answers best."""
    places: dict[UUID, dict[str, Place]] = {}
    for one in found:
        for passage in one.passages:
            place = _place(passage, one.content)
            known = places.setdefault(passage.version_id, {})
            known[place.chunk_id] = _better(known.get(place.chunk_id), place)
    ids = list(places)
    rows = session.execute(sa.text(_VERSIONS), {"ids": ids}).all()
    doubts = findings.in_doubt(session, {row.document_id for row in rows})
    candidates = [
        _candidate(
            row,
            sorted(places[row.id].values(), key=lambda place: (-place.score, place.start)),
            Tags(*map(tuple, row.tags)) if row.tags else None,
            doubts.get(row.document_id, set()),
        )
        for row in rows
    ]
    return sorted(candidates, key=lambda one: (-one.score, str(one.document_id)))


_VERSIONS = f"""
    SELECT id, document_id, n, source_type, title, subjects, identifiers, url, published_at,
           publication_type, evidence_level, {TAGS} AS tags
    FROM document_version v WHERE id = ANY(CAST(:ids AS uuid[]))
"""  # noqa: S608  our own fragment


def _place(passage: Passage, asked: Content) -> Place:
    own = passage.terms
    if passage.identifiers:
        # All that it may be asked for by; `written` names those that lead to a page.
        numbers = " ".join((*passage.identifiers.values(), trial_of(passage.identifiers)))
        own = own | term_set(f"{written(passage.identifiers)} {numbers}")
    words = f"{passage.title}\n{passage.section}\n{passage.text}"
    return Place(
        chunk_id=passage.chunk_id,
        section=passage.section,
        start=passage.start,
        end=passage.end,
        text=passage.text,
        score=passage.fused.score,
        lexical=passage.fused.lexical,
        dense=passage.fused.dense,
        covered=asked.covered(own, words, passage.source_type),
    )


def _better(known: Place | None, place: Place) -> Place:
    return place if known is None or place.score > known.score else known


def _candidate(
    row: Any, places: Sequence[Place], tagged: Tags | None, doubts: set[str]
) -> Candidate:
    tags = tagged or tags_of(row.title, row.subjects, "\n".join(one.text for one in places))
    identifiers = {
        kind: value
        for kind, value in row.identifiers.items()
        if f"{kind}:{value}".lower() not in doubts
    }
    return Candidate(
        document_id=row.document_id,
        version_id=row.id,
        n=row.n,
        source_type=row.source_type,
        title=row.title,
        identifiers=identifiers,
        url=direct_url(identifiers, row.url),
        year=row.published_at.year if row.published_at else None,
        publication_type=row.publication_type,
        evidence_level=row.evidence_level,
        focus=frozenset(tags.focus),
        diseases=frozenset(tags.diseases),
        decisions=frozenset(tags.decisions),
        places=tuple(places),
    )
