"""Clinical documents whose fields are extracted, and what was learned from them."""

from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar
from uuid import UUID, uuid4

from sqlalchemy import LargeBinary
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field, SQLModel

from store.models.columns import (
    big_identity,
    created,
    hash_key,
    json_column,
    moment,
    owner_column,
)


def _json_or_null() -> Any:
    return Field(default=None, sa_type=JSONB(none_as_null=True))


class ExtractionRow(SQLModel, table=True):
    """A clinical document that is extracted; its words are a patient's (invariant 11)."""

    __tablename__: ClassVar[str] = "extraction"

    id: UUID = Field(default_factory=uuid4, primary_key=True)
    owner: str = owner_column()
    title: str | None = None
    filename: str | None = None
    media_type: str | None = None
    content: bytes | None = Field(default=None, sa_type=LargeBinary)
    content_hash: str
    text: str | None = None
    text_hash: str | None = None
    asked_type: str | None = None
    document_type: str | None = None
    profile: str
    idempotency_key: str | None = None
    request_hash: str | None = None
    plan: dict[str, Any] | None = _json_or_null()
    status: str = "queued"
    error: str | None = None
    result: dict[str, Any] | None = _json_or_null()
    result_hash: str | None = None
    outcome: str | None = None
    score: float | None = None
    iterations: int = 0
    met_threshold: bool | None = None
    seconds: float = 0.0
    cost_usd: Decimal | None = None
    request_id: UUID
    created_at: datetime = created()
    finished_at: datetime | None = moment(nullable=True)
    hash_key: bytes | None = hash_key()
    erased_at: datetime | None = moment(nullable=True)


class ExtractionIteration(SQLModel, table=True):
    """One iteration of the loop over one part: the attempt, its evaluation, what it cost."""

    __tablename__: ClassVar[str] = "extraction_iteration"

    extraction_id: UUID = Field(primary_key=True, foreign_key="extraction.id", ondelete="CASCADE")
    part: int = Field(primary_key=True)
    n: int = Field(primary_key=True)
    proposal: dict[str, Any] = json_column()
    evaluation: dict[str, Any] = json_column()
    score: float
    gain: float | None = None
    seconds: float
    consulted: dict[str, Any] = json_column()
    prompt_hash: str | None = None
    cost_usd: Decimal | None = None
    ended_at: datetime = created()


class ExtractionReply(SQLModel, table=True):
    """A request to a language model for one iteration, and the answer as it came."""

    __tablename__: ClassVar[str] = "extraction_reply"

    id: int = big_identity()
    extraction_id: UUID = Field(foreign_key="extraction.id", ondelete="CASCADE")
    part: int
    n: int
    purpose: str
    voice: int = 0
    prompt_hash: str
    status: str = "asked"
    reply: dict[str, Any] | None = _json_or_null()
    asked_at: datetime = created()
    ended_at: datetime | None = moment(nullable=True)


class Review(SQLModel, table=True):
    """An extraction that a person should look at, and what the person decided."""

    id: UUID = Field(default_factory=uuid4, primary_key=True)
    extraction_id: UUID = Field(unique=True, foreign_key="extraction.id", ondelete="CASCADE")
    owner: str = owner_column()
    status: str = "open"
    score: float
    corrected: dict[str, Any] | None = _json_or_null()
    decided_by: str | None = None
    created_at: datetime = created()
    decided_at: datetime | None = moment(nullable=True)


class PromptMemory(SQLModel, table=True):
    """Fields that a prompt named when a document of a type came out well; no document's words."""

    __tablename__: ClassVar[str] = "prompt_memory"

    id: UUID = Field(default_factory=uuid4, primary_key=True)
    document_type: str
    fields: list[str] = json_column()
    fields_hash: str
    score: float
    uses: int = 0
    created_at: datetime = created()
    used_at: datetime | None = moment(nullable=True)
