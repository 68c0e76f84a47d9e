"""The sentences of a question, and which of them ask. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from knowledge.loader import load

_END = re.compile(r"(?<![.?!])[.?!]++(?=\s)|\n+")
_LAST_WORD = re.compile(r"[\w.]{1,20}\Z")


@dataclass(frozen=True)
class Sentence:
    """A stretch of a text, in code points."""

    start: int
    end: int
    asks: bool

    def holds(self, at: int) -> bool:
        """Whether a position is in it."""
        return self.start <= at < self.end


@cache
def _asking() -> re.Pattern[str]:
    return re.compile(load("questions")["asking"], re.IGNORECASE)


@cache
def _never_last() -> frozenset[str]:
    return frozenset(load("abbreviations")["never_last"])


def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of `text`, in order. A stop after "vs" or "Dr" ends none."""
    return tuple(_sentences(text))


def _sentences(text: str) -> Iterator[Sentence]:
    start = 0
    for end in _END.finditer(text):
        last = _LAST_WORD.search(text, max(start, end.start() - 20), end.start())
        following = text[end.end() + 1 : end.end() + 2]
        if end.group() == "." and last and _is_short_form(last.group(), following):
            continue
        yield from _trimmed(text, start, end.end())
        start = end.end()
    yield from _trimmed(text, start, len(text))


def _is_short_form(word: str, following: str) -> bool:
    """Whether the stop belongs to the word: "vs", "Dr", or an initial as in "C. difficile"."""
    return word.lower() in _never_last() or (len(word) == 1 and following.islower())


def _trimmed(text: str, start: int, end: int) -> Iterator[Sentence]:
    words = text[start:end]
    if words.strip():
        start += len(words) - len(words.lstrip())
        end -= len(words) - len(words.rstrip())
        asks = text[end - 1] == "?" or _asking().match(text, start) is not None
        yield Sentence(start, end, asks)
