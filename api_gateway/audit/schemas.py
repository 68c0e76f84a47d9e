"""Schemas of the audit routes: hashes, ids and counts; no words."""

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
