"""What is found for a question's sub-queries, put together: one candidate a version."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from knowledge.scenarios import Scenario
from knowledge.subjects.payers import without_payers
from knowledge.subjects.tagging import Tags, tags_of
from knowledge.works.anchors import ARTICLE, trial_of
from knowledge.works.links import direct_url, written
from store.documents.content import Content, content
from store.documents.records import NOT_ENGLISH
from store.index import dense, partitions
from store.index.filters import Filter
from store.index.terms import term_set
from workers.retrieve import named_works, packs
from workers.retrieve.names import with_generic_names
from workers.retrieve.ranking.candidates import Candidate, Place
from workers.retrieve.search import Passage, Version, search
from workers.retrieve.understanding.model import SubQuery
from workers.runtime.errors import Permanent
from workers.runtime.stage import Context


@dataclass(frozen=True)
class Found:
    """The passages of one sub-query, best first, and what they should hold."""

    asked: SubQuery
    passages: Sequence[Passage]
    versions: Sequence[Version]
    weights: Mapping[int, float]
    """How much each term of interest tells, in what is held."""
    content: Content
    without: frozenset[str] = frozenset()
    """The partitions of the index that were not searched."""


def find(
    context: Context,
    sub_queries: Sequence[SubQuery],
    scenario: Scenario | None,
    only: Filter,
    sought: named_works.Identifiers,
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
    sought: named_works.Identifiers,
) -> Found:
    segments = context.cache.setdefault("lexical_segments", {})
    with context.store.reading() as session:
        try:
            dense.require_encoder(session, context.encoder.name, context.encoder.dimensions)
        except dense.EncoderMismatch as error:
            raise Permanent(str(error)) from error
        passages, versions, weights, _ = search(session, asked.text, vector, segments, only=only)
        wanted = packs.held_versions(session, scenario) | named_works.held_versions(session, sought)
        missing = wanted - {one.version_id for one in passages}
        if missing:
            among = replace(only, version_ids=frozenset(missing))
            anchors = search(session, asked.text, vector, segments, only=among)
            passages = [*passages, *_below(anchors.passages, passages)]
            versions = [*versions, *anchors.versions]
        without = frozenset(partitions.without(session))
    asks = content(without_payers(asked.text), weights)
    return Found(asked, passages, versions, weights, asks, without)


def _below(anchors: Sequence[Passage], passages: Sequence[Passage]) -> list[Passage]:
    """Fused scores compare within one search only: what the main search did not find comes after
    what it found."""
    floor = min((one.fused.score for one in passages), default=1.0)
    return [
        one._replace(fused=one.fused._replace(score=one.fused.score * floor)) for one in anchors
    ]


def gather(found: Sequence[Found]) -> list[Candidate]:
    """One candidate for each version found, best first; a passage counts with the sub-query that
    it answers best."""
    places: dict[UUID, dict[str, Place]] = {}
    named = {version.id: _named(version) for one in found for version in one.versions}
    for one in found:
        for passage in one.passages:
            place = _place(passage, named[passage.version_id], one.content)
            known = places.setdefault(passage.version_id, {})
            known[place.chunk_id] = _better(known.get(place.chunk_id), place)
    versions = {version.id: version for one in found for version in one.versions}
    candidates = [
        _candidate(
            versions[key],
            named[key],
            sorted(known.values(), key=lambda place: (-place.score, place.start)),
        )
        for key, known in places.items()
    ]
    return sorted(candidates, key=lambda one: (-one.score, str(one.document_id)))


def _named(version: Version) -> dict[str, str]:
    """The identifiers of a version that are in no doubt. An article all of whose numbers are is not
    the trial whose number it gives either."""
    known = {
        kind: value
        for kind, value in version.identifiers.items()
        if f"{kind}:{value}".lower() not in version.doubts
    }
    if not ARTICLE.isdisjoint(version.identifiers) and ARTICLE.isdisjoint(known):
        return {}
    return known


def _place(passage: Passage, identifiers: Mapping[str, str], asked: Content) -> Place:
    own = passage.terms
    if identifiers:
        # All that it may be asked for by; `written` names those that lead to a page.
        numbers = " ".join((*identifiers.values(), trial_of(identifiers)))
        own = own | term_set(f"{written(identifiers)} {numbers}")
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
    version: Version, identifiers: Mapping[str, str], places: Sequence[Place]
) -> Candidate:
    if version.tags:
        focus, diseases, decisions, kind = version.tags
        tags = Tags(tuple(focus), tuple(diseases), tuple(decisions), kind)
    else:
        words = "\n".join(one.text for one in places)
        tags = tags_of(version.title, version.subjects, words)
    return Candidate(
        document_id=version.document_id,
        version_id=version.id,
        n=version.n,
        source_type=version.source_type,
        title=version.title,
        identifiers=identifiers,
        url=direct_url(identifiers, version.url),
        year=version.published_at.year if version.published_at else None,
        publication_type=version.publication_type,
        evidence_level=version.evidence_level,
        focus=frozenset(tags.focus),
        diseases=frozenset(tags.diseases),
        decisions=frozenset(tags.decisions),
        places=tuple(places),
        kind=tags.kind,
        is_english=NOT_ENGLISH not in version.labels,
    )
