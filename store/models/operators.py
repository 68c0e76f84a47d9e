"""What operators, or the circuits in their place, have decided."""

from datetime import datetime
from typing import ClassVar
from uuid import UUID

from sqlmodel import Field, SQLModel

from store.models.columns import created, moment


class DeadLetterResolution(SQLModel, table=True):
    """Who ended a dead letter, how and why; one for each that is no longer open."""

    __tablename__: ClassVar[str] = "dead_letter_resolution"

    dead_letter_id: UUID = Field(primary_key=True, foreign_key="dead_letter.id")
    kind: str
    by: str
    reason: str | None = None
    forced: bool = False
    upgraded_from: str | None = None
    at: datetime = created()
    due_at: datetime | None = moment(nullable=True)


class StageCircuit(SQLModel, table=True):
    """Whether a stage works: a stage without a row is `closed`, it does."""

    __tablename__: ClassVar[str] = "stage_circuit"

    stage: str = Field(primary_key=True)
    state: str
    reason: str | None = None
    changed_by: str
    changed_at: datetime = moment()
    counted_from: datetime | None = moment(nullable=True)
    probe_at: datetime | None = moment(nullable=True)
    probe: UUID | None = None
    failed_probes: int = 0
