"""Whether a question seems to be in another language than English (`languages.yaml`). Pure."""

import re
from functools import cache

from knowledge.loader import load

_WORD = re.compile(r"[^\W\d_]+")
_LATIN_OR_GREEK = 0x0400
"""Letters below it are Latin or Greek."""
_LATIN_EXTENDED = range(0x1E00, 0x2000)


def seems_english(question: str) -> bool:
    """Whether nothing tells that `question` is in another language.

    A few words without one of any language, such as names, seem English.
    """
    words = _WORD.findall(question)
    if _in_another_script(words):
        return False
    said = {one.casefold() for one in words}
    foreign = len(said & _foreign())
    least: int = load("languages")["question"]["least"]
    return foreign < least or foreign <= len(said & _english())


def _in_another_script(words: list[str]) -> bool:
    policy, letters = load("languages")["question"], "".join(words)
    others = sum(ord(one) >= _LATIN_OR_GREEK and ord(one) not in _LATIN_EXTENDED for one in letters)
    return bool(others >= policy["least_letters"] and others >= policy["share"] * len(letters))


@cache
def _foreign() -> frozenset[str]:
    policy = load("languages")
    return frozenset((*policy["foreign"], *policy["question"]["foreign"])) - _english()


@cache
def _english() -> frozenset[str]:
    policy = load("languages")
    return frozenset((*policy["english"], *policy["question"]["english"]))
