"""Views of the held evidence: documents, their versions, spans, freshness by source."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

import sqlalchemy as sa
from pydantic import Field
from sqlmodel import Session

from store.documents.documents import CHECKED_AT
from store.models import now

_SUMMARY = """
    v.id, v.n, v.content_hash, v.title, char_length(v.text) AS chars, v.source_type, v.url,
    v.publisher, v.publication_type, v.evidence_level, v.version_label, v.identifiers, v.authors,
    v.labels, v.published_at, v.published_precision, v.fetched_at, v.status, v.superseded_at
"""


@dataclass(frozen=True)
class VersionSummary:
    """One version of a document, without its text; it never changes, save for its status."""

    id: UUID
    n: int
    content_hash: str
    title: str
    chars: Annotated[int, Field(description="length of the text in Unicode code points")]
    source_type: str
    url: str | None
    publisher: str | None
    publication_type: str | None
    evidence_level: str | None
    version_label: str | None
    identifiers: dict[str, str]
    authors: list[str]
    labels: list[str]
    published_at: datetime | None
    published_precision: Literal["year", "month", "day"]
    fetched_at: datetime
    status: Literal["current", "superseded", "retracted"]
    superseded_at: datetime | None


@dataclass(frozen=True)
class DocumentSummary:
    """A document with all its versions, newest first."""

    id: UUID
    source_type: str
    source_key: str
    created_at: datetime
    checked_at: datetime | None
    versions: Sequence[VersionSummary]

    @property
    def shown(self) -> VersionSummary | None:
        """The current version; the newest if none is current any more (retracted)."""
        current = (version for version in self.versions if version.status == "current")
        return next(current, self.versions[0] if self.versions else None)


@dataclass(frozen=True)
class Passage:
    """A span of a version's text: `text` is `[start, end)` of its `chars` code points."""

    content_hash: str
    chars: int
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class SourceState:
    """What is held of one kind of source, and how long ago it was checked."""

    source_type: str
    documents: int
    latest_fetch_at: datetime
    oldest_check_at: datetime


class SpanOutside(ValueError):
    """The span is not inside the text; the message says how long the text is."""


def document(session: Session, document_id: UUID) -> DocumentSummary | None:
    """The document with all its versions, newest first; None if there is no such document."""
    row = session.execute(
        sa.text(
            "SELECT id, source_type, source_key, created_at, checked_at FROM document "
            "WHERE id = :id"
        ),
        {"id": document_id},
    ).one_or_none()
    if row is None:
        return None
    versions = session.execute(
        sa.text(
            f"SELECT {_SUMMARY} FROM document_version v "  # noqa: S608  our own fragment
            "WHERE document_id = :id ORDER BY n DESC"
        ),
        {"id": document_id},
    )
    return DocumentSummary(
        **row._mapping, versions=[VersionSummary(**version._mapping) for version in versions]
    )


def holds_nothing(session: Session) -> bool:
    """True if there is no document at all."""
    return not session.execute(sa.text("SELECT EXISTS (SELECT FROM document)")).scalar_one()


def passage(
    session: Session, document_id: UUID, n: int, start: int | None = None, end: int | None = None
) -> Passage | None:
    """Exactly `[start, end)` of the text of version `n`; the whole text without a span.

    PostgreSQL counts code points in a UTF-8 database, as the stored offsets do.

    Raises:
        SpanOutside: the span is empty or reaches beyond the text.
    """
    key = {"id": document_id, "n": n}
    length = session.execute(
        sa.text(
            "SELECT char_length(text) FROM document_version WHERE document_id = :id AND n = :n"
        ),
        key,
    ).scalar_one_or_none()
    if length is None:
        return None
    first, last = start or 0, length if end is None else end
    if not 0 <= first < last <= length:
        raise SpanOutside(
            f"the span [{first}, {last}) is not inside the text, which has {length} code points"
        )
    row = session.execute(
        sa.text(
            "SELECT content_hash, substring(text FROM :first + 1 FOR :count) AS text "
            "FROM document_version WHERE document_id = :id AND n = :n"
        ),
        {**key, "first": first, "count": last - first},
    ).one()
    return Passage(row.content_hash, length, first, last, row.text)


def sources(session: Session) -> list[SourceState]:
    """Every source type with current versions, and its clocks (`documents.checked_at`)."""
    rows = session.execute(
        sa.text(
            f"""
            SELECT v.source_type, count(*) AS documents, max(v.fetched_at) AS latest_fetch_at,
                   min({CHECKED_AT}) AS oldest_check_at
            FROM document_version v JOIN document d ON d.id = v.document_id
            WHERE v.status = 'current' GROUP BY v.source_type ORDER BY v.source_type
            """  # noqa: S608  our fragment
        )
    )
    return [SourceState(**row._mapping) for row in rows]


def age_hours(moment: datetime) -> float:
    """Hours from `moment` to now."""
    return (now() - moment).total_seconds() / 3600
