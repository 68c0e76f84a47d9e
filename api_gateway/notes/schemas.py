"""Schemas of clinical notes and their results, as callers send and see them."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from api_gateway.http.storable import STORABLE

MAX_NOTE_CHARS = 120_000

NoteStatus = Literal["queued", "done", "failed"]


class NoteIn(BaseModel):
    """A clinical note to be summarized."""

    model_config = ConfigDict(extra="forbid")

    text: Annotated[
        str,
        StringConstraints(min_length=1, max_length=MAX_NOTE_CHARS, pattern=r"\S"),
        STORABLE,
        Field(description="the note as it is; spans count its code points"),
    ]
    title: Annotated[str | None, Field(max_length=300), STORABLE] = None


class NoteOut(BaseModel):
    """A note at one moment; `result` once it is done."""

    id: UUID
    status: NoteStatus
    title: str | None
    created_at: datetime
    finished_at: datetime | None
    result: Annotated[
        dict[str, Any] | None,
        Field(
            description="`summary` with seven lists of `{text, source}`; `plan.recommendations` "
            "with number, recommendation, source, confidence and hallucination_guard_note; "
            "`sections` and `chunks` that the citations name; `validation` with counts; "
            "`warnings` of `{code, detail}` (`several_patients`, `taken_back`, "
            "`addressed_to_program`, `allergies_contradict`, `not_english`); `provenance`. All "
            "offsets are code points of the text as it was sent."
        ),
    ] = None
    error: dict[str, Any] | None = None
