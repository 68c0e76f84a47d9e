"""The passages of the sources that come closest to a statement. Pure."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from clinical_text.numbers.notation import in_digits
from knowledge.loader import load
from store.core.spans import Span
from store.documents.content import content_terms
from store.index.terms import term_set
from workers.verify.guards.lexing import fold
from workers.verify.guards.trials import trial_names
from workers.verify.passages.locating import CitedText

Held = npt.NDArray[np.bool_]
Weights = npt.NDArray[np.float64]

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
    """Which sentences of a source have a term, each source read once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[CitedText, dict[int, list[int]]]] = {}

    def having(self, asked: Sequence[int], text: CitedText) -> Held:
        """Of each sentence, in order, which of the terms it has: booleans of the shape
        (sentences, terms)."""
        known = self._known.get(id(text))
        if known is None:  # the source is kept beside them, so that its id stays its own
            places: dict[int, list[int]] = {}
            for number, place in enumerate(text.sentences):
                for term in _terms(place.of(text.source.text)):
                    places.setdefault(term, []).append(number)
            known = self._known[id(text)] = (text, places)
        held = np.zeros((len(text.sentences), len(asked)), dtype=bool)
        for column, term in enumerate(asked):
            held[known[1].get(term, []), column] = True
        return held


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
    policy = load("answering/verifying")
    asked = sorted(content_terms(_plain_numbers(statement)))
    if not asked:
        return []
    trials = term_set(" ".join(trial_names(fold(statement)).values()))
    held = {
        key: terms.having(asked, text) for key, text in texts.items() if not cited or key in cited
    }
    weights = _weights(list(held.values()), len(asked))
    found: list[Passage] = []
    for key, some in held.items():
        if not len(some):
            continue  # a text without a sentence holds nothing
        # What the title says, and the trial that the text names, is said of every sentence.
        title = _terms(texts[key].title)
        is_title = np.array([term in title for term in asked])
        is_trial = np.array([term in trials for term in asked])
        of_all = is_title | (is_trial & np.logical_or.reduce(some))
        found += _windows(key, texts[key], some, of_all, weights)
    found.sort(key=lambda one: (-one.near[0], -one.near[1], one.place.end - one.place.start))
    return found[: int(policy["windows"])]


def _windows(
    key: str, text: CitedText, held: Held, of_all: Held, weights: Weights
) -> Iterator[Passage]:
    """Runs of sentences that hold enough of the words, the nearest; a longer one must hold more
    than its parts."""
    policy = load("answering/verifying")
    longest, least = int(policy["sentences"]), policy["least_coverage"]
    has: Held = np.logical_or.reduce(held, axis=1)
    firsts = _promising(held, has, of_all, longest, least)
    own = held[firsts]
    best = np.zeros((2, len(firsts)))
    found: list[npt.NDArray[np.float64]] = []
    for more in range(min(longest, len(held))):
        lasts = firsts + more
        within = lasts < len(held)
        lasts = np.minimum(lasts, len(held) - 1)
        own |= held[lasts] & within[:, None]
        near = np.stack([((own | of_all) * weights).sum(axis=1), (own * weights).sum(axis=1)])
        near = np.round(near / weights.sum(), 9)  # what holds as much is as near
        better = (near[0] > best[0]) | ((near[0] == best[0]) & (near[1] > best[1]))
        better &= within & has[lasts]
        best[:, better] = near[:, better]
        coverage = (own | of_all).mean(axis=1)
        at = np.flatnonzero(better & (coverage >= least))
        starts = np.array([text.sentences[first].start for first in firsts[at]])
        ends = np.array([text.sentences[last].end for last in lasts[at]])
        found.append(np.stack([-near[0, at], -near[1, at], ends - starts, starts, coverage[at]]))
    runs = np.concatenate(found, axis=1)
    for one in np.lexsort(runs[2::-1])[: int(policy["windows"])]:
        near0, near1, length, start, coverage0 = runs[:, one]
        place = Span(int(start), int(start + length))
        yield Passage(key, place, float(coverage0), (-float(near0), -float(near1)))


def _promising(
    held: Held, has: Held, of_all: Held, longest: int, least: float
) -> npt.NDArray[np.intp]:
    """The sentences with which a passage may begin, in order: those that hold one of the words and,
    with the next ones, enough of them. Of very many those that hold most, with the next ones."""
    together = held | of_all
    for more in range(1, min(longest, len(held))):
        together[:-more] |= held[more:]
    many = together.sum(axis=1)
    firsts = np.flatnonzero(has & (many / held.shape[1] >= least))
    fullest = np.argsort(-many[firsts], kind="stable")[
        : int(load("answering/verifying")["passages"])
    ]
    return np.sort(firsts[fullest])


def _weights(held: Sequence[Held], terms: int) -> Weights:
    """How much each word tells: the more, the fewer sentences have it."""
    having = sum((some.sum(axis=0) for some in held), np.zeros(terms))
    return np.log(1 + sum(map(len, held)) / (1 + having))


@lru_cache(maxsize=4096)  # a sentence of a source is compared again and again
def _terms(text: str) -> frozenset[int]:
    return term_set(_plain_numbers(text))


def _plain_numbers(text: str) -> str:
    """Numbers in one form: 18.0% is 18%, thirty-seven is 37."""
    return _ZEROS.sub("", in_digits(text))
