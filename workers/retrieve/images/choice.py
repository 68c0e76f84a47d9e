"""Which images may stand beside an answer: decision algorithms, or none (EB-6). Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from knowledge.loader import load
from knowledge.subjects.tags import Kind, tags
from knowledge.works.images import image_policy
from knowledge.works.links import DirectUrl
from workers.retrieve.understanding.model import Understanding


@dataclass(frozen=True)
class Search:
    """What is looked for. The query is made of the vocabulary's own words alone (EB-6.2)."""

    query: str
    image_type: str
    diseases: frozenset[str]
    decisions: frozenset[str]
    modality: str | None
    """The one that the question names; None: only a decision algorithm will do (EB-6.1)."""


@dataclass(frozen=True)
class Figure:
    """A figure of an article. `title` is the article's; texts are plain."""

    title: str
    caption: str
    url: DirectUrl
    image_url: DirectUrl | None
    source: str
    license: str | None

    def as_body(self) -> dict[str, Any]:
        """As the answer shows it."""
        return {
            "title": self.title,
            "url": str(self.url),
            "image_url": None if self.image_url is None else str(self.image_url),
            "source": self.source,
            "license": self.license,
        }


def image_search(
    understanding: Understanding, recognized: Mapping[str, Sequence[str]]
) -> Search | None:
    """What to look for; None where no image could meet the rules, for want of a disease or a
    decision (EB-6.4).

    Every question that names no modality is taken as one on treatment: it gets a decision
    algorithm or nothing, whatever its tags (EB-6.1, EB-6.5).

    Args:
        understanding: of the question; decides which tags come first.
        recognized: tags that the question itself names, by kind: what only a patient's context
            names is sent nowhere (invariant 11).
    """
    policy = image_policy()
    diseases = _named(understanding.diseases, recognized.get("diseases", ()))
    decisions = _named(understanding.decisions, recognized.get("decisions", ()))
    if not diseases or not decisions:
        return None
    modality = next(iter(understanding.modalities), None)
    words = [
        *(_phrase("diseases", tag) for tag in diseases[: policy.tags]),
        *(_phrase("decisions", tag) for tag in decisions[: policy.tags]),
        modality.replace("_", " ") if modality else policy.algorithms[0],
    ]
    kind = policy.types.get(modality, policy.other_type) if modality else policy.decision_type
    return Search(" ".join(words), kind, frozenset(diseases), frozenset(decisions), modality)


def _named(understood: Sequence[str], recognized: Sequence[str]) -> list[str]:
    return [tag for tag in understood if tag in recognized]


def _phrase(kind: Kind, tag: str) -> str:
    """How titles name a tag, else its label."""
    entry = load("subjects/vocabulary")[kind][tag]
    phrase: str = entry.get("search", [entry["label"]])[0]
    return phrase


def choose(figures: Iterable[Figure], search: Search) -> list[Figure]:
    """The figures that meet the rules, in their order, one an article, and not many."""
    chosen: dict[DirectUrl, Figure] = {}
    for figure in figures:
        if fits(figure, search):
            chosen.setdefault(figure.url, figure)
    return list(chosen.values())[: image_policy().most]


def fits(figure: Figure, search: Search) -> bool:
    """Whether a figure may stand beside the answer: its title names a disease and a decision that
    was asked about (EB-6.4), and unless a modality was asked for it is a decision algorithm
    (EB-6.1) and no teaching image (EB-6.3)."""
    if not search.diseases & set(tags("diseases", figure.title)):
        return False
    if not search.decisions & set(tags("decisions", figure.title)):
        return False
    if search.modality is not None:
        return True
    words = f"{figure.title}\n{figure.caption}"
    policy = image_policy()
    return _mentions(policy.algorithms, figure.caption or figure.title) and not _mentions(
        policy.teaching, words
    )


def _mentions(phrases: tuple[str, ...], text: str) -> bool:
    return _any_of(phrases).search(text) is not None


@cache
def _any_of(phrases: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, phrases))})(?!\w)", re.IGNORECASE)
