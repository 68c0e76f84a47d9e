"""Whether words have a finite verb, by the forms of English verbs. Pure.

A regular verb is known by its forms: what has a past in -ed and a participle in -ing among the
words of English is one where it follows a subject or has an object. `verbs` of
knowledge/questions/answers.yaml lists irregular verbs, auxiliaries and common verbs, which are
found sooner.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from knowledge.loader import load
from knowledge.names.spelling import fold
from knowledge.names.tables import tables

_WORD = re.compile(r"[a-z]+(?=(?P<next>[^a-z]{1,3}[a-z]+)?)")
_NO_OBJECT = frozenset(
    ["of", "in", "and", "or", "for", "on", "with", "by", "from", "as", "at", "among", "than", "per"]
)
"""After these a form in -s is a noun: "effects of", "results in patients"."""
_SUBJECTS = frozenset(["we", "they", "i", "who", "which", "that", "it", "also", "not", "these"])
_LEAST_PAST = 4
_LEAST = 5


def has_verb(words: str) -> bool:
    """Whether `words` have a finite verb; of a participle in -ed that is taken for granted."""
    said = words.lower()
    if not _listed().isdisjoint(said.split()):  # nearly all sentences, and soon found
        return True
    before = ""
    for word, following in _each(said):
        if word in _listed() or (word.endswith("ed") and len(word) >= _LEAST_PAST):
            return True
        if len(word) >= _LEAST and following and following not in _NO_OBJECT:
            if _is_third_person(word):
                return True
            subject = before in _SUBJECTS or before.endswith("s")
            if subject and _is_base(word):
                return True
        before = word
    return False


def _each(said: str) -> Iterator[tuple[str, str]]:
    for match in _WORD.finditer(said):
        gap = match["next"] or ""
        yield match.group(), gap.lstrip(" (-/\"'“") if gap[:1] in {" ", ""} else ""


@cache
def _listed() -> frozenset[str]:
    return frozenset(load("questions/answers")["verbs"])


@lru_cache(maxsize=16_384)
def _is_third_person(word: str) -> bool:
    if not word.endswith("s") or word.endswith("ss"):
        return False
    bases = {word[:-1], word[:-2] if word.endswith("es") else word[:-1]}
    return any(map(_is_base, {f"{word[:-3]}y"} if word.endswith("ies") else bases))


@lru_cache(maxsize=16_384)
def _is_base(word: str) -> bool:
    """Whether a word has the forms of a regular verb: cause, caused, causing."""
    stem = word.removesuffix("e")
    past = f"{stem}ed"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        past = f"{word[:-1]}ied"
    is_word = tables().is_word
    return is_word(fold(past)) and is_word(fold(f"{stem}ing"))
