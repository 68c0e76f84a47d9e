"""The passages of the sources that come closest to a statement. Pure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from knowledge.loader import load
from store.content import content_terms
from store.spans import Span
from workers.verify.locating import CitedText


@dataclass(frozen=True)
class Passage:
    """A run of sentences of a source, and the share of a statement's words that it holds."""

    key: str
    place: Span
    coverage: float


def nearest(
    statement: str, texts: Mapping[str, CitedText], cited: Collection[str] = ()
) -> list[Passage]:
    """The passages that hold most of a statement's words, best first.

    Args:
        texts: the sources by key.
        cited: keys of those that the statement names itself; where there are such, no other counts.
    """
    policy = load("verifying")
    asked = content_terms(statement)
    found: list[Passage] = []
    for key, text in texts.items():
        if asked and (not cited or key in cited):
            found += _windows(key, text, asked, int(policy["sentences"]))
    found = [one for one in found if one.coverage >= policy["least_coverage"]]
    found.sort(key=lambda one: (-one.coverage, one.place.end - one.place.start))
    return found[: int(policy["windows"])]


def _windows(key: str, text: CitedText, asked: frozenset[int], longest: int) -> list[Passage]:
    """Runs of up to `longest` sentences; a longer one must hold more than its parts."""
    held = [asked & known for known in text.sentence_terms]
    found = []
    for first, begin in enumerate(text.sentences):
        best = 0.0
        for last in range(first, min(first + longest, len(text.sentences))):
            together = frozenset[int]().union(*held[first : last + 1])
            coverage = len(together) / len(asked)
            if coverage > best and held[first] and held[last]:
                best = coverage
                found.append(Passage(key, Span(begin.start, text.sentences[last].end), coverage))
    return found
