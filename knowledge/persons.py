"""Labels behind which a patient's name or number stands (`persons.yaml`), checked. Pure."""

from functools import cache
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from knowledge.loader import load

Words = Annotated[tuple[str, ...], Field(min_length=1)]


class PersonPolicy(BaseModel):
    """Labels of a name, sure or not, places, labels of numbers, and what is no name."""

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
    """The file's content; raises ValidationError where it is not what it should be."""
    return PersonPolicy.model_validate(load("persons"))
