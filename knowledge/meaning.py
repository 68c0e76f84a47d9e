"""The word lists of the guards on a claim's meaning (`guards/*.yaml`), checked once.

Direction, negation, modality and content: policy of the verify stage's vetoes.
"""

from functools import cache
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from knowledge.loader import load

Phrase = Annotated[str, StringConstraints(min_length=1, pattern=r"^[^A-Z]+$")]
Phrases = tuple[Phrase, ...]
Share = Annotated[float, Field(ge=0, le=1)]
Words = Annotated[int, Field(ge=1, le=60)]
Sign = Literal["up", "down", "better", "worse", "same", "some"]
Standing = Literal["superior", "noninferior", "inferior"]


class _Policy(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1]


class Outcomes(BaseModel):
    """Outcomes of one subject whose rise is good for patients, and those whose fall is good."""

    model_config = ConfigDict(frozen=True, extra="forbid")

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
    joins: frozenset[Phrase]
    joins_clauses: frozenset[Phrase]
    least_closeness: Share


class NegationPolicy(_Policy):
    """`guards/negation.yaml`."""

    shunning: frozenset[Phrase]


class Cues(BaseModel):
    """One class of words that make a statement less than a fact."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reach: Words
    sentence: bool
    kept_by: tuple[str, ...]
    words: Phrases
    also: Phrases
    nothing: Phrases = ()


class Conditions(BaseModel):
    """Words before a condition, and the part of it that a claim must keep."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reach: Words
    share: Share
    words: Phrases
    also: Phrases


class Quantifiers(BaseModel):
    """Words that say how generally something holds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    wide: dict[str, Phrases]
    narrow: Phrases
    nothing: Phrases


class Refraining(BaseModel):
    """Words for not doing something, and further words by which a claim preserves that meaning."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    words: Phrases
    also: Phrases


class Imperatives(BaseModel):
    """Verbs that make a sentence, or the part after its condition, an order.

    The verbs in `nouns` are nouns too: they order only if no word of `follow` comes after them, and
    none of `finite` before a word of `subordinate`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    level: Annotated[int, Field(ge=1)]
    verbs: frozenset[Phrase]
    nouns: frozenset[Phrase]
    follow: frozenset[Phrase]
    finite: frozenset[Phrase]
    subordinate: frozenset[Phrase]
    before: frozenset[Phrase]


class ModalityPolicy(_Policy):
    """`guards/modality.yaml`."""

    cues: dict[str, Cues]
    conditions: Conditions
    exceptions: Conditions
    imperatives: Imperatives
    settings: dict[str, Phrases]
    refraining: Refraining
    recommendations: tuple[Phrases, ...]
    quantifiers: Quantifiers
    cause: Phrases
    association: Phrases

    @model_validator(mode="after")
    def _kept_by_classes_that_exist(self) -> "ModalityPolicy":
        for name, cues in self.cues.items():
            unknown = set(cues.kept_by) - self.cues.keys()
            if unknown:
                raise ValueError(f"modality.yaml: {name} is kept by unknown {sorted(unknown)}")
        return self


class Close(BaseModel):
    """How close a language model's claim must be to one sentence of its passage."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    least_share: Share
    least_literal: Share
    title_weight: Share
    news: Words
    leads: Phrases
    pointers: frozenset[Phrase]
    pronouns: frozenset[Phrase]
    prepositions: frozenset[Phrase]


class Effect(BaseModel):
    """Words for one effect, and other words in a passage that support them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    says: Phrases
    needs: Phrases


class ContentPolicy(_Policy):
    """`guards/content.yaml`."""

    close: Close
    effects: tuple[Effect, ...]

    least_share: Share
    title_weight: Share
    neighbour_weight: Share
    unknown_weight: Annotated[float, Field(ge=1, le=10)]
    frame: Phrases
    same: tuple[Phrases, ...]
    drug_endings: Phrases
    not_drugs: Phrases
    glue: Phrases
    abbreviations: Phrases


@cache
def direction_policy() -> DirectionPolicy:
    """The words of direction. As all functions here, raises pydantic.ValidationError if invalid."""
    return DirectionPolicy.model_validate(load("guards/direction"))


@cache
def negation_policy() -> NegationPolicy:
    """Words that tell to leave something alone."""
    return NegationPolicy.model_validate(load("guards/negation"))


@cache
def modality_policy() -> ModalityPolicy:
    """The words of certainty, conditions and generality."""
    return ModalityPolicy.model_validate(load("guards/modality"))


@cache
def content_policy() -> ContentPolicy:
    """The rules on which words of a claim must be in its passage."""
    return ContentPolicy.model_validate(load("guards/content"))
