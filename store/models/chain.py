"""The ledger, the outbox, what died, and the audit chain."""

from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID, uuid4

from sqlalchemy import BigInteger, Column, LargeBinary, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field, SQLModel

from store.models.columns import big_identity, created, json_column, moment


class StageRun(SQLModel, table=True):
    """The ledger: unique on (stage, subject, input_hash), fenced by a token (invariant 2)."""

    __tablename__: ClassVar[str] = "stage_run"

    id: int = big_identity()
    stage: str
    subject: str
    input_hash: str
    status: str
    attempts: int
    token: int = Field(sa_type=BigInteger)
    worker: str
    outbox_id: UUID | None = None
    lease_until: datetime | None = moment(nullable=True)
    losses: int = 0
    """Workers that it has cost: they were lost, or had to be stopped, while they worked on it."""
    deadline: datetime | None = moment(nullable=True)
    """Until when the present attempt may take."""
    error: str | None = None
    first_failed_at: datetime | None = moment(nullable=True)
    started_at: datetime = moment()
    finished_at: datetime | None = moment(nullable=True)


class Outbox(SQLModel, table=True):
    """A message that was promised in a committed transaction (invariant 3)."""

    id: UUID = Field(default_factory=uuid4, primary_key=True)
    stage: str
    payload: dict[str, Any] = json_column()
    request_id: UUID
    status: str = "pending"
    not_before: datetime = created()
    publish_count: int = 0
    published_at: datetime | None = moment(nullable=True)
    created_at: datetime = created()
    done_at: datetime | None = moment(nullable=True)


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
    first_failed_at: datetime = moment()
    died_at: datetime = moment()
    status: str = "open"
    replays: int = 0
    resolved_at: datetime | None = moment(nullable=True)


class AuditEvent(SQLModel, table=True):
    """One state change in the chain. The database refuses UPDATE, DELETE and TRUNCATE."""

    __tablename__: ClassVar[str] = "audit_event"

    seq: int = Field(sa_column=Column(BigInteger, primary_key=True, autoincrement=False))
    at: datetime = moment()
    actor: str
    event: str
    subject: str
    request_id: UUID | None
    payload: dict[str, Any] = json_column()
    previous_hash: bytes = Field(sa_type=LargeBinary)
    hash: bytes = Field(sa_type=LargeBinary)


class AuditHead(SQLModel, table=True):
    """The newest link: its row lock orders the chain, its content shows a cut-off tail."""

    __tablename__: ClassVar[str] = "audit_head"

    only: bool = Field(default=True, primary_key=True)
    seq: int = Field(sa_type=BigInteger)
    hash: bytes = Field(sa_type=LargeBinary)
