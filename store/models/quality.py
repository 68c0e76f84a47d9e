"""What is measured while the service works."""

from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import BigInteger
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field, SQLModel

from store.models.columns import json_column, moment


class AnswerQuality(SQLModel, table=True):
    """What was measured of an answer when it was sealed (MRD 4.2): names, counts and times.

    `quotations` counts citations and quotation marks inside claims; `unanchored` those of them
    whose words stood nowhere. None: nothing was shown that could lead, or the cost is not known.
    From `gate` on: what names the gate and what it did, as `workers.verify.record.counts` has it;
    None where an earlier release sealed it.
    """

    __tablename__: ClassVar[str] = "answer_quality"

    question_id: UUID = Field(foreign_key="question.id", primary_key=True)
    sealed_at: datetime = moment()
    query_type: str
    sources: int
    source_types: dict[str, int] = json_column()
    nccn: int
    trials: int
    trial_sources: int
    guidelines: int
    over_caps: int
    first_section: str | None = None
    routing_compliant: bool | None = None
    verified: int
    partial: int
    unverified: int
    conflicting: int
    citations: int
    quotations: int
    unanchored: int
    abstain_reason: str | None = None
    generator: str | None = None
    cost_usd: Decimal | None = None
    response_ms: float
    stage_ms: dict[str, Any] = json_column()
    gate: str | None = None
    drafted: int | None = None
    own_words: int | None = None
    source_words: int | None = None
    mended: int | None = None
    repaired: int | None = None
    doubts: int | None = None
    doubts_answered: int | None = None
    doubts_standing: int | None = None
    both_judged: int | None = None
    disagreed: int | None = None
    controls: int | None = None
    controls_missed: int | None = None
    believed: bool | None = None
    stops: dict[str, int] | None = Field(default=None, sa_type=JSONB(none_as_null=True))


class StageTakeover(SQLModel, table=True):
    """How often the work of a stage was taken over because its lease had run out, so far."""

    __tablename__: ClassVar[str] = "stage_takeover"

    stage: str = Field(primary_key=True)
    takeovers: int = Field(sa_type=BigInteger)
    last_at: datetime = moment()
