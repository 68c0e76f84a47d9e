"""The tables. What each promises stands in DESIGN section 2; the DDL is in `migrations/`."""

from datetime import UTC, datetime
from typing import Any, ClassVar
from uuid import UUID, uuid4

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import BigInteger, Column, DateTime, ForeignKey, Identity, LargeBinary, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field, SQLModel

EMBEDDING_DIMENSIONS = 384


def now() -> datetime:
    """The present moment, with its time zone."""
    return datetime.now(UTC)


def _moment(*, nullable: bool = False) -> Any:
    return Field(
        default=None if nullable else ...,
        sa_type=DateTime(timezone=True),
        nullable=nullable,
    )


def _created() -> Any:
    return Field(default_factory=now, sa_type=DateTime(timezone=True))


def _json() -> Any:
    return Field(sa_type=JSONB)


def _big_identity() -> Any:
    return Field(
        default=None, sa_column=Column(BigInteger, Identity(always=True), primary_key=True)
    )


def _big_key(target: str) -> Any:
    return Field(
        sa_column=Column(BigInteger, ForeignKey(target, ondelete="CASCADE"), nullable=False)
    )


class Document(SQLModel, table=True):
    """One article, trial, guideline or upload, over all its versions."""

    id: UUID = Field(default_factory=uuid4, primary_key=True)
    source_type: str
    source_key: str = Field(unique=True)
    created_at: datetime = _created()
    checked_at: datetime | None = _moment(nullable=True)


class DocumentVersion(SQLModel, table=True):
    """What a document said at one time. Never edited; a trigger refuses it (invariant 7)."""

    __tablename__: ClassVar[str] = "document_version"

    id: UUID = Field(default_factory=uuid4, primary_key=True)
    document_id: UUID = Field(foreign_key="document.id")
    n: int
    content_hash: str
    title: str
    text: str
    structure: dict[str, Any] = _json()
    source_type: str
    url: str | None
    publisher: str | None
    publication_type: str | None
    evidence_level: str | None
    version_label: str | None
    identifiers: dict[str, str] = _json()
    authors: list[str] = _json()
    labels: list[str] = _json()
    published_at: datetime | None = _moment(nullable=True)
    published_precision: str = "day"
    fetched_at: datetime = _moment()
    source: str | None = None
    subjects: list[str] = Field(default_factory=list, sa_type=JSONB)
    facts: dict[str, Any] = Field(default_factory=dict, sa_type=JSONB)
    status: str = "current"
    superseded_at: datetime | None = _moment(nullable=True)
    created_at: datetime = _created()


class IngestItem(SQLModel, table=True):
    """A submitted file or packet of records, kept until and after it is read."""

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
    fetched_at: datetime | None = _moment(nullable=True)
    created_at: datetime = _created()
    finished_at: datetime | None = _moment(nullable=True)


class Chunk(SQLModel, table=True):
    """A passage of a version: its words are `version.text[start:end]`, stored nowhere else."""

    id: int = _big_identity()
    version_id: UUID = Field(foreign_key="document_version.id")
    ordinal: int
    section: str
    start: int
    end: int


class ChunkVector(SQLModel, table=True):
    """One window of a chunk as the encoder read it: nothing is cut off silently."""

    __tablename__: ClassVar[str] = "chunk_vector"

    id: int = _big_identity()
    chunk_id: int = _big_key("chunk.id")
    start: int
    end: int
    embedding: Any = Field(sa_type=HALFVEC(EMBEDDING_DIMENSIONS))


class LexSegment(SQLModel, table=True):
    """An immutable run of chunks in the lexical index (ADR 0006)."""

    __tablename__: ClassVar[str] = "lex_segment"

    id: int = _big_identity()
    level: int
    chunks: int
    length_sum: int = Field(sa_type=BigInteger)
    chunk_ids: bytes = Field(sa_type=LargeBinary)
    lengths: bytes = Field(sa_type=LargeBinary)


