"""Disease and decision tags (EB-1.2): which of `vocabulary.yaml` a text names. Pure."""

from collections.abc import Iterator
from functools import cache
from typing import Literal

from knowledge.loader import load
from knowledge.words import Mention, Words

Kind = Literal["diseases", "decisions"]


@cache
def _words(kind: Kind) -> Words:
    vocabulary = load("vocabulary")
    names = {tag: entry["words"] for tag, entry in vocabulary[kind].items()}
    return Words(names, vocabulary["no_tags"][kind])


def mentions(kind: Kind, text: str) -> Iterator[Mention]:
    """Where `text` names tags of `kind`, in order of the text."""
    return _words(kind).mentions(text)


def tags(kind: Kind, text: str) -> tuple[str, ...]:
    """The tags of `kind` that `text` names, in order of their first mention."""
    return tuple(dict.fromkeys(one.name for one in mentions(kind, text)))


def label(kind: Kind, tag: str) -> str:
    """What a tag is called: a MeSH heading where there is one."""
    name: str = load("vocabulary")[kind][tag]["label"]
    return name


def heading(kind: Kind, tag: str) -> str | None:
    """The MeSH heading of a tag; None where there is none."""
    entry = load("vocabulary")[kind][tag]
    name: str | None = entry.get("mesh", entry["label"])
    return name


@cache
def known_words() -> frozenset[str]:
    """All words that name a tag, in lower case."""
    kinds: tuple[Kind, ...] = ("diseases", "decisions")
    return frozenset(
        word for kind in kinds for word, names in _words(kind).by_word.items() if names
    )
