"""Detects questions and short notes in another language than English (`languages.yaml`). Pure."""

import re
from functools import cache

from knowledge.loader import load

_WORD = re.compile(r"[^\W\d_]+")
_LATIN_OR_GREEK = 0x0400
"""Letters below this code point are Latin or Greek."""
_LATIN_EXTENDED = range(0x1E00, 0x2000)


def seems_english(question: str) -> bool:
    """True unless `question` shows signs of another language.

    A few words that belong to no language, such as names, count as English.
    """
    words = _WORD.findall(question)
    if _in_another_script(words):
        return False
    foreign = foreign_words(question)
    least: int = load("reading/languages")["least"]
    return foreign < least or foreign <= len({word.casefold() for word in words} & _english())


def foreign_words(text: str) -> int:
    """How many of the commonest words of other languages, none of them an English one, it has."""
    return len({word.casefold() for word in _WORD.findall(text)} & _foreign())


def _in_another_script(words: list[str]) -> bool:
    policy, letters = load("reading/languages"), "".join(words)
    foreign = sum(
        ord(letter) >= _LATIN_OR_GREEK and ord(letter) not in _LATIN_EXTENDED for letter in letters
    )
    return bool(foreign >= policy["least_letters"] and foreign >= policy["share"] * len(letters))


@cache
def _foreign() -> frozenset[str]:
    return frozenset(load("reading/languages")["foreign"]) - _english()


@cache
def _english() -> frozenset[str]:
    return frozenset(load("reading/languages")["english"])
