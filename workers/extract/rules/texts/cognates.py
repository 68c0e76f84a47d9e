"""Headings of other languages that are nearly words of ours: "Konklusion", "Diagnóstico". Pure.

Names of parts of clinical documents are Latin and Greek in most languages of Europe, so that their
letters tell them; which language it is, nobody needs to know. Words of English are never read so.
"""

import re
from collections.abc import Mapping, Set
from functools import cache, lru_cache
from unicodedata import combining, normalize

from knowledge.names.tables import tables

_WORD = re.compile(r"[^\W\d_]{4,}")
_NEAR = 0.64
"""Share of pairs of letters that a word and its cognate have in common (ours)."""
_MOST_WORDS = 3
_LIKE = str.maketrans({"k": "c", "z": "c", "y": "i", "j": "i", "w": "v"})


@lru_cache(maxsize=4096)
def cognate(title: str, known: frozenset[str]) -> str | None:
    """The known title of which each word is nearly one of a title's; None where there is none, or
    where the title has words of English that are no words of ours."""
    named = _words(title)
    if not 0 < len(named) <= _MOST_WORDS:
        return None
    own = _vocabulary(known)
    meant, other = [], False
    for word in named:
        if word in own:
            meant.append(word)
        elif tables().is_word(word):
            return None
        else:
            near = max(own, key=lambda one: _alike(own[one], _pairs(word)))
            if _alike(own[near], _pairs(word)) < _NEAR or _first(near) != _first(word):
                return None
            meant.append(near)
            other = True
    return _by_words(known).get(frozenset(meant)) if other else None


def _words(title: str) -> list[str]:
    plain = "".join(one for one in normalize("NFD", title.casefold()) if not combining(one))
    return _WORD.findall(plain.replace("ß", "ss"))


def _first(word: str) -> str:
    return word[:1].translate(_LIKE)


def _pairs(word: str) -> Set[str]:
    plain = word.translate(_LIKE)
    return frozenset(plain[at : at + 2] for at in range(len(plain) - 1))


def _alike(one: Set[str], other: Set[str]) -> float:
    """Dice's measure of two sets."""
    return 2 * len(one & other) / (len(one) + len(other))


@cache
def _vocabulary(known: frozenset[str]) -> Mapping[str, Set[str]]:
    return {word: _pairs(word) for title in known for word in _words(title)}


@cache
def _by_words(known: frozenset[str]) -> Mapping[frozenset[str], str]:
    held = sorted(known, key=lambda one: (len(one), one), reverse=True)
    return {frozenset(_words(title)): title for title in held if _words(title) == title.split()}
