"""The word lists of `knowledge/verification.yaml`, checked and indexed once per process."""

import math
import re
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from knowledge.loader import load
from workers.verify.entailment.passage import stem

Share = Annotated[float, Field(gt=0, lt=1)]
Count = Annotated[int, Field(ge=1)]
_PART = re.compile(r"[^\W_]+")


class Policy(BaseModel):
    """From which probability on a verdict is given.

    `supported` has steps [length of the passage, probability from this length on]; the length is
    `measure.Measured.length`, in sentences.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    supported: Annotated[tuple[tuple[Count, Share], ...], Field(min_length=1)]
    contradicted: Share

    @model_validator(mode="after")
    def _steps_rise(self) -> Self:
        """A longer passage offers more sentences that agree by chance; it may never need less."""
        if self.supported[0][0] != 1:
            raise ValueError("the first step of `supported` must be for one sentence")
        for (length, share), (next_length, next_share) in pairwise(self.supported):
            if next_length <= length or next_share < share:
                raise ValueError("the steps of `supported` must rise")
        return self

    def supported_from(self, length: int) -> float:
        """The probability that "supported" needs against a passage of `length` sentences; one
        without a sentence supports nothing."""
        return max((share for least, share in self.supported if least <= length), default=math.inf)


class Limits(BaseModel):
    """How much is read: characters of each text, and sentences of the passage."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    claim_characters: Count
    evidence_characters: Count
    sentences: Count
    sentence_characters: Count
    nearest: Count


class Directions(BaseModel):
    """Words that say that something goes up or down."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    up: tuple[str, ...]
    down: tuple[str, ...]


class Lexicon(BaseModel):
    """Policy and words of the claim verifier; see the data file for each list's source."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int
    policy: Policy
    limits: Limits
    opposites: tuple[tuple[str, str], ...]
    directions: Directions
    negation: frozenset[str]
    null_effect: tuple[str, ...]
    hedges: tuple[str, ...]
    absolutes: frozenset[str]
    causal: frozenset[str]
    stop_words: frozenset[str]

    @cached_property
    def up(self) -> frozenset[str]:
        """Stems of the words that say that something goes up."""
        return _stems(self.directions.up)

    @cached_property
    def down(self) -> frozenset[str]:
        """Stems of the words that say that something goes down."""
        return _stems(self.directions.down)

    @cached_property
    def causal_stems(self) -> frozenset[str]:
        """Stems of words for cause."""
        return _stems(self.causal)

    @cached_property
    def stop_stems(self) -> frozenset[str]:
        """Stems of words without content."""
        return _stems(self.stop_words)

    @cached_property
    def partners(self) -> dict[str, frozenset[str]]:
        """A word's stem to the stems of its opposites."""
        table: dict[str, set[str]] = {}
        for one, other in self.opposites:
            if stem(one) != stem(other):
                table.setdefault(stem(one), set()).add(stem(other))
                table.setdefault(stem(other), set()).add(stem(one))
        return {key: frozenset(value) for key, value in table.items()}

    @cached_property
    def hedging(self) -> re.Pattern[str]:
        """Finds words and phrases of doubt."""
        return _any_of(self.hedges)

    @cached_property
    def without_effect(self) -> re.Pattern[str]:
        """Finds phrases that say that there is no effect or difference."""
        return _any_of(self.null_effect)

    @cached_property
    def negating(self) -> re.Pattern[str]:
        """Finds negations; contractions end in n't."""
        return re.compile(rf"{_any_of(self.negation - {_CONTRACTED}).pattern}|n't\b", re.I)


_CONTRACTED = "n't"


def _stems(words: tuple[str, ...] | frozenset[str]) -> frozenset[str]:
    return frozenset(stem(_PART.findall(word.lower())[0]) for word in words if "-" not in word)


def _any_of(phrases: tuple[str, ...] | frozenset[str]) -> re.Pattern[str]:
    longest_first = sorted(phrases, key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, longest_first))})\b", re.IGNORECASE)


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """The lists as the data file has them.

    Raises:
        pydantic.ValidationError: the data file does not fit.
    """
    return Lexicon.model_validate(load("verification"))