class LexPosting(SQLModel, table=True):
    """Where one term occurs in one segment: ordinals (u16) and term frequencies (u8)."""

    __tablename__: ClassVar[str] = "lex_posting"

    term: int = Field(primary_key=True)
    segment_id: int = Field(
        sa_column=Column(
            BigInteger, ForeignKey("lex_segment.id", ondelete="CASCADE"), primary_key=True
        )
    )
    chunks: int
    ordinals: bytes = Field(sa_type=LargeBinary)
    frequencies: bytes = Field(sa_type=LargeBinary)


class IndexEncoder(SQLModel, table=True):
    """The one encoder whose vectors the index holds: vectors of two encoders do not compare."""

    __tablename__: ClassVar[str] = "index_encoder"

    only: bool = Field(default=True, primary_key=True)
    name: str
    dimensions: int


class Anchor(SQLModel, table=True):
    """A verbatim high-signal sentence of a version."""

    id: int = _big_identity()
    version_id: UUID = Field(foreign_key="document_version.id")
    start: int
    end: int
    score: int
    signals: list[str] = _json()


class Watch(SQLModel, table=True):
    """What is followed: one query at one source.

    `cursor_at` is when the last complete refresh began: all that the source said until then is
    held, so it is both where the next refresh starts and the clock of the watch's documents.
    `followed_at` is since when it is followed: no SLA counts the time before.
    """

    id: UUID = Field(default_factory=uuid4, primary_key=True)
    source: str
    query: str
    origin: str
    active: bool = True
    marks: dict[str, Any] = Field(default_factory=dict, sa_type=JSONB)
    cursor_at: datetime | None = _moment(nullable=True)
    failures: int = 0
    retry_at: datetime | None = _moment(nullable=True)
    last_error: str | None = None
    last_error_at: datetime | None = _moment(nullable=True)
    created_at: datetime = _moment()
    followed_at: datetime = _moment()


class Refresh(SQLModel, table=True):
    """One run of a watch: fetched page by page, complete once every page is stored."""

    id: UUID = Field(default_factory=uuid4, primary_key=True)
    watch_id: UUID = Field(foreign_key="watch.id")
    reason: str
    status: str = "queued"
    since: datetime | None = _moment(nullable=True)
    started_at: datetime | None = _moment(nullable=True)
    step: int = 0
    restarts: int = 0
    continuation: dict[str, Any] | None = Field(default=None, sa_type=JSONB(none_as_null=True))
    rechecked: list[str] = Field(default_factory=list, sa_type=JSONB)
    marks: dict[str, Any] = Field(default_factory=dict, sa_type=JSONB)
    looked: bool = True
    total: int | None = None
    payloads: int = 0
    records: int = 0
    fresh: int = 0
    problems: int = 0
    error: str | None = None
    requested_at: datetime = _moment()
    finished_at: datetime | None = _moment(nullable=True)


class SlaBreach(SQLModel, table=True):
    """From when to when a watch was older than its SLA, and why."""

    __tablename__: ClassVar[str] = "sla_breach"

    id: int = _big_identity()
    watch_id: UUID = Field(foreign_key="watch.id")
    began_at: datetime = _moment()
    ended_at: datetime | None = _moment(nullable=True)
    cause: str


class Finding(SQLModel, table=True):
    """Something about a record that does not hold, for people to look at."""

    id: int = _big_identity()
    kind: str
    source: str
    subject: str
    document_id: UUID | None = Field(default=None, foreign_key="document.id")
    detail: dict[str, Any] = _json()
    first_seen_at: datetime = _moment()
    last_seen_at: datetime = _moment()
    resolved_at: datetime | None = _moment(nullable=True)


class Question(SQLModel, table=True):
    """A question that was accepted: it ends answered, abstained or failed, exactly once."""

    id: UUID = Field(default_factory=uuid4, primary_key=True)
    text: str
    text_hash: str
    options: dict[str, Any] = _json()
    status: str = "queued"
    stage: str | None = None
    error: str | None = None
    request_id: UUID
    idempotency_key: str | None = Field(default=None, unique=True)
    request_hash: str
    created_at: datetime = _created()
    finished_at: datetime | None = _moment(nullable=True)


