"""Finds the disease and decision tags of `vocabulary.yaml` in texts (EB-1.2). Pure."""

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Literal

from knowledge.loader import load
from knowledge.matching.words import Mention, Words

Kind = Literal["diseases", "decisions"]
KINDS: tuple[Kind, ...] = ("diseases", "decisions")


@cache
def ordinary_words() -> frozenset[str]:
    """Abbreviations that are ordinary words in lower case: "cap" does not mean pneumonia."""
    return frozenset(load("subjects/vocabulary")["ordinary_words"])


@cache
def _words(kind: Kind, *, typed: bool = False) -> Words:
    vocabulary = load("subjects/vocabulary")
    names = {tag: entry["words"] for tag, entry in vocabulary[kind].items()}
    ordinary = ordinary_words() if typed else None
    return Words(names, vocabulary["no_tags"][kind], ordinary=ordinary)


def mentions(kind: Kind, text: str, *, typed: bool = False) -> Sequence[Mention]:
    """The mentions of tags of `kind` in `text`, in order.

    Args:
        typed: `text` is a question, which may have abbreviations in lower case ("af and ckd").
    """
    return _words(kind, typed=typed).mentions(text)


def tags(kind: Kind, text: str) -> tuple[str, ...]:
    """The tags of `kind` that `text` names, in order of their first mention."""
    return tuple(dict.fromkeys(mention.name for mention in mentions(kind, text)))


@lru_cache(maxsize=256)
def telling(kind: Kind, names: frozenset[str]) -> tuple[str, ...]:
    """Strings of which every text that names one of these tags contains one, in lower case."""
    return _words(kind, typed=False).telling(names)


def label(kind: Kind, tag: str) -> str:
    """The name of a tag for display: its MeSH heading if there is one."""
    name: str = load("subjects/vocabulary")[kind][tag]["label"]
    return name


def heading(kind: Kind, tag: str) -> str | None:
    """The MeSH heading of a tag; None if there is none."""
    entry = load("subjects/vocabulary")[kind][tag]
    name: str | None = entry.get("mesh", entry["label"])
    return name


@cache
def known_words() -> frozenset[str]:
    """All words that name a tag, in lower case."""
    return frozenset(
        word for kind in KINDS for word, names in _words(kind).by_word.items() if names
    )
