"""Schemas of the audit routes: hashes, ids, counts, versions and verdicts; no words."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

Hex = Annotated[str, BeforeValidator(bytes.hex)]


class AuditEventOut(BaseModel):
    """One link of the audit chain."""

    model_config = ConfigDict(from_attributes=True)

    seq: int
    at: datetime
    actor: str
    event: str
    subject: str
    request_id: UUID | None
    payload: dict[str, Any]
    previous_hash: Hex
    hash: Hex


class AuditPage(BaseModel):
    """Audit events, newest first."""

    events: list[AuditEventOut]
    next_cursor: str | None = Field(description="for the next page; null on the last")


class ChainOut(BaseModel):
    """Whether the audit chain is whole."""

    model_config = ConfigDict(from_attributes=True)

    events: int = Field(description="found good, in the range that was asked for")
    whole: bool
    first_bad_seq: int | None
    reason: str | None = Field(description="what is wrong with the first bad event")
    checked: Annotated[str, BeforeValidator(str)] = Field(
        description="the last good link as SEQ:HASH. Keep it elsewhere; `after` takes it"
    )


class _FromAttributes(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class StepOut(_FromAttributes):
    """One event of an answer's story."""

    seq: int
    at: datetime
    seconds: float = Field(description="since the first event")
    event: str
    actor: str
    subject: str
    words: str = Field(description="what happened, in plain words of ours")
    payload: dict[str, Any]
    hash: str
    holds: bool = Field(
        description="false: the event is not what was written, see /v1/audit/verify"
    )


class TrailSourceOut(_FromAttributes):
    """A version that was evidence. `status` is today's."""

    document_id: UUID
    version_id: UUID
    version: int
    source_type: str
    content_hash: str
    status: str
    cited: bool


class SealedOut(_FromAttributes):
    """The answer, without its words."""

    hash: str
    sealed_at: datetime | None
    abstain_reason: str | None
    claims: int
    citations: int
    provenance: dict[str, Any]


class TrailOut(_FromAttributes):
    """The story of one answer, in the order in which it was committed."""

    question_id: UUID
    status: str
    asked_at: datetime
    finished_at: datetime | None
    text_hash: str
    steps: list[StepOut]
    sources: list[TrailSourceOut]
    answer: SealedOut | None
