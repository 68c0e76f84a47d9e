"""What an attempt says of each field: the value, its status, and the span that says it. Pure."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from workers.extract.values import Value


class Status(StrEnum):
    """Of a field. `not_present`: whoever extracted says that the document does not state it."""

    FOUND = "found"
    NOT_PRESENT = "not_present"
    AMBIGUOUS = "ambiguous"


class Found(NamedTuple):
    """A value that some words state, `[start, end)` in code points of the document.

    `wide` marks what only the second, more generous reading accepts.
    """

    value: Value
    start: int
    end: int
    wide: bool = False


class Item(BaseModel):
    """One value and the words that state it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: Value
    start: int = Field(ge=0)
    end: int = Field(ge=0)

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.end <= self.start:
            raise ValueError("a span holds at least one character")
        return self


class FieldResult(BaseModel):
    """A field of an attempt.

    A field of one value has one item, or, where it is ambiguous, one for each reading, the
    likeliest first; a field of many values has one for each, and none where the document says that
    there is nothing (`stated` is then the span of those words).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    status: Status
    many: bool = False
    items: tuple[Item, ...] = ()
    stated: tuple[int, int] | None = None
    origin: Literal["rules", "model"] = "rules"

    @model_validator(mode="after")
    def _held_by_words(self) -> Self:
        placed = bool(self.items) or (self.many and self.stated is not None)
        if (self.status is Status.NOT_PRESENT) == placed:
            raise ValueError("what is found has a span, and what is not present has none")
        return self

    @property
    def value(self) -> Value | list[Value] | None:
        """The value, the values of a field of many, None where there is none."""
        if self.status is Status.NOT_PRESENT:
            return None
        return [one.value for one in self.items] if self.many else self.items[0].value

    @property
    def span(self) -> tuple[int, int] | None:
        """Where it stands; for many values, from the first to the last."""
        if not self.items:
            return self.stated
        if not self.many:
            return self.items[0].start, self.items[0].end
        return min(one.start for one in self.items), max(one.end for one in self.items)

    def as_body(self) -> dict[str, Any]:
        """`{value, status, start, end, items?, origin}` as JSON data."""
        span, value = self.span, self.value
        body: dict[str, Any] = {
            "value": [one.model_dump(exclude_none=True) for one in value]
            if isinstance(value, list)
            else None
            if value is None
            else value.model_dump(exclude_none=True),
            "status": self.status.value,
            "start": span[0] if span else None,
            "end": span[1] if span else None,
            "origin": self.origin,
        }
        if self.many or len(self.items) > 1:
            body["items"] = [one.model_dump(exclude_none=True) for one in self.items]
        return body


NOT_PRESENT = FieldResult(status=Status.NOT_PRESENT)


class Attempt(BaseModel):
    """What one iteration made of a document; a field that is left out was not looked for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    document_type: str
    fields: Mapping[str, FieldResult]

    def values(self) -> dict[str, Any]:
        """The fields' values as JSON data, for a prompt: no spans."""
        return {name: one.as_body()["value"] for name, one in self.fields.items()}

    def as_body(self) -> dict[str, Any]:
        """As JSON data, with spans."""
        return {name: one.as_body() for name, one in self.fields.items()}


def shifted(result: FieldResult, by: int) -> FieldResult:
    """The same field of a part of a document, in places of the whole."""
    stated = result.stated
    return result.model_copy(
        update={
            "items": tuple(
                one.model_copy(update={"start": one.start + by, "end": one.end + by})
                for one in result.items
            ),
            "stated": (stated[0] + by, stated[1] + by) if stated else None,
        }
    )
