"""Tags of versions, stored beside the index: recomputed whenever the vocabulary changes."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session

from knowledge.subjects.tagging import Tags, tags_of, vocabulary_version
from knowledge.works.kinds import kind_of

_PUT = sa.text(
    """
    INSERT INTO version_tags (version_id, focus, diseases, decisions, kind, vocabulary)
    SELECT version_id, focus, diseases, decisions, kind, :vocabulary
    FROM jsonb_to_recordset(CAST(:tagged AS jsonb))
         AS tagged (version_id uuid, focus text[], diseases text[], decisions text[], kind text)
    ORDER BY version_id
    ON CONFLICT (version_id) DO UPDATE SET focus = excluded.focus, diseases = excluded.diseases,
        decisions = excluded.decisions, kind = excluded.kind, vocabulary = excluded.vocabulary
    """
)


def put(session: Session, tagged: Mapping[UUID, Tags]) -> None:
    """Write the tags of these versions, made with the current vocabulary."""
    rows = [
        {
            "version_id": str(version_id),
            "focus": tags.focus,
            "diseases": tags.diseases,
            "decisions": tags.decisions,
            "kind": tags.kind,
        }
        for version_id, tags in tagged.items()
    ]
    if rows:
        session.execute(_PUT, {"tagged": json.dumps(rows), "vocabulary": vocabulary_version()})


TAGS = """
    (SELECT jsonb_build_array(t.focus, t.diseases, t.decisions, t.kind) FROM version_tags t
     WHERE t.version_id = v.id AND t.vocabulary <> '')
"""
"""SQL for focus, diseases, decisions and kind of version `v`; null if it was never tagged."""


_OUTDATED = """
    SELECT d.id, d.title, d.subjects, d.text, d.source_type, d.publication_type, d.evidence_level
    FROM version_tags t JOIN document_version d ON d.id = t.version_id
    WHERE t.vocabulary < :vocabulary OR t.vocabulary > :vocabulary
    LIMIT :limit FOR UPDATE OF t SKIP LOCKED
"""  # two ranges, because no index serves <>


def retag(session: Session, limit: int) -> int:
    """Recompute the tags of up to `limit` versions that have none or those of another vocabulary;
    returns how many. Rows locked by another process are skipped."""
    parameters = {"vocabulary": vocabulary_version(), "limit": limit}
    rows = session.execute(sa.text(_OUTDATED), parameters).all()
    put(session, {row.id: tags_of_version(row) for row in rows})
    return len(rows)


class Tagged(Protocol):
    """What the tags of a version are made of."""

    @property
    def subjects(self) -> Sequence[str]:
        """Its headings."""

    title: str
    text: str
    source_type: str
    publication_type: str | None
    evidence_level: str | None


def tags_of_version(version: Tagged) -> Tags:
    """The tags of a version, and what kind of work it is."""
    kind = kind_of(
        version.source_type,
        version.publication_type,
        version.evidence_level,
        subjects=version.subjects,
        title=version.title,
        text=version.text,
    )
    return replace(tags_of(version.title, version.subjects, version.text), kind=kind)
