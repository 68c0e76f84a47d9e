"""The drugs that a question asks about and no tag knows, and whether a work names one. Pure.

Drugs of the vocabulary are tags of their own (`knowledge.products`); of the others the name itself
tells: what says nothing of celecoxib does not answer a question on it, however well known it is.
"""

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from knowledge.guard_terms import drug_terms
from knowledge.loader import load
from knowledge.products import products
from knowledge.words import Words

_WORD = re.compile(r"[^\W\d_]+")


@lru_cache(maxsize=256)  # each candidate asks
def asked_drugs(texts: Sequence[str]) -> frozenset[str]:
    """The generic names of the drugs that a question asks about, one of them unknown to the tags;
    a drug that the patient takes already is none of them.

    Args:
        texts: the parts of the question (`Understanding.sub_queries`).
    """
    text = "\n".join(texts)
    found = {name for name, start in _drugs(text) if not _taken().search(text[:start])}
    tagged = {one.lower() for one in products(text)}
    return frozenset(found) if found - tagged else frozenset()


def names_one(words: str, asked: frozenset[str]) -> bool:
    """Whether `words` name one of the drugs asked about, or a class of one."""
    return _pattern(asked).search(words) is not None


def _drugs(text: str) -> list[tuple[str, int]]:
    """Generic names, and where each stands: those of the list, and words with the stem of one."""
    terms, listed = drug_terms(), [(one.name, one.start) for one in _names().mentions(text)]
    known = {start for _, start in listed}
    words = ((match.group().lower(), match.start()) for match in _WORD.finditer(text))
    by_stem = (
        (word, start)
        for word, start in words
        if len(word) >= terms.shortest
        and word.endswith(terms.stems)
        and word not in terms.not_drugs
        and start not in known
    )
    return [*listed, *by_stem]


@cache
def _names() -> Words:
    listed = (one.lower() for some in load("vocabulary")["products"].values() for one in some)
    names = {name: [name] for name in listed}
    return Words(names | {name: [name, *more] for name, more in drug_terms().names.items()})


@cache
def _taken() -> re.Pattern[str]:
    return re.compile(load("answers")["subjects"]["taken"], re.IGNORECASE)


@lru_cache(maxsize=256)
def _pattern(asked: frozenset[str]) -> re.Pattern[str]:
    terms = drug_terms()
    forms = {form for name in asked for form in (name, *terms.names.get(name, ()))}
    for one in terms.classes.values():
        if any(member in name for member in one.members for name in asked):
            forms.update(one.words)
    alternatives = "|".join(sorted(map(re.escape, forms), key=len, reverse=True))
    return re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)", re.IGNORECASE)
