"""Questions and pasted texts, from asking to what was answered."""

from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar
from uuid import UUID, uuid4

from sqlalchemy import UniqueConstraint
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field, SQLModel

from store.models.columns import big_identity, created, hash_key, json_column, moment, owner_column


class Question(SQLModel, table=True):
    """A question that was accepted: it ends answered, abstained or failed, exactly once."""

    __table_args__ = (UniqueConstraint("owner", "idempotency_key"),)

    id: UUID = Field(default_factory=uuid4, primary_key=True)
    text: str
    text_hash: str
    options: dict[str, Any] = json_column()
    status: str = "queued"
    stage: str | None = None
    error: str | None = None
    request_id: UUID
    idempotency_key: str | None = None
    request_hash: str
    created_at: datetime = created()
    finished_at: datetime | None = moment(nullable=True)
    owner: str = owner_column()
    hash_key: bytes | None = hash_key()
    erased_at: datetime | None = moment(nullable=True)


class Retrieval(SQLModel, table=True):
    """What the retrieve stage understood and found, with the reason for each hit."""

    question_id: UUID = Field(foreign_key="question.id", primary_key=True)
    body: dict[str, Any] = json_column()
    hash: str
    created_at: datetime = created()


class Draft(SQLModel, table=True):
    """What the generate stage proposes: claims with evidence keys, not yet checked."""

    question_id: UUID = Field(foreign_key="question.id", primary_key=True)
    body: dict[str, Any] = json_column()
    hash: str
    created_at: datetime = created()


class Answer(SQLModel, table=True):
    """What the gate let through. Shown once the audit stage has sealed it."""

    question_id: UUID = Field(foreign_key="question.id", primary_key=True)
    body: dict[str, Any] = json_column()
    hash: str
    abstain_reason: str | None = None
    created_at: datetime = created()
    sealed_at: datetime | None = moment(nullable=True)


class AnswerInputs(SQLModel, table=True):
    """What an answer was composed from beside what is stored anyway: verdicts, moments, costs.

    With it the same bytes can be composed again without a model.
    """

    __tablename__: ClassVar[str] = "answer_inputs"

    question_id: UUID = Field(foreign_key="question.id", primary_key=True)
    body: dict[str, Any] = json_column()
    hash: str
    created_at: datetime = created()


class Citation(SQLModel, table=True):
    """Which version an answer rests on, so that a change of it finds the answer again."""

    id: int = big_identity()
    question_id: UUID = Field(foreign_key="question.id")
    claim_id: str
    version_id: UUID = Field(foreign_key="document_version.id")
    start: int
    end: int
    quote_hash: str


class ModelUsage(SQLModel, table=True):
    """A request to a language model that was paid for, or might have been; budgets count these.

    `subject` is what it was for, such as a question's id; a cost that is not known is None, and so
    is `ms`, the time to its reply, while it is open.
    """

    __tablename__: ClassVar[str] = "model_usage"

    id: int = big_identity()
    at: datetime = moment()
    subject: str | None = None
    purpose: str
    model: str
    outcome: str
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: Decimal | None = None
    ms: float | None = None


class Verification(SQLModel, table=True):
    """A pasted text whose claims, quotations, identifiers and numbers are checked."""

    id: UUID = Field(default_factory=uuid4, primary_key=True)
    text: str
    text_hash: str
    documents: list[dict[str, Any]] = Field(default_factory=list, sa_type=JSONB)
    options: dict[str, Any] = Field(default_factory=dict, sa_type=JSONB)
    status: str = "queued"
    error: str | None = None
    result: dict[str, Any] | None = Field(default=None, sa_type=JSONB(none_as_null=True))
    result_hash: str | None = None
    request_id: UUID
    created_at: datetime = created()
    finished_at: datetime | None = moment(nullable=True)
    owner: str = owner_column()
    idempotency_key: str | None = None
    request_hash: str | None = None
    hash_key: bytes | None = hash_key()
    erased_at: datetime | None = moment(nullable=True)
