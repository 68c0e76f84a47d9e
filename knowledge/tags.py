"""Disease and decision tags (EB-1.2): which of `vocabulary.yaml` a text names. Pure."""

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Literal

from knowledge.loader import load
from knowledge.words import Mention, Words

Kind = Literal["diseases", "decisions"]
KINDS: tuple[Kind, ...] = ("diseases", "decisions")


@cache
def ordinary_words() -> frozenset[str]:
    """In lower case, abbreviations that are words of a language as well: "cap" is no pneumonia."""
    return frozenset(load("vocabulary")["ordinary_words"])


@cache
def _words(kind: Kind, *, typed: bool = False) -> Words:
    vocabulary = load("vocabulary")
    names = {tag: entry["words"] for tag, entry in vocabulary[kind].items()}
    ordinary = ordinary_words() if typed else None
    return Words(names, vocabulary["no_tags"][kind], ordinary=ordinary)


def mentions(kind: Kind, text: str, *, typed: bool = False) -> Sequence[Mention]:
    """Where `text` names tags of `kind`, in order of the text.

    Args:
        typed: it is a question, whose abbreviations may stand in lower case ("af and ckd").
    """
    return _words(kind, typed=typed).mentions(text)


def tags(kind: Kind, text: str) -> tuple[str, ...]:
    """The tags of `kind` that `text` names, in order of their first mention."""
    return tuple(dict.fromkeys(one.name for one in mentions(kind, text)))


@lru_cache(maxsize=256)
def telling(kind: Kind, names: frozenset[str]) -> tuple[str, ...]:
    """Strings of which one stands, in lower case, in whatever names one of these tags."""
    return _words(kind, typed=False).telling(names)


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
    return frozenset(
        word for kind in KINDS for word, names in _words(kind).by_word.items() if names
    )
