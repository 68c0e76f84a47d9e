"""Documents and their versions: new content is a new version, the old one is superseded."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID, uuid4

import sqlalchemy as sa
from sqlmodel import Session, col, select

from store.models import Document, DocumentVersion, now
from store.records import SourceRecord
from store.spans import Structure
from store.unit_of_work import UnitOfWork


@dataclass(frozen=True)
class Stored:
    """What became of one record."""

    document_id: UUID
    version_id: UUID
    n: int
    outcome: Literal["new", "changed", "unchanged"]


@dataclass
class _Standing:
    """Where a document stands while a packet is stored."""

    document_id: UUID
    n: int
    current_id: UUID | None
    content_hash: str | None
    row: dict[str, Any] | None = None
    checked_at: datetime | None = None


def put_versions(
    work: UnitOfWork, records: Sequence[tuple[SourceRecord, Structure]]
) -> list[Stored]:
    """Store `records` in order; one that says nothing new only moves its document's clock.

    Documents are locked in the order of their keys, so that two packets with the same documents
    wait for each other instead of deadlocking.
    """
    standing = _lock_documents(work.session, [record for record, _ in records])
    stored, rows, superseded = [], [], []
    for record, structure in records:
        document = standing[record.key]
        document.checked_at = record.fetched_at or now()
        content_hash = record.content_hash()
        if document.current_id is not None and document.content_hash == content_hash:
            done = Stored(document.document_id, document.current_id, document.n, "unchanged")
            stored.append(done)
            continue
        outcome: Literal["new", "changed"] = "new" if document.current_id is None else "changed"
        if document.row is not None:  # an earlier version came in the same packet
            document.row |= {"status": "superseded", "superseded_at": now()}
        elif document.current_id is not None:
            superseded.append(document.current_id)
        document.n += 1
        row = _row(record, structure, document, content_hash)
        document.row, document.current_id, document.content_hash = row, row["id"], content_hash
        rows.append(row)
        stored.append(Stored(document.document_id, row["id"], document.n, outcome))
        work.record(
            f"version.{outcome}",
            document.document_id,
            version_id=str(row["id"]),
            n=document.n,
            content_hash=content_hash,
        )
    _write(work.session, rows, superseded, standing.values())
    return stored


def _lock_documents(session: Session, records: Iterable[SourceRecord]) -> dict[str, _Standing]:
    """Make sure the documents exist, lock them, and read where each stands."""
    kinds = {record.key: record.source_type for record in records}
    keys = sorted(kinds)
    session.execute(
        sa.text(
            "INSERT INTO document (id, source_type, source_key, created_at) "
            "SELECT id, source_type, source_key, clock_timestamp() "
            "FROM unnest(CAST(:ids AS uuid[]), CAST(:kinds AS varchar[]), CAST(:keys AS varchar[]))"
            " AS given (id, source_type, source_key) ON CONFLICT (source_key) DO NOTHING"
        ),
        {"ids": [uuid4() for _ in keys], "kinds": [kinds[key] for key in keys], "keys": keys},
    )
    # Locking and reading are two statements: the second sees what whoever held the lock wrote.
    session.execute(
        sa.text(
            "SELECT FROM document WHERE source_key = ANY(:keys) ORDER BY source_key FOR UPDATE"
        ),
        {"keys": keys},
    )
    rows = session.execute(
        sa.text(
            """
            SELECT d.id, d.source_key, coalesce(max(v.n), 0) AS n,
                   max(v.id::text) FILTER (WHERE v.status = 'current') AS current_id,
                   max(v.content_hash) FILTER (WHERE v.status = 'current') AS content_hash
            FROM document d LEFT JOIN document_version v ON v.document_id = d.id
            WHERE d.source_key = ANY(:keys) GROUP BY d.id, d.source_key
            """
        ),
        {"keys": keys},
    )
    return {
        row.source_key: _Standing(
            row.id, row.n, UUID(row.current_id) if row.current_id else None, row.content_hash
        )
        for row in rows
    }


def _row(
    record: SourceRecord, structure: Structure, document: _Standing, content_hash: str
) -> dict[str, Any]:
    return {
        "id": uuid4(),
        "document_id": document.document_id,
        "n": document.n,
        "content_hash": content_hash,
        "title": record.title,
        "text": record.text,
        "structure": structure.model_dump(mode="json"),
        "source_type": record.source_type,
        "url": record.url,
        "publisher": record.publisher,
        "publication_type": record.publication_type,
        "evidence_level": record.evidence_level,
        "version_label": record.version_label,
        "identifiers": record.identifiers.model_dump(exclude_none=True),
        "authors": list(record.authors),
        "labels": list(record.labels),
        "published_at": record.published_at,
        "published_precision": record.published_precision,
        "fetched_at": document.checked_at,
        "status": "current",
        "superseded_at": None,
        "created_at": now(),
    }


def _write(
    session: Session,
    rows: list[dict[str, Any]],
    superseded: list[UUID],
    documents: Iterable[_Standing],
) -> None:
    if superseded:
        session.execute(
            sa.text(
                "UPDATE document_version SET status = 'superseded', superseded_at = "
                "clock_timestamp() WHERE id = ANY(:ids) AND status = 'current'"
            ),
            {"ids": superseded},
        )
    if rows:
        session.execute(sa.insert(DocumentVersion), rows)
    touched = [document for document in documents if document.checked_at is not None]
    session.execute(
        sa.text(
            "UPDATE document SET checked_at = greatest(document.checked_at, given.checked_at) "
            "FROM unnest(CAST(:ids AS uuid[]), CAST(:moments AS timestamptz[])) "
            "AS given (id, checked_at) WHERE document.id = given.id"
        ),
        {
            "ids": [document.document_id for document in touched],
            "moments": [document.checked_at for document in touched],
        },
    )


def get_versions(session: Session, version_ids: Sequence[UUID]) -> list[DocumentVersion]:
    """The versions with these ids, in the given order.

    Raises:
        LookupError: one of them does not exist.
    """
    rows = session.exec(select(DocumentVersion).where(col(DocumentVersion.id).in_(version_ids)))
    found = {version.id: version for version in rows}
    missing = [str(version_id) for version_id in version_ids if version_id not in found]
    if missing:
        raise LookupError(f"there is no document version {', '.join(missing[:3])}")
    return [found[version_id] for version_id in version_ids]


def checked_at(session: Session, document_ids: Iterable[UUID]) -> dict[UUID, datetime]:
    """When each document was last seen at its source."""
    rows = session.exec(select(Document).where(col(Document.id).in_(list(document_ids))))
    return {row.id: row.checked_at or row.created_at for row in rows}
