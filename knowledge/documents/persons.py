"""Labels that precede a patient's name or number (`persons.yaml`), checked. Pure."""

from functools import cache
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from knowledge.loader import load

Words = Annotated[tuple[str, ...], Field(min_length=1)]


class PersonPolicy(BaseModel):
    """Certain and uncertain labels of names, places, labels of numbers, and words that are no
    names."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1]
    names: Words
    unsure_names: Words
    places: Words
    numbers: Words
    titles: frozenset[str]
    ends: frozenset[str]


@cache
def person_policy() -> PersonPolicy:
    """The file's content; raises ValidationError if it is invalid."""
    return PersonPolicy.model_validate(load("documents/persons"))
