"""Words that a scan or a typist damaged: how many, and where. Pure.

A word that is none of those the rules know, but one letter away from one, is damaged ("lympboma"),
as is a word with a digit inside ("Invasi0n"). Of the words that the rules know this estimates the
share that they could not see, which no other check notices: what is not seen leaves no trace.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from knowledge.subjects import drugs
from workers.extract.evaluation.signs_policy import signs_policy
from workers.extract.rubrics import field_policies, vocabulary

LEAST_LETTERS = 6
"""Letters from which a word one letter away from another is seldom right itself (ours)."""
_TOKEN = re.compile(r"[A-Za-z0-9]{3,24}")
_DIGIT_INSIDE = re.compile(
    r"[A-Za-z]{2}[0-9][a-z]{2}|[A-Z][0-9][a-z]{3}|\b[0-9][a-z]{4}|[a-z]{5}[015]\b"
)
_WORD = re.compile(r"[a-z]{4,}")
_ENDINGS = ("s", "es", "d", "ed", "ly", "ing", "n", "e", "al", "y", "a", "ic", "t")
_MONTHS = ["january", "february", "august", "september", "october", "november", "december"]


class Damage(NamedTuple):
    """Where damaged words stand, and their share of the words that should be known."""

    places: Sequence[tuple[int, int]]
    share: float


@cache
def _known() -> frozenset[str]:
    words = vocabulary()
    every: list[str] = [
        *_MONTHS,
        *signs_policy().known,
        *words.histology_heads,
        *words.histology_modifiers,
    ]
    every += [*words.institutions, *words.background, *words.conclusive]
    every += [name for one in words.labs.values() for name in one.names]
    every += [name for names in words.markers.values() for name in names]
    for one in field_policies().values():
        every += [*one.labels, *one.cues]
    every += [name for names in drugs.names().values() for name in names]
    return frozenset(word for phrase in every for word in _WORD.findall(phrase.lower()))


@cache
def _shortened() -> Mapping[str, frozenset[str]]:
    """Known words by what is left when one letter is taken out: one letter apart share one."""
    found: dict[str, set[str]] = {}
    for word in _known():
        if len(word) >= LEAST_LETTERS:
            for short in _without_one(word):
                found.setdefault(short, set()).add(word)
    return {short: frozenset(words) for short, words in found.items()}


def _without_one(word: str) -> set[str]:
    return {word} | {word[:at] + word[at + 1 :] for at in range(len(word))}


def meant(token: str) -> str | None:
    """The known word that a damaged one was, None where it is no damaged word."""
    word = token.lower()
    if len(word) < LEAST_LETTERS or word in _known() or word in signs_policy().right:
        return None
    for ending in _ENDINGS:
        if word + ending in _known():
            return None
        if word.endswith(ending) and word[: -len(ending)] in _known():
            return None
    if drugs.drugs_at(word):
        return None
    near = {one for short in _without_one(word) for one in _shortened().get(short, ())}
    near = {one for one in near if abs(len(one) - len(word)) <= 1}
    return min(near) if near else None


def damage(text: str) -> Damage:
    """The damage of a text."""
    places: list[tuple[int, int]] = []
    whole = 0
    for match in _TOKEN.finditer(text):
        token = match.group()
        if meant(token) is not None or _DIGIT_INSIDE.search(token):
            places.append(match.span())
        elif len(token) >= LEAST_LETTERS and token.lower() in _known():
            whole += 1
    total = whole + len(places)
    return Damage(places, len(places) / total if total else 0.0)
