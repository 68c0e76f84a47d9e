"""Words by which identifiers of persons are found (`persons.yaml`), checked. Pure."""

from functools import cache
from typing import Annotated, Literal

from pydantic import Field

from knowledge.loader import Policy, load

Words = Annotated[tuple[str, ...], Field(min_length=1)]


class PersonPolicy(Policy):
    """Labels of names, places, numbers, births, phones and addresses, and the words that stand
    beside names or are none; see the comments of the file."""

    version: Literal[1]
    names: Words
    unsure_names: Words
    places: Words
    numbers: Words
    titles: frozenset[str]
    ends: frozenset[str]
    of_names: Words
    of_births: Words
    of_phones: Words
    of_addresses: Words
    of_numbers: Words
    honorifics: Words
    degrees: Words
    acts: Words
    meetings: Words
    valedictions: Words
    particles: Words
    streets: Words
    street_endings: Words
    eponym_heads: frozenset[str]
    verbs: frozenset[str]


@cache
def person_policy() -> PersonPolicy:
    """The file's content; raises ValidationError if it is invalid."""
    return PersonPolicy.model_validate(load("documents/persons"))
