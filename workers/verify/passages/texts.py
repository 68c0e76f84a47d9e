"""Held versions as claims are checked against them."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session

from clinical_text.quotes import Source
from knowledge.feeds.sources import source_policy
from store.core.spans import Span, citation, sentences_of
from store.documents.citation_query import Known, known
from store.documents.documents import Version
from workers.runtime.stage import Context
from workers.verify.answers.answer import Held, Place
from workers.verify.answers.evidence import Cited, clocks
from workers.verify.passages.locating import CitedText

KEPT_TEXTS = 256
"""Normalized texts that a process keeps: versions never change, so they never go stale."""

_KEEPING = threading.Lock()


def held_versions(
    session: Session, versions: Mapping[str, Version], at: datetime
) -> dict[str, Held]:
    """The versions by key, with what became of their works and both clocks at `at`."""
    works = known(session, {version.document_id for version in versions.values()})
    return {
        key: _held(key, version, works[version.document_id], at)
        for key, version in versions.items()
    }


def _held(key: str, version: Version, work: Known, at: datetime) -> Held:
    return Held(
        Cited(key, version, work.standing, work.doubts, work.standing.cited_by),
        clocks(version, work.checked_at, at),
    )


class Cut(NamedTuple):
    """A chunk of a version, without its words."""

    ordinal: int
    section: str
    start: int
    end: int


_CUTS = sa.text(
    'SELECT version_id, ordinal, section, start, "end" FROM chunk '
    "WHERE version_id = ANY(:ids) ORDER BY ordinal"
)


def chunks_of(session: Session, version_ids: Sequence[UUID]) -> dict[UUID, list[Cut]]:
    """The chunks of each version, in order."""
    found: dict[UUID, list[Cut]] = {version_id: [] for version_id in version_ids}
    for version_id, *cut in session.execute(_CUTS, {"ids": list(version_ids)}):
        found[version_id].append(Cut(*cut))
    return found


def place_of(chunks: Sequence[Cut], span: Span) -> Place:
    """The chunk that holds the span, or most of it where it runs over a chunk's edge."""
    best = max(chunks, key=lambda one: min(one.end, span.end) - max(one.start, span.start))
    chunk_id = f"chunk_{best.ordinal}"
    return Place(chunk_id, best.section, citation(best.section, chunk_id, span.start, span.end))


def _origin(version: Version) -> dict[str, str]:
    published = version.published_at
    told = {
        "publisher": version.publisher or source_policy(version.source_type).name,
        "version": version.version_label,
        "published_on": published.date().isoformat() if published else None,
        "authors": "; ".join(version.authors),
    }
    return {name: value for name, value in told.items() if value}


def cited_text(context: Context, held: Held) -> CitedText:
    """The version as claims are checked against it; what is derived from its text is kept."""
    version = held.version
    kept: dict[UUID, CitedText] = context.cache.setdefault("verify_texts", {})
    with _KEEPING:  # threads share the cache
        cited = kept.get(version.id)
        if cited is None:
            if len(kept) >= KEPT_TEXTS:
                del kept[next(iter(kept))]
            cited = kept[version.id] = text_of(held)
    return replace(cited, identifiers=held.cited.identifiers)


def text_of(held: Held) -> CitedText:
    """The version as claims are checked against it."""
    version = held.version
    return CitedText(
        Source(version.text),
        sentences_of(version.structure),
        version.title,
        held.cited.identifiers,
        _origin(version),
    )
