"""What became of a sealed answer since it was sealed."""

from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field, SQLModel

from store.models.columns import json_column, moment


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
