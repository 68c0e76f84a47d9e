"""The filters of a question or a search, as callers write them and OpenAPI shows them."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Annotated, Any

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import core_schema

from knowledge.loader import load
from knowledge.subjects.tags import Kind
from store.documents.records import SourceType


def _written(value: object) -> object:
    # pydantic reads numbers, also as strings, as seconds since 1970: "2020" would be no year.
    if not isinstance(value, str) or not re.match(r"\d{4}-\d\d-\d\d", value.strip()):
        raise ValueError("write it as a date or date-time, for example 2026-01-31")
    return value


Moment = Annotated[AwareDatetime | date, BeforeValidator(_written)]
"""A date, or a date-time with time zone."""


@dataclass(frozen=True)
class _TagOf:
    """Marks a string that is a tag of `kind` in `knowledge/subjects/vocabulary.yaml`."""

    kind: Kind

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.literal_schema([*load("subjects/vocabulary")[self.kind]])


SourceTypes = Annotated[list[SourceType], Field(min_length=1)]
Diseases = Annotated[list[Annotated[str, _TagOf("diseases")]], Field(min_length=1)]
Decisions = Annotated[list[Annotated[str, _TagOf("decisions")]], Field(min_length=1)]


class Filters(BaseModel):
    """What evidence has to be. All that is given has to hold; of a list, one entry."""

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_extra={"minProperties": 1})

    source_types: SourceTypes | None = None
    diseases: Diseases | None = Field(default=None, description="what a document speaks of")
    decisions: Decisions | None = Field(default=None, description="what a document speaks of")
    published_from: Moment | None = Field(
        default=None,
        description="published then or later; a date counts from its beginning in UTC; a document "
        "without a date of publication is in no range",
    )
    published_to: Moment | None = Field(
        default=None, description="published then or before; a date counts to its end in UTC"
    )

    @field_validator("published_to")
    @classmethod
    def _in_order(cls, end: datetime | date | None, info: ValidationInfo) -> datetime | date | None:
        begin = info.data.get("published_from")
        if begin and end and instant(end, time.max) < instant(begin, time.min):
            raise ValueError("the range ends before it begins: swap its two ends")
        return end

    @model_validator(mode="after")
    def _some(self) -> "Filters":
        if not any(value is not None for _, value in self):
            raise ValueError("give at least one filter, or leave filters out")
        return self


def instant(written: datetime | date, of_day: time) -> datetime:
    """The moment to compare with: of a date its time `of_day` (beginning or end), in UTC."""
    if isinstance(written, datetime):
        return written
    return datetime.combine(written, of_day, UTC)
