"""Schemas of extracted documents and their reviews, as callers send and see them."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from api_gateway.http.storable import STORABLE
from knowledge.documents.extraction import DocumentTypeName, ProfileName, extraction_policy

MAX_DOCUMENT_CHARS = extraction_policy().max_chars
MAX_VALUE_CHARS = 2_000
MAX_VALUES = 200
MAX_CORRECTED_FIELDS = 60

ExtractionStatus = Literal["queued", "running", "done", "failed"]
ReviewStatus = Literal["open", "accepted", "corrected"]


class ExtractionOptions(BaseModel):
    """What may be said about a document."""

    model_config = ConfigDict(extra="forbid")

    title: Annotated[str | None, Field(max_length=300), STORABLE] = None
    document_type: Annotated[
        DocumentTypeName | None, Field(description="if it is known; found out if not")
    ] = None
    profile: Annotated[
        ProfileName,
        Field(
            description="how good is good enough: real-time 0.85 in 2 iterations, batch 0.95 in "
            "3, clinical 0.98 in 5"
        ),
    ] = "batch"


class ExtractionIn(ExtractionOptions):
    """A clinical document as text."""

    text: Annotated[
        str,
        StringConstraints(min_length=1, max_length=MAX_DOCUMENT_CHARS, pattern=r"\S"),
        STORABLE,
        Field(description="the document as it is; spans count its code points"),
    ]


class IterationOut(BaseModel):
    """One iteration that is done."""

    part: int
    type: str
    iteration: int
    score: float
    improvement_from_previous: float | None


class ReviewLine(BaseModel):
    """A review without words of the document."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    extraction_id: UUID
    status: ReviewStatus
    score: float
    created_at: datetime
    decided_at: datetime | None
    decided_by: str | None


class ReviewOut(ReviewLine):
    """A review with what it is about."""

    corrected: Annotated[
        dict[str, Any] | None,
        Field(description="by field: values with `start`, `end` and the `words` there; null: none"),
    ] = None
    fields: Annotated[
        dict[str, Any], Field(description="as they were extracted; spans count the stored text")
    ]


class ReviewPage(BaseModel):
    """Reviews, those that wait longest first."""

    reviews: list[ReviewLine]
    next_cursor: str | None


class ExtractionLine(BaseModel):
    """An extraction in a list."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID
    status: str
    title: str | None
    outcome: str | None
    document_type: str | None
    profile: str
    score: float | None
    iterations: int
    met_threshold: bool | None
    created_at: datetime
    finished_at: datetime | None


class ExtractionPage(BaseModel):
    """Extractions, newest first."""

    extractions: list[ExtractionLine]
    next_cursor: str | None


class ExtractionOut(ExtractionLine):
    """An extraction at one moment; `result` once it is done."""

    progress: Annotated[list[IterationOut], Field(description="the iterations that are done")]
    result: Annotated[
        dict[str, Any] | None,
        Field(
            description="`outcome` is `extracted` or `unreadable`. Extracted: `type`, `fields` "
            "with `value`, `status` (found, not_present, ambiguous), `start` and `end` in the "
            "stored text, `score`, `iterations`, `met_threshold`, `needs_review`, `parts` with "
            "their `reliability_loop` and its history, `provenance` with the cost. Unreadable: "
            "`error`, `readability` with issues, `suggestions`."
        ),
    ] = None
    review: ReviewLine | None = None
    error: dict[str, Any] | None = None


class ExtractionText(BaseModel):
    """The text that spans count; of a file, as it was read."""

    id: UUID
    text: str


class StatedIn(BaseModel):
    """A value and where the document states it: code points `[start, end)` of the stored text."""

    model_config = ConfigDict(extra="forbid")

    value: Annotated[
        str,
        StringConstraints(min_length=1, max_length=MAX_VALUE_CHARS, pattern=r"\S"),
        Field(description="the document's own words; they must stand in the span"),
    ]
    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=1)]


FieldName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,59}$")]
CorrectionIn = Annotated[
    dict[FieldName, StatedIn | Annotated[list[StatedIn], Field(max_length=MAX_VALUES)] | None],
    Field(
        min_length=1,
        max_length=MAX_CORRECTED_FIELDS,
        description="by field: the value, or several, with their spans; null: the document "
        "states none",
    ),
]
