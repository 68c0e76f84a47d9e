"""Rows of `document_version`, written in bulk."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlmodel import Session

from store.core.copying import copy_rows, int4, jsonb, timestamptz
from store.core.spans import Structure
from store.documents.records import Content, SourceRecord


class Given(NamedTuple):
    """A record with its structure and content, each computed once."""

    record: SourceRecord
    structure: Structure
    content: Content


@dataclass(slots=True)
class VersionRow:
    """A row of `document_version` that is to be written."""

    given: Given
    id: UUID
    document_id: UUID
    n: int
    source: str | None
    fetched_at: datetime
    status: str
    superseded_at: datetime | None
    created_at: datetime


def put_rows(session: Session, rows: Iterable[VersionRow]) -> None:
    """Write rows of `document_version`."""
    copy_rows(session, "document_version", _COLUMNS, [_fields(row) for row in rows])


_COLUMNS = (
    *("id", "document_id", "n", "content_hash", "title", "text", "structure", "source_type"),
    *("url", "publisher", "publication_type", "evidence_level", "version_label", "identifiers"),
    *("authors", "labels", "published_at", "published_precision", "fetched_at", "source"),
    *("subjects", "facts", "status", "superseded_at", "created_at"),
)


def _fields(row: VersionRow) -> tuple[object, ...]:
    """The values in the order of `_COLUMNS`; most of the JSON was written for the hash."""
    record, content = row.given.record, row.given.content
    return (
        row.id.bytes,
        row.document_id.bytes,
        int4(row.n),
        row.given.content.hash,
        record.title,
        record.text,
        jsonb(row.given.structure.model_dump_json().encode()),
        record.source_type,
        record.url,
        record.publisher,
        record.publication_type,
        record.evidence_level,
        record.version_label,
        jsonb(record.identifiers.model_dump_json(exclude_none=True).encode()),
        jsonb(content.authors),
        jsonb(content.labels),
        _moment(record.published_at),
        record.published_precision,
        timestamptz(row.fetched_at),
        row.source,
        jsonb(content.subjects),
        jsonb(content.facts),
        row.status,
        _moment(row.superseded_at),
        timestamptz(row.created_at),
    )


def _moment(value: datetime | None) -> bytes | None:
    return None if value is None else timestamptz(value)
