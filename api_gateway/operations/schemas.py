"""Schemas for operators: dead letters, their groups, replays, and the circuits of stages."""

import re
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field

from knowledge.operation.operating import replay_policy
from messages import Stage
from store.dead_letters.listing import Chosen, Group
from store.pipeline.circuits import StageState

REPLAY_LIMIT = replay_policy().limit


def _plain(text: str) -> str:
    if re.search(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]", text) or not text.strip():
        raise ValueError("write a reason in plain text")
    return text.strip()


Reason = Annotated[
    str,
    Field(min_length=1, max_length=500, description="for who looks later; no patient's data"),
    AfterValidator(_plain),
]
Fingerprint = Annotated[str, Field(pattern=r"^[0-9a-f]{16}$", description="of one fault")]
ErrorType = Annotated[
    str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$", description="such as `Permanent`")
]
Status = Literal["open", "replayed", "discarded", "all"]


class LetterFilter(BaseModel):
    """Which dead letters: all that is given must fit."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    stage: Stage | None = None
    fingerprint: Fingerprint | None = None
    error_type: ErrorType | None = None
    since: AwareDatetime | None = Field(default=None, description="died then or later")
    until: AwareDatetime | None = Field(default=None, description="died before")

    def chosen(self, status: Status = "open") -> Chosen:
        """The filter in the store's form."""
        return Chosen(
            status=None if status == "all" else status,
            stage=self.stage.value if self.stage else None,
            fingerprint=self.fingerprint,
            error_type=self.error_type,
            since=self.since,
            until=self.until,
        )


class LettersIn(LetterFilter):
    """A page of a list of dead letters."""

    model_config = ConfigDict(extra="ignore")

    status: Status = "open"
    cursor: str | None = Field(default=None, description="`next_cursor` of the page before")
    limit: int = Field(default=100, ge=1, le=1000)


class ReplayIn(LetterFilter):
    """Open dead letters to replay; without any filter, all of them."""

    dry_run: bool = Field(default=True, description="only say what would be done")
    force: bool = Field(
        default=False, description="also what died again of the same cause under the same code"
    )
    per_second: float | None = Field(
        default=None,
        ge=0.001,
        le=1000,
        description=f"that fall due in a second; {replay_policy().per_second:g} if left out",
    )
    limit: int = Field(default=REPLAY_LIMIT, ge=1, le=REPLAY_LIMIT, description="to look at")
    cursor: str | None = Field(
        default=None, description="`next_cursor` of the call before: go on behind what it looked at"
    )


class LetterLine(BaseModel):
    """A message that died, in a list."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    stage: str
    subject: str | None = Field(description="id of what it worked for, or a hash of several")
    error_type: str
    cause: str = Field(description="names ids and rules, never a text's words")
    fingerprint: str = Field(description="the same fault has the same one")
    attempts: int
    first_failed_at: datetime
    died_at: datetime = Field(description="when it failed for the last time")
    status: Literal["open", "replayed", "discarded"]
    replays: int
    resolved_at: datetime | None
    code_version: str = Field(description="of the worker that gave it up")
    message_schema: str | None = Field(description="such as `retrieve.v1`; null if it named none")


class Resolution(BaseModel):
    """Who ended a dead letter, how and why."""

    model_config = ConfigDict(from_attributes=True)

    kind: Literal["replayed", "discarded"]
    by: str
    reason: str | None
    forced: bool
    upgraded_from: str | None = Field(description="the schema that it had before the replay")
    at: datetime
    due_at: datetime | None = Field(description="when the replayed work became due")


class LetterOut(LetterLine):
    """A message that died, with all that is known. Payloads hold ids and hashes only."""

    outbox_id: UUID | None
    payload: dict[str, Any]
    traceback: str
    resolution: Resolution | None = None


class LetterPage(BaseModel):
    """Dead letters, newest first."""

    dead_letters: list[LetterLine]
    next_cursor: str | None


class LetterGroupPage(BaseModel):
    """Faults, the one that was seen last first."""

    groups: list[Group]
    next_cursor: str | None


class Refusal(BaseModel):
    """Dead letters that are not replayed, for one reason."""

    reason: str
    count: int
    examples: list[UUID] = Field(description="the first few")


class ReplayOut(BaseModel):
    """What was done or, in a dry run, would be done."""

    dry_run: bool
    matched: int = Field(description="that were looked at")
    total: int = Field(description="that fit when it began, those before `cursor` among them")
    replayed: int = Field(description="in a dry run: that would be")
    upgraded: int = Field(description="of these, from an older version of their schema")
    refused: list[Refusal]
    last_due_at: datetime | None = Field(description="when the last of them falls due")
    more: bool = Field(description="there are more that fit: ask again with `next_cursor`")
    next_cursor: str | None


class StageList(BaseModel):
    """All stages, in the order of the chain."""

    stages: list[StageState]


class PauseIn(BaseModel):
    """Why a stage is stopped."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reason: Reason


class Health(BaseModel):
    """The process runs."""

    status: Literal["ok"] = "ok"
    version: str = Field(description="the release that runs")


class Readiness(BaseModel):
    """Every part that is needed answers."""

    status: Literal["ready"] = "ready"
    checks: dict[str, str]
    paused_stages: dict[str, str] = Field(
        default={}, description="stages that do not work: `open` by its circuit, `paused` by hand"
    )
