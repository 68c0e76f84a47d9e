"""Suggested queries to follow in this domain, with the reason for each (`watches.yaml`)."""

from functools import cache
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from knowledge.feeds.queries import plain_query
from knowledge.loader import Policy, load


class Suggestion(Policy):
    """One query at one source. It is followed only if a user adds it."""

    source: str
    query: Annotated[str, Field(min_length=1)]
    reason: Annotated[str, Field(min_length=1)]

    @model_validator(mode="after")
    def _could_work(self) -> Self:
        try:
            plain = plain_query(self.source, self.query)
        except LookupError as error:
            raise ValueError(str(error)) from error
        if plain != self.query:
            raise ValueError(f"{self.source}: write the query as {plain!r}")
        return self


class _Entry(Policy):
    query: str
    reason: str


class _File(Policy):
    version: Literal[1]
    watches: dict[str, tuple[_Entry, ...]]


@cache
def suggestions() -> tuple[Suggestion, ...]:
    """All suggestions, by source in the order of the file.

    Raises pydantic.ValidationError if the file is invalid, such as an unknown source or a query
    that cannot work.
    """
    file = _File.model_validate(load("feeds/watches"))
    return tuple(
        Suggestion(source=source, query=entry.query, reason=entry.reason)
        for source, entries in file.watches.items()
        for entry in entries
    )
