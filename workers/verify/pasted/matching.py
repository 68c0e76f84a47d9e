"""The passages of the sources that come closest to a statement. Pure."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log
from typing import Any

from knowledge.loader import load
from store.core.spans import Span
from store.documents.content import content_terms
from store.index.terms import term_set
from workers.verify.guards.lexing import fold
from workers.verify.guards.number_words import in_digits
from workers.verify.guards.trials import trial_names
from workers.verify.locating import CitedText

_ZEROS = re.compile(r"(?<=\d)\.0+(?!\d)")


@dataclass(frozen=True)
class Passage:
    """A run of sentences of a source.

    `coverage` is the share of a statement's words that it holds; `near` the same with rare words
    counting more, then without what it owes to that which is said of all its source.
    """

    key: str
    place: Span
    coverage: float
    near: tuple[float, float]


class Terms:
    """The terms of the sentences of sources, each source read once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[CitedText, list[frozenset[int]]]] = {}

    def of(self, text: CitedText) -> list[frozenset[int]]:
        """Those of each sentence, in order."""
        known = self._known.get(id(text))
        if known is None:  # the source is kept beside them, so that its id stays its own
            read = [_terms(one.of(text.source.text)) for one in text.sentences]
            known = self._known[id(text)] = (text, read)
        return known[1]


def nearest(
    statement: str,
    texts: Mapping[str, CitedText],
    cited: Collection[str] = (),
    terms: Terms | None = None,
) -> list[Passage]:
    """The passages that hold most of a statement's words, best first.

    Args:
        texts: the sources by key.
        cited: keys of those that the statement names itself; where there are such, no other counts.
        terms: what other statements had read of the sources.
    """
    terms = terms or Terms()
    policy = load("verifying")
    asked = content_terms(_plain_numbers(statement))
    if not asked:
        return []
    trials = term_set(" ".join(trial_names(fold(statement)).values()))
    held = {
        key: [asked & one for one in terms.of(text)]
        for key, text in texts.items()
        if not cited or key in cited
    }
    weights = _weights(asked, [one for some in held.values() for one in some])
    found: list[Passage] = []
    for key, some in held.items():
        # What the title says, and the trial that the text names, is said of every sentence.
        of_all = asked & (_terms(texts[key].title) | (trials & frozenset[int]().union(*some)))
        firsts = _promising(some, of_all, weights, policy)
        found += _windows(key, texts[key], some, of_all, weights, int(policy["sentences"]), firsts)
    found = [one for one in found if one.coverage >= policy["least_coverage"]]
    found.sort(key=lambda one: (-one.near[0], -one.near[1], one.place.end - one.place.start))
    return found[: int(policy["windows"])]


def _windows(
    key: str,
    text: CitedText,
    held: list[frozenset[int]],
    of_all: frozenset[int],
    weights: Mapping[int, float],
    longest: int,
    firsts: Iterable[int],
) -> list[Passage]:
    """Runs of up to `longest` sentences from `firsts` on; a longer one must hold more than its
    parts."""
    found = []
    for first in firsts:
        begin = text.sentences[first]
        best = (0.0, 0.0)
        for last in range(first, min(first + longest, len(held))):
            own = frozenset[int]().union(*held[first : last + 1])
            near = _share(own | of_all, weights), _share(own, weights)
            if near > best and held[first] and held[last]:
                best = near
                place = Span(begin.start, text.sentences[last].end)
                found.append(Passage(key, place, len(own | of_all) / len(weights), near))
    return found


def _promising(
    held: Sequence[frozenset[int]],
    of_all: frozenset[int],
    weights: Mapping[int, float],
    policy: Mapping[str, Any],
) -> list[int]:
    """The sentences with which a passage may begin, in order: those that hold one of the words and,
    with the next ones, enough of them. Of very many those that hold most, with the next ones."""
    longest, least = int(policy["sentences"]), policy["least_coverage"]
    fullest = []
    for first, own in enumerate(held):
        if own:
            together = own.union(of_all, *held[first + 1 : first + longest])
            if len(together) / len(weights) >= least:
                fullest.append((first, together))
    most = int(policy["passages"])
    if len(fullest) <= most:
        return [first for first, _ in fullest]
    fullest.sort(key=lambda one: -len(one[1]))
    return sorted(first for first, _ in fullest[:most])


def _weights(asked: Iterable[int], sentences: Collection[frozenset[int]]) -> dict[int, float]:
    """How much each word tells: the more, the fewer sentences have it."""
    having = Counter(term for one in sentences for term in one)
    return {term: log(1 + len(sentences) / (1 + having[term])) for term in asked}


def _share(held: frozenset[int], weights: Mapping[int, float]) -> float:
    return sum(weights[term] for term in held) / sum(weights.values())


@lru_cache(maxsize=4096)  # a sentence of a source is compared again and again
def _terms(text: str) -> frozenset[int]:
    return term_set(_plain_numbers(text))


def _plain_numbers(text: str) -> str:
    """Numbers in one form: 18.0% is 18%, thirty-seven is 37."""
    return _ZEROS.sub("", in_digits(text))
