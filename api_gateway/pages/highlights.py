"""Marks spans in a text exactly, even if they overlap. Pure.

The text is cut wherever a span begins or ends. All runs, joined, are the text; the runs that name a
span, joined, are its `text[start:end]`. Offsets are Unicode code points, as everywhere.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Place:
    """A named span `[start, end)`."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Run:
    """Characters that lie in the same spans.

    Args:
        names: the names of the spans that contain the run, in the given order.
        begins: the names of those that begin here.
        chosen: whether the run lies in the span that the reader chose.
        first: whether the chosen span begins here.
    """

    text: str
    names: Sequence[str] = ()
    begins: Sequence[str] = ()
    chosen: bool = False
    first: bool = False


def inside(text: str, start: object, end: object) -> bool:
    """Whether these are the bounds of a non-empty span of the text."""
    return isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= len(text)


def runs(text: str, places: Sequence[Place], chosen: str | None = None) -> list[Run]:
    """The runs of the text with its spans; invalid spans are left out.

    Args:
        chosen: the name of the span to highlight.
    """
    kept = [place for place in places if inside(text, place.start, place.end)]
    cuts = sorted({0, len(text)} | {place.start for place in kept} | {place.end for place in kept})
    holders: list[list[Place]] = [[] for _ in cuts]
    for place in kept:
        for n in range(bisect_left(cuts, place.start), bisect_left(cuts, place.end)):
            holders[n].append(place)
    result = []
    for n, (start, end) in enumerate(pairwise(cuts)):
        held = holders[n]
        picked = [place for place in held if place.name == chosen]
        result.append(
            Run(
                text[start:end],
                tuple(dict.fromkeys(place.name for place in held)),
                tuple(dict.fromkeys(place.name for place in held if place.start == start)),
                bool(picked),
                any(place.start == start for place in picked),
            )
        )
    return result
