"""Schemas of answers whose sources changed, as OpenAPI shows them."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

RecallFilter = Literal["affected", "reaffirmed", "superseded"]


class RecallChangeOut(BaseModel):
    """One answer changed its state."""

    seq: int = Field(description="of the audit event that says so")
    at: datetime
    question_id: UUID
    state: RecallFilter
    because: list[dict[str, Any]] = Field(
        default=[],
        description="of an affected answer: the documents that changed, and how: `superseded`, "
        "`corrected`, `expression_of_concern` or `retracted`; or `gate`: claims are verified "
        "otherwise now, with those that no longer stand",
    )
    spans: list[dict[str, Any]] = Field(
        default=[],
        description="of a reaffirmed one: where its quotations stand in the current versions",
    )
    findings: list[dict[str, Any]] = Field(
        default=[], description="of a superseded one: the claims that do not stand, and why"
    )
    superseded_by: UUID | None = Field(default=None, description="the same question, asked anew")


class RecallFeed(BaseModel):
    """Changes, the first ones first."""

    changes: list[RecallChangeOut]
    next_cursor: str | None = Field(
        description="what follows these changes; keep it and come back with it, also from the "
        "last page. null: there has been no change yet"
    )
    more: bool = Field(description="whether there is more already")
