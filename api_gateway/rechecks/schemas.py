"""Schemas of runs that verify held answers again, as OpenAPI shows them."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field


class RecheckIn(BaseModel):
    """Which answers to verify again, and whether what falls is recalled."""

    model_config = ConfigDict(extra="forbid")

    dry_run: bool = Field(default=True, description="only tell; nothing is recalled")
    everything: bool = Field(
        default=False, description="also answers that the gate of today let through"
    )
    ask: bool = Field(
        default=False,
        description="put to the language model what the record does not answer; it costs",
    )


class RecheckOut(BaseModel):
    """A run, and what it has found so far."""

    id: UUID
    status: Literal["running", "done", "failed"]
    dry_run: bool
    everything: bool
    ask: bool
    error: str | None = Field(description="why it failed; another run goes on from there")
    gate: str | None = Field(description="what names the gate of today; null: not begun")
    answers: int | None = Field(description="how many there are to look at; null: not begun")
    looked_at: int
    stands: int
    falls: int = Field(description="answers that are recalled, or would be")
    needs_judge: int = Field(
        description="answers of which the record does not say what the gate asks; they stay"
    )
    unreadable: int = Field(description="answers in a form that this release does not read")
    claims: int = Field(description="claims that change, or would need a judge")
    checks: dict[str, int] = Field(description="these claims, by the check that stops them")
    created_at: datetime
    finished_at: datetime | None


class RecheckedOut(BaseModel):
    """An answer that does not stand as it is."""

    question_id: UUID
    outcome: Literal["falls", "needs_judge", "unreadable"]
    gate_before: str | None = Field(description="the gate that it passed; null: not on record")
    findings: list[dict[str, Any]] = Field(
        description="the claims that change: `claim_id`, `before`, `after`, `checks`"
    )


class RecheckedList(BaseModel):
    """Answers of a run that do not stand as they are, in the order of their ids."""

    answers: list[RecheckedOut]
    next_cursor: str | None
