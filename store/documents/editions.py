"""Works of which a newer edition may be held: guidelines, coverage policies, reviews that go on."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session

from store.core.copying import uuid_array
from store.core.unit_of_work import UnitOfWork
from store.documents import publication_status
from store.documents.records import Notice

BY_EDITIONS, BY_OPERATOR = "editions", "operator"
"""Who states that a work is replaced: what the two say themselves, or a person."""

OPENING_CHARS = 4_000
"""How much of a text is read for the work that it replaces: it stands in the introduction."""

MOST = 200
"""The works compared with a new one, those with most words of its title."""

HAS_EDITIONS = """
    source_type IN ('nccn', 'asco', 'esmo', 'guideline', 'payer')
    OR evidence_level IN ('guideline', 'consensus statement')
    OR identifiers ->> 'doi' LIKE '10.1002/14651858.%' OR facts ? 'update_of'
"""
"""SQL: a version is of a kind of work that has editions; of an index, so it must not change."""

_LOCK = 0x61747465_65646974
"""Our choice, the letters "atteedit": the advisory lock under which editions are compared."""


@dataclass(frozen=True)
class Held:
    """A current version of a work that has editions, with the beginning of its text."""

    document_id: UUID
    key: str
    source: str | None
    title: str
    opening: str
    source_type: str
    publisher: str | None
    version_label: str | None
    identifiers: Mapping[str, str]
    authors: Sequence[str]
    facts: Mapping[str, Any]
    published_at: datetime | None


def wait_for_others(session: Session, *, alone: bool) -> None:
    """Until this transaction ends, keep others from comparing works: of two that arrive together
    neither would see the other. Hold the documents' locks.

    Args:
        alone: False for works that name no other and have no editions: of two such there is nothing
            to see, so they wait only for the others.
    """
    kind = "" if alone else "_shared"
    session.execute(sa.text(f"SELECT pg_advisory_xact_lock{kind}(:lock)"), {"lock": _LOCK})


def of_documents(session: Session, document_ids: Collection[UUID]) -> list[Held]:
    """Those of these documents that have editions."""
    query = sa.text(f"{_HELD} AND v.document_id = ANY(CAST(:ids AS uuid[]))")
    rows = session.execute(query, {"ids": uuid_array(document_ids), "opening": OPENING_CHARS})
    return [Held(**row._mapping) for row in rows]


def beside(session: Session, held: Held, words: Collection[str]) -> list[Held]:
    """Other works that have editions and share words of the title."""
    found = session.execute(
        _BESIDE,
        {
            "id": held.document_id,
            "opening": OPENING_CHARS,
            "words": " | ".join(f"'{word}'" for word in words if len(word) > 3) or "''",
            "cochrane": held.identifiers.get("doi", "").partition(".pub")[0],
            "most": MOST,
        },
    )
    return [Held(**row._mapping) for row in found]


def apart(session: Session, document_ids: Collection[UUID]) -> set[frozenset[UUID]]:
    """The pairs of which an operator said that neither replaces the other."""
    rows = session.execute(
        sa.text(
            "SELECT document_id, CAST(detail ->> 'newer' AS uuid) AS newer FROM finding "
            "WHERE kind = 'edition' AND detail ? 'apart' AND (document_id = ANY(:ids) "
            "OR CAST(detail ->> 'newer' AS uuid) = ANY(:ids))"
        ),
        {"ids": list(document_ids)},
    )
    return {frozenset((row.document_id, row.newer)) for row in rows}


def replace(work: UnitOfWork, by: str, newer: Mapping[UUID, str], at: datetime) -> None:
    """Take documents out of the evidence of today: document → key of the edition that replaces it.

    Documents that are being stored at this moment are left out: their transaction waits for this
    one (`wait_for_others`), and looks then.

    Args:
        by: who states it, `BY_EDITIONS` or `BY_OPERATOR`.
    """
    locked = work.session.execute(_LOCKED, {"ids": uuid_array(newer)}) if newer else None
    notices = {
        document_id: (Notice(kind="supersession", notice_id=newer[document_id]),)
        for document_id in (locked.scalars() if locked else ())
    }
    if notices:
        publication_status.put_notices(work, by, notices, at)
        publication_status.settle(work, notices.keys())


def questions(session: Session) -> list[dict[str, Any]]:
    """The open questions: which of two works replaces the other, with both titles."""
    return [dict(row._mapping) for row in session.execute(_QUESTIONS)]


def decide(work: UnitOfWork, older: UUID, *, replaced: bool, at: datetime) -> None:
    """Answer the open question about a work: a newer edition replaces it, or the two stand apart.

    Raises:
        LookupError: there is no such question.
    """
    publication_status.lock(work.session, [older])
    asked = [one for one in questions(work.session) if one["older"] == older]
    if not asked:
        raise LookupError(f"there is no question about {older}: see `attest editions`")
    decided = "replaced" if replaced else "apart"
    work.session.execute(_DECIDE, {"older": older, "decided": decided, "at": at})
    if replaced:
        replace(work, BY_OPERATOR, {older: asked[0]["newer_key"]}, at)
    work.record("edition.decided", older, decided=decided)


_QUESTIONS = sa.text(
    """
    SELECT f.document_id AS older, older.title AS older_title, newer.document_id AS newer,
           newer.title AS newer_title, d.source_key AS newer_key
    FROM finding f
    JOIN document_version older ON older.document_id = f.document_id AND older.status = 'current'
    JOIN document_version newer ON newer.document_id = CAST(f.detail ->> 'newer' AS uuid)
      AND newer.status = 'current'
    JOIN document d ON d.id = newer.document_id
    WHERE f.kind = 'edition' AND f.resolved_at IS NULL ORDER BY f.id
    """
)
_DECIDE = sa.text(
    """
    UPDATE finding SET resolved_at = greatest(:at, last_seen_at),
        detail = detail || jsonb_build_object(CAST(:decided AS text), true)
    WHERE kind = 'edition' AND document_id = :older AND resolved_at IS NULL
    """
)
_LOCKED = sa.text(
    "SELECT id FROM document WHERE id = ANY(CAST(:ids AS uuid[])) "
    "ORDER BY source_key FOR UPDATE SKIP LOCKED"
)
_COLUMNS = """
    v.document_id, d.source_key AS key, v.source, v.title, substr(v.text, 1, :opening) AS opening,
    v.source_type, v.publisher, v.version_label, v.identifiers, v.authors, v.facts, v.published_at
"""
_KIND = HAS_EDITIONS.replace("source_type", "v.source_type", 1)
_HELD = f"""
    SELECT {_COLUMNS} FROM document_version v JOIN document d ON d.id = v.document_id
    WHERE v.status = 'current' AND (({_KIND}))
"""  # noqa: S608  our own names, here and below
_BESIDE = sa.text(
    f"""
    WITH found AS MATERIALIZED (
        SELECT v.id FROM document_version v
        WHERE v.status = 'current' AND ({_KIND}) AND v.document_id <> :id AND (
            to_tsvector('simple', v.title) @@ CAST(:words AS tsquery)
            OR (:cochrane <> '' AND v.identifiers ->> 'doi' LIKE :cochrane || '%'))
        ORDER BY ts_rank(to_tsvector('simple', v.title), CAST(:words AS tsquery)) DESC LIMIT :most
    )
    SELECT {_COLUMNS} FROM document d JOIN document_version v ON v.document_id = d.id
    WHERE v.status = 'current' AND v.document_id <> :id
      AND v.id IN (SELECT id FROM found)
    ORDER BY d.source_key
    """  # noqa: S608
)
