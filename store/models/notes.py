"""Clinical notes."""

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field, SQLModel

from store.models.columns import created, hash_key, moment, owner_column


class Note(SQLModel, table=True):
    """A clinical note that is summarized; its words are a patient's (invariant 11)."""

    id: UUID = Field(default_factory=uuid4, primary_key=True)
    text: str
    text_hash: str
    title: str | None = None
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
