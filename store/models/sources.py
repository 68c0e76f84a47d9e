"""What is followed where, and what was wrong with it."""

from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID, uuid4

from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field, SQLModel

from store.models.columns import big_identity, json_column, moment


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
    cursor_at: datetime | None = moment(nullable=True)
    failures: int = 0
    retry_at: datetime | None = moment(nullable=True)
    last_error: str | None = None
    last_error_at: datetime | None = moment(nullable=True)
    created_at: datetime = moment()
    followed_at: datetime = moment()


class Refresh(SQLModel, table=True):
    """One run of a watch: fetched page by page, complete once every page is stored."""

    id: UUID = Field(default_factory=uuid4, primary_key=True)
    watch_id: UUID = Field(foreign_key="watch.id")
    reason: str
    status: str = "queued"
    since: datetime | None = moment(nullable=True)
    started_at: datetime | None = moment(nullable=True)
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
    requested_at: datetime = moment()
    finished_at: datetime | None = moment(nullable=True)


class SlaBreach(SQLModel, table=True):
    """From when to when a watch was older than its SLA, and why."""

    __tablename__: ClassVar[str] = "sla_breach"

    id: int = big_identity()
    watch_id: UUID = Field(foreign_key="watch.id")
    began_at: datetime = moment()
    ended_at: datetime | None = moment(nullable=True)
    cause: str


class Finding(SQLModel, table=True):
    """Something about a record that does not hold, for people to look at."""

    id: int = big_identity()
    kind: str
    source: str
    subject: str
    document_id: UUID | None = Field(default=None, foreign_key="document.id")
    detail: dict[str, Any] = json_column()
    first_seen_at: datetime = moment()
    last_seen_at: datetime = moment()
    resolved_at: datetime | None = moment(nullable=True)
