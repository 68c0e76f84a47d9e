"""Documents, what they said at each time, and what is found in them."""

from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar
from uuid import UUID, uuid4

from sqlalchemy import LargeBinary
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field, SQLModel

from store.models.columns import big_identity, created, json_column, moment, owner_column


class Document(SQLModel, table=True):
    """One article, trial, guideline or upload, over all its versions."""

    id: UUID = Field(default_factory=uuid4, primary_key=True)
    source_type: str
    source_key: str = Field(unique=True)
    created_at: datetime = created()
    checked_at: datetime | None = moment(nullable=True)


class DocumentVersion(SQLModel, table=True):
    """What a document said at one time. Never edited; a trigger refuses it (invariant 7)."""

    __tablename__: ClassVar[str] = "document_version"

    id: UUID = Field(default_factory=uuid4, primary_key=True)
    document_id: UUID = Field(foreign_key="document.id")
    n: int
    content_hash: str
    title: str
    text: str
    structure: dict[str, Any] = json_column()
    source_type: str
    url: str | None
    publisher: str | None
    publication_type: str | None
    evidence_level: str | None
    version_label: str | None
    identifiers: dict[str, str] = json_column()
    authors: list[str] = json_column()
    labels: list[str] = json_column()
    published_at: datetime | None = moment(nullable=True)
    published_precision: str = "day"
    fetched_at: datetime = moment()
    source: str | None = None
    subjects: list[str] = Field(default_factory=list, sa_type=JSONB)
    facts: dict[str, Any] = Field(default_factory=dict, sa_type=JSONB)
    status: str = "current"
    superseded_at: datetime | None = moment(nullable=True)
    created_at: datetime = created()


class IngestItem(SQLModel, table=True):
    """A submitted file or packet of records, kept until and after it is read.

    `owner` is who submitted it; what it becomes is everybody's. `first_line`: that of a packet of
    lines in the file that it was cut from.
    """

    __tablename__: ClassVar[str] = "ingest_item"

    id: UUID = Field(default_factory=uuid4, primary_key=True)
    batch_id: UUID
    filename: str
    media_type: str | None
    source_type: str | None
    content: bytes | None = Field(sa_type=LargeBinary)
    content_hash: str
    status: str = "pending"
    error: str | None = None
    outcome: dict[str, Any] | None = Field(default=None, sa_type=JSONB)
    source: str | None = None
    refresh_id: UUID | None = Field(default=None, foreign_key="refresh.id")
    fetched_at: datetime | None = moment(nullable=True)
    created_at: datetime = created()
    finished_at: datetime | None = moment(nullable=True)
    owner: str = owner_column()
    idempotency_key: str | None = None
    request_hash: str | None = None
    first_line: int = 1


class Anchor(SQLModel, table=True):
    """A verbatim high-signal sentence of a version."""

    id: int = big_identity()
    version_id: UUID = Field(foreign_key="document_version.id")
    start: int
    end: int
    score: int
    signals: list[str] = json_column()
    kinds: list[str] = Field(default_factory=list, sa_type=JSONB)


class EffectEstimate(SQLModel, table=True):
    """An effect that a version states in numbers, at `[start, end)` of its text.

    `measure` is HR, OR, RR, MD, RD or percent; `direction` "lower", "higher" or "none": what the
    first arm has of the outcome; `body` has outcome, population, arms, level and p as written.
    """

    __tablename__: ClassVar[str] = "effect_estimate"

    id: int = big_identity()
    version_id: UUID = Field(foreign_key="document_version.id")
    start: int
    end: int
    measure: str
    value: Decimal
    low: Decimal | None = None
    high: Decimal | None = None
    direction: str | None = None
    body: dict[str, Any] = Field(default_factory=dict, sa_type=JSONB)
