"""What became of a sealed answer since it was sealed."""

from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID, uuid4

from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field, SQLModel

from store.models.columns import created, json_column, moment


class AnswerRecall(SQLModel, table=True):
    """An answer that something it cites has changed under; one without a row is `current`.

    `affected`: not checked again yet. `reaffirmed`: every quotation still stands, at `spans`.
    `superseded`: one does not (`findings`), and the question was asked anew as `superseded_by`.
    """

    __tablename__: ClassVar[str] = "answer_recall"

    question_id: UUID = Field(foreign_key="question.id", primary_key=True)
    state: str
    recall_id: UUID
    because: list[dict[str, Any]] = json_column()
    spans: list[dict[str, Any]] = Field(default_factory=list, sa_type=JSONB)
    findings: list[dict[str, Any]] = Field(default_factory=list, sa_type=JSONB)
    superseded_by: UUID | None = Field(default=None, foreign_key="question.id", unique=True)
    affected_at: datetime = moment()
    changed_at: datetime = moment()


class Recheck(SQLModel, table=True):
    """A run that verifies held answers again, one at a time; `gate` and `answers` (how many) are
    known from its first step on."""

    id: UUID = Field(default_factory=uuid4, primary_key=True)
    dry_run: bool
    everything: bool
    ask: bool
    status: str = "running"
    error: str | None = None
    gate: str | None = None
    answers: int | None = None
    request_id: UUID
    created_at: datetime = created()
    finished_at: datetime | None = moment(nullable=True)


class RecheckAnswer(SQLModel, table=True):
    """What the gate of a run makes of an answer: `stands`, `falls`, `needs_judge` (the record does
    not answer what the gate asks) or `unreadable`. `settles`: not to be looked at again under this
    gate."""

    __tablename__: ClassVar[str] = "recheck_answer"

    recheck_id: UUID = Field(foreign_key="recheck.id", primary_key=True)
    question_id: UUID = Field(foreign_key="question.id", primary_key=True)
    outcome: str
    gate: str
    gate_before: str | None = None
    findings: list[dict[str, Any]] = json_column()
    settles: bool
    checked_at: datetime = moment()
