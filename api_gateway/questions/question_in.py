"""A question as callers write it; `attest ask` checks one without the rest of the gateway."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

from api_gateway.http.storable import STORABLE
from api_gateway.questions.filters import Filters, Moment, instant

MAX_QUESTION_CHARS = 4000
MAX_QUESTION_BODY_BYTES = 64 * 1024
CLOCK_SKEW = timedelta(minutes=5)
"""Our choice: how far a client's clock may be ahead of this machine's."""


class QuestionIn(BaseModel):
    """A question to be answered from the evidence that is held."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "question": "Does ctDNA clearance after surgery predict recurrence in stage "
                    "III colon cancer?",
                    "as_of": "2026-01-31",
                    "max_references": 8,
                },
                {
                    "question": "What speaks against immunotherapy in bladder cancer?",
                    "filters": {
                        "source_types": ["pubmed", "clinicaltrials"],
                        "diseases": ["bladder_cancer"],
                        "published_from": "2020-01-01",
                    },
                },
            ]
        },
    )

    question: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_QUESTION_CHARS),
        STORABLE,
    ]
    as_of: Moment | None = Field(
        default=None,
        description="answer as of this date or date-time (with time zone); now, if left out. "
        "One that lies in the future is refused with 422; days are those of UTC",
    )
    patient_context: Annotated[str, Field(max_length=MAX_QUESTION_CHARS), STORABLE] | None = Field(
        default=None, description="stays in the database: in no log, metric or audit event"
    )
    max_references: Annotated[int, Field(strict=True, ge=1, le=10)] | None = None
    filters: Filters | None = None
    after: UUID | None = Field(
        default=None,
        description="the question of the same owner that this one follows; what this one leaves "
        'to it ("What about stage III?") is written out, as `question` of the result shows',
    )

    @field_validator("as_of")
    @classmethod
    def _begun(cls, value: datetime | date | None) -> datetime | date | None:
        if value is not None and instant(value, time.min) > datetime.now(UTC) + CLOCK_SKEW:
            raise ValueError("lies in the future (days are those of UTC): leave it out for now")
        return value

    def options(self) -> dict[str, Any]:
        """The fields that were set besides the question itself, as JSON values."""
        return self.model_dump(mode="json", exclude={"question"}, exclude_none=True)