class Retrieval(SQLModel, table=True):
    """What the retrieve stage understood and found, with the reason for each hit."""

    question_id: UUID = Field(foreign_key="question.id", primary_key=True)
    body: dict[str, Any] = _json()
    hash: str
    created_at: datetime = _created()


class Draft(SQLModel, table=True):
    """What the generate stage proposes: claims with evidence keys, not yet checked."""

    question_id: UUID = Field(foreign_key="question.id", primary_key=True)
    body: dict[str, Any] = _json()
    hash: str
    created_at: datetime = _created()


class Answer(SQLModel, table=True):
    """What the gate let through. Shown once the audit stage has sealed it."""

    question_id: UUID = Field(foreign_key="question.id", primary_key=True)
    body: dict[str, Any] = _json()
    hash: str
    abstain_reason: str | None = None
    created_at: datetime = _created()
    sealed_at: datetime | None = _moment(nullable=True)


class Citation(SQLModel, table=True):
    """Which version an answer rests on, so that a change of it finds the answer again."""

    id: int = _big_identity()
    question_id: UUID = Field(foreign_key="question.id")
    claim_id: str
    version_id: UUID = Field(foreign_key="document_version.id")
    start: int
    end: int
    quote_hash: str


class StageRun(SQLModel, table=True):
    """The ledger: unique on (stage, subject, input_hash), fenced by a token (invariant 2)."""

    __tablename__: ClassVar[str] = "stage_run"

    id: int = _big_identity()
    stage: str
    subject: str
    input_hash: str
    status: str
    attempts: int
    token: int = Field(sa_type=BigInteger)
    worker: str
    outbox_id: UUID | None = None
    lease_until: datetime | None = _moment(nullable=True)
    error: str | None = None
    first_failed_at: datetime | None = _moment(nullable=True)
    started_at: datetime = _moment()
    finished_at: datetime | None = _moment(nullable=True)


class Outbox(SQLModel, table=True):
    """A message that was promised in a committed transaction (invariant 3)."""

    id: UUID = Field(default_factory=uuid4, primary_key=True)
    stage: str
    payload: dict[str, Any] = _json()
    request_id: UUID
    status: str = "pending"
    not_before: datetime = _created()
    publish_count: int = 0
    published_at: datetime | None = _moment(nullable=True)
    created_at: datetime = _created()
    done_at: datetime | None = _moment(nullable=True)


class DeadLetter(SQLModel, table=True):
    """A message that died, with why; replayed or discarded by an operator."""

    __tablename__: ClassVar[str] = "dead_letter"

    id: UUID = Field(default_factory=uuid4, primary_key=True)
    outbox_id: UUID | None = None
    stage: str
    subject: str | None = None
    payload: Any = Field(sa_type=JSONB)
    error_type: str
    cause: str
    traceback: str = Field(sa_type=Text)
    fingerprint: str
    attempts: int
    code_version: str
    message_schema: str | None = None
    first_failed_at: datetime = _moment()
    died_at: datetime = _moment()
    status: str = "open"
    replays: int = 0
    resolved_at: datetime | None = _moment(nullable=True)


class AuditEvent(SQLModel, table=True):
    """One state change in the chain. The database refuses UPDATE, DELETE and TRUNCATE."""

    __tablename__: ClassVar[str] = "audit_event"

    seq: int = Field(sa_column=Column(BigInteger, primary_key=True, autoincrement=False))
    at: datetime = _moment()
    actor: str
    event: str
    subject: str
    request_id: UUID | None
    payload: dict[str, Any] = _json()
    previous_hash: bytes = Field(sa_type=LargeBinary)
    hash: bytes = Field(sa_type=LargeBinary)


class AuditHead(SQLModel, table=True):
    """The newest link: its row lock orders the chain, its content shows a cut-off tail."""

    __tablename__: ClassVar[str] = "audit_head"

    only: bool = Field(default=True, primary_key=True)
    seq: int = Field(sa_type=BigInteger)
    hash: bytes = Field(sa_type=LargeBinary)
