"""What may be left out of a sentence that is still in its own words. Pure.

An introduction of which every word is known only to join it to what was said, and brackets that
tell nothing; but not that a result may be chance.
"""

import re
from functools import cache
from typing import Literal

from pydantic import BaseModel, ConfigDict

from clinical_text.assertion.lexicon import lexicon
from knowledge.loader import load
from workers.verify.guards.statements import Token, read

_BENDS = re.compile(r"(?:ly|ing|ed)$")


class _Policy(BaseModel):
    """`guards/omissions.yaml`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1]
    telling: frozenset[str]
    people: frozenset[str]
    introducing: frozenset[str]
    chance: tuple[str, ...]
    chance_told: frozenset[str]
    connectives: frozenset[str]


def introduces(words: str) -> bool:
    """Whether words at the head of a sentence, up to its comma, only join it to what was said:
    "However", "In conclusion". Each must be known to do so: a word that no list has tells
    something, a connective may make what follows a condition, and of words of reporting those of
    people tell in whom, and adverbs and participles when ("previously") and from where."""
    tokens = read(words).tokens
    joins = [
        one.word in _policy().introducing
        or (one.frame and one.word not in _policy().people and not _BENDS.search(one.word))
        for one in tokens
    ]
    return any(joins) and all(
        _only_joins(one) if known else _is_grammar(one)
        for one, known in zip(tokens, joins, strict=True)
    )


def is_grammar(words: str) -> bool:
    """Whether words are ones of grammar that deny, join and limit nothing."""
    return all(map(_is_grammar, read(words).tokens))


def hides_chance(words: str, sentence: str) -> bool:
    """Whether `words` leave out that the sentence calls its result one that may be chance."""
    if not _by_chance(sentence) or _by_chance(words):
        return False
    told = (one.word for one in read(words).tokens)
    return not any(one in _policy().chance_told or one.endswith("n't") for one in told)


def _is_grammar(token: Token) -> bool:
    return not token.content and _only_joins(token)


def _only_joins(token: Token) -> bool:
    """Whether a word makes nothing of a sentence a condition, a denial or a part."""
    limits = token.word in _policy().telling or token.word in _policy().connectives
    return not limits and not lexicon().denies(token.word)


def _by_chance(text: str) -> bool:
    return any(pattern.search(text) for pattern in _chance())


@cache
def _chance() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(one, re.IGNORECASE) for one in _policy().chance)


@cache
def _policy() -> _Policy:
    return _Policy.model_validate(load("guards/omissions"))
