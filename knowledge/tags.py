"""Disease and decision tags (EB-1.2): which of `vocabulary.yaml` a text names. Pure."""

import re
from functools import cache
from typing import Literal

from knowledge.loader import load

Kind = Literal["diseases", "decisions"]


@cache
def _words(kind: Kind) -> tuple[re.Pattern[str], dict[str, str]]:
    """A pattern over all words of a kind of tag, longest first, and the tag of each word."""
    by_word = {
        word.lower(): tag
        for tag, entry in load("vocabulary")[kind].items()
        for word in entry["words"]
    }
    words = sorted(by_word, key=len, reverse=True)
    return re.compile(rf"(?<!\w)({'|'.join(map(re.escape, words))})(?!\w)", re.IGNORECASE), by_word


def tags(kind: Kind, text: str) -> tuple[str, ...]:
    """The tags of `kind` that `text` names, in order of their first mention."""
    pattern, by_word = _words(kind)
    found = (by_word[match.group(1).lower()] for match in pattern.finditer(text))
    return tuple(dict.fromkeys(found))


def label(kind: Kind, tag: str) -> str:
    """What a tag is called: a MeSH heading where there is one."""
    name: str = load("vocabulary")[kind][tag]["label"]
    return name


def known_words() -> frozenset[str]:
    """All words of the vocabulary, in lower case."""
    return frozenset(_words("diseases")[1]) | frozenset(_words("decisions")[1])
