"""The word lists of the guards on a claim's meaning (`guards/*.yaml`), checked once: direction,
negation, causes, and how words are compared."""

from functools import cache
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from knowledge.loader import Policy, load

Phrase = Annotated[str, StringConstraints(min_length=1, pattern=r"^[^A-Z]+$")]
Phrases = tuple[Phrase, ...]
Share = Annotated[float, Field(ge=0, le=1)]
Sign = Literal["up", "down", "better", "worse", "same", "some"]
Standing = Literal["superior", "noninferior", "inferior"]


class _Policy(Policy):
    version: Literal[1]


class Outcomes(Policy):
    """Outcomes of one subject whose rise is good for patients, and those whose fall is good."""

    good: Phrases
    bad: Phrases


class DirectionPolicy(_Policy):
    """`guards/direction.yaml`."""

    signs: dict[Sign, Phrases]
    standing: dict[Standing, Phrases]
    weak: Phrases
    exact: Phrases
    nothing: Phrases
    opposites: tuple[tuple[Phrase, Phrase], ...]
    outcomes: dict[str, Outcomes]
    versus: Phrases
    least_closeness: Share


class NegationPolicy(_Policy):
    """`guards/negation.yaml`."""

    shunning: frozenset[Phrase]
    refraining: Phrases


class ContentPolicy(_Policy):
    """`guards/content.yaml`."""

    frame: Phrases
    same: tuple[Phrases, ...]
    glue: Phrases


@cache
def direction_policy() -> DirectionPolicy:
    """The words of direction. As all functions here, raises pydantic.ValidationError if invalid."""
    return DirectionPolicy.model_validate(load("guards/direction"))


@cache
def negation_policy() -> NegationPolicy:
    """Words that tell to leave something alone, or undone."""
    return NegationPolicy.model_validate(load("guards/negation"))


@cache
def content_policy() -> ContentPolicy:
    """Words of reporting and of grammar, and those that are one."""
    return ContentPolicy.model_validate(load("guards/content"))
