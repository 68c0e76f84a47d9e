"""Tags of versions, kept beside the index: made anew whenever the vocabulary changes."""

from collections.abc import Collection, Mapping
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session

from knowledge.tagging import Tags, tags_of, vocabulary_version

_PUT = """
    INSERT INTO version_tags (version_id, focus, diseases, decisions, vocabulary)
    VALUES (:version_id, :focus, :diseases, :decisions, :vocabulary)
    ON CONFLICT (version_id) DO UPDATE SET focus = excluded.focus, diseases = excluded.diseases,
        decisions = excluded.decisions, vocabulary = excluded.vocabulary
"""


def put(session: Session, tagged: Mapping[UUID, Tags]) -> None:
    """Write the tags of these versions, made with today's vocabulary."""
    if tagged:
        session.execute(
            sa.text(_PUT),
            [
                {
                    "version_id": version_id,
                    "focus": list(tags.focus),
                    "diseases": list(tags.diseases),
                    "decisions": list(tags.decisions),
                    "vocabulary": vocabulary_version(),
                }
                for version_id, tags in sorted(tagged.items())
            ],
        )


def tags_of_versions(session: Session, version_ids: Collection[UUID]) -> dict[UUID, Tags]:
    """The tags of those of these versions that were ever tagged."""
    rows = session.execute(
        sa.text(
            "SELECT version_id, focus, diseases, decisions FROM version_tags "
            "WHERE version_id = ANY(CAST(:ids AS uuid[])) AND vocabulary <> ''"
        ),
        {"ids": list(version_ids)},
    )
    return {
        row.version_id: Tags(tuple(row.focus), tuple(row.diseases), tuple(row.decisions))
        for row in rows
    }


_OUTDATED = """
    SELECT d.id, d.title, d.subjects, d.text
    FROM version_tags t JOIN document_version d ON d.id = t.version_id
    WHERE t.vocabulary < :vocabulary OR t.vocabulary > :vocabulary
    LIMIT :limit FOR UPDATE OF t SKIP LOCKED
"""  # two ranges, because no index serves <>


def retag(session: Session, limit: int) -> int:
    """Make tags anew for up to `limit` versions that another vocabulary tagged, or none yet; says
    for how many. Rows that another process works on are skipped."""
    asked = {"vocabulary": vocabulary_version(), "limit": limit}
    rows = session.execute(sa.text(_OUTDATED), asked).all()
    put(session, {row.id: tags_of(row.title, row.subjects, row.text) for row in rows})
    return len(rows)
