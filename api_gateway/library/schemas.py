"""Schemas of the library, as callers write and see them."""

from datetime import date, datetime, time
from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field, model_validator

from api_gateway.http.storable import STORABLE
from api_gateway.questions.filters import Moment, instant
from store.documents.library import Found, Held, Resting, State, Wanted
from store.documents.records import SourceType
from store.index.filters import Filter

MAX_WORDS_CHARS = 500
Word = Annotated[str, Field(max_length=100), STORABLE]


class Narrowed(BaseModel):
    """What a search is limited to. All that is given has to hold."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source_type: SourceType | None = None
    disease: Word | None = Field(None, description="a tag, as documents list it under `diseases`")
    published_from: Moment | None = Field(
        None, description="a date counts from its beginning; a document without a date is in none"
    )
    published_to: Moment | None = Field(None, description="a date counts to its end, in UTC")

    @model_validator(mode="after")
    def _in_order(self) -> "Narrowed":
        first, last = self.first, self.last
        if first and last and last < first:
            raise ValueError("the range ends before it begins: swap its two ends")
        return self

    @property
    def first(self) -> datetime | None:
        """The earliest moment of publication."""
        return None if self.published_from is None else instant(self.published_from, time.min)

    @property
    def last(self) -> datetime | None:
        """The latest moment of publication."""
        return None if self.published_to is None else instant(self.published_to, time.max)

    @property
    def only(self) -> Filter:
        """The filter of a search."""
        kind, disease = self.source_type, self.disease
        return Filter(
            source_types=frozenset([kind]) if kind else None,
            diseases=frozenset([disease]) if disease else None,
            published_from=self.first,
            published_to=self.last,
        )


class DocumentsIn(Narrowed):
    """What a listing is limited to, and which page of it."""

    source: Word | None = Field(
        None, description="the source that brought it, see /v1/sources; `uploaded` for a person"
    )
    state: State = "current"
    cursor: str | None = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50

    @property
    def wanted(self) -> Wanted:
        """The same for the store."""
        return Wanted(
            source_type=self.source_type,
            source=self.source,
            disease=self.disease,
            published_from=self.first,
            published_to=self.last,
            state=self.state,
        )


class SearchIn(Narrowed):
    """What is looked for."""

    q: Annotated[str, Field(min_length=1, max_length=MAX_WORDS_CHARS, pattern=r"\S"), STORABLE]
    limit: Annotated[int, Field(ge=1, le=50)] = 10


InDocuments = Annotated[DocumentsIn, Query()]
InSearch = Annotated[SearchIn, Query()]


class HeldDocumentPage(BaseModel):
    """Documents, the newest published first, those without a date last."""

    documents: list[Held]
    next_cursor: str | None = Field(description="for the next page; null on the last")


class FoundList(BaseModel):
    """Passages, best first."""

    passages: list[Found]
    without: list[str] = Field(
        default=[], description="parts of what is held that were away and were not searched"
    )


class RestingList(BaseModel):
    """Answers that cite a document, newest first."""

    answers: list[Resting]


def of_years(first: str, last: str) -> dict[str, str]:
    """The range of dates from the beginning of one year to the end of another; either may be "".

    Raises:
        ValueError: a year is none.
    """
    written = {"published_from": (first, 1, 1), "published_to": (last, 12, 31)}
    return {
        name: date(int(year), month, day).isoformat()
        for name, (year, month, day) in written.items()
        if year
    }
