"""Whether two titles are of one work, however each source writes it. Pure."""

import html
import re
import unicodedata
from collections.abc import Sequence

from clinical_text.fates import without_fate

SAME_TITLE = 0.8
"""Ours: share of words in common (Jaccard) from which two titles are one. Registries drop
subtitles, so one title that holds the other counts as the same too."""
MIN_CONTAINED_WORDS = 4

_WORD = re.compile(r"[^\W_]+")
_TAG = re.compile(r"<[^<>]{0,200}>")
_ROMAN = re.compile(r"[ivx]+")


def title_words(title: str) -> tuple[str, ...]:
    """The words of a title without case, tags, accents, punctuation and the work's fate."""
    plain = unicodedata.normalize("NFKD", without_fate(_TAG.sub(" ", html.unescape(title))))
    return tuple(
        _WORD.findall("".join(c for c in plain.casefold() if not unicodedata.combining(c)))
    )


def same_title(one: str, other: str) -> bool:
    """Whether two titles are of one work, however each source writes it.

    "Part 1" and "part 2" are two works, whatever else they have in common.
    """
    a, b = title_words(one), title_words(other)
    if whole_title(one, other):
        return True
    if not a or not b:
        return False
    shorter, longer = sorted((a, b), key=len)
    if len(shorter) >= MIN_CONTAINED_WORDS and f" {' '.join(shorter)} " in f" {' '.join(longer)} ":
        return True
    if _numerals(set(a)) != _numerals(set(b)):
        return False
    return _in_common(a, b) >= SAME_TITLE


def whole_title(one: str, other: str) -> bool:
    """Whether two titles have the same words, in one order: no letter, correction or protocol whose
    title holds the other."""
    return "".join(title_words(one)) == "".join(title_words(other))


def title_match(one: str, other: str) -> float:
    """How far two titles are one, 0 to 1: the share of words in common; 1 if they are the same."""
    if same_title(one, other):
        return 1.0
    return _in_common(title_words(one), title_words(other))


def _in_common(one: Sequence[str], other: Sequence[str]) -> float:
    union = {*one, *other}
    return len({*one} & {*other}) / len(union) if union else 0.0


def _numerals(words: set[str]) -> set[str]:
    return {word for word in words if any(map(str.isdecimal, word)) or _ROMAN.fullmatch(word)}
