"""The publication type that describes a record best, and the level of its evidence
(`publication_types.yaml`)."""

from collections.abc import Iterable
from functools import cache
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from knowledge.loader import Policy, load


class PublicationType(NamedTuple):
    """A publication type as NLM spells it, and the evidence level that it states, if any."""

    name: str
    level: str | None


class _Entry(Policy):
    type: Annotated[str, Field(min_length=1)]
    level: Annotated[str, Field(min_length=1)] | None


class _File(Policy):
    version: Literal[1]
    basis: Annotated[str, Field(min_length=1)]
    order: tuple[_Entry, ...]
    jats: dict[str, str]

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        names = [entry.type.lower() for entry in self.order]
        if len(set(names)) != len(names):
            raise ValueError("a publication type stands in the order twice")
        unknown = {name for name in self.jats.values() if name.lower() not in names}
        if unknown:
            raise ValueError(f"jats names types that are not in the order: {sorted(unknown)}")
        return self


@cache
def _file() -> _File:
    return _File.model_validate(load("works/publication_types"))


@cache
def _ranks() -> dict[str, tuple[int, PublicationType]]:
    return {
        entry.type.lower(): (rank, PublicationType(entry.type, entry.level))
        for rank, entry in enumerate(_file().order)
    }


def most_telling(types: Iterable[str]) -> PublicationType | None:
    """The type in `types` that comes first in the file; else the first of `types`, without a level.

    None if `types` is empty.
    """
    ranks = _ranks()
    best: tuple[int, PublicationType] | None = None
    first: str | None = None
    for name in types:
        first = first or name
        ranked = ranks.get(name.lower())
        if ranked and (best is None or ranked[0] < best[0]):
            best = ranked
    if best:
        return best[1]
    return PublicationType(first, None) if first else None


def of_article_type(article_type: str) -> PublicationType | None:
    """The publication type equivalent to a JATS `article-type`; None if there is none."""
    name = _file().jats.get(article_type.lower())
    return most_telling([name]) if name else None
