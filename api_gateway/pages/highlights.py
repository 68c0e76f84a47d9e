"""Spans marked in a text, to the letter, however they overlap. Pure.

A text is cut wherever a span begins or ends. The runs, put together, are the text; those that name
a span, put together, are `text[start:end]` of it. Offsets are Unicode code points, as everywhere.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Place:
    """A span with a name of ours: `[start, end)`."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Run:
    """Characters that lie in the same spans.

    Args:
        names: the spans that hold it, as they were given.
        begins: those of them that begin here.
        chosen: whether it lies in the span that the reader chose.
        first: whether that one begins here.
    """

    text: str
    names: Sequence[str] = ()
    begins: Sequence[str] = ()
    chosen: bool = False
    first: bool = False


def inside(text: str, start: object, end: object) -> bool:
    """Whether these are the bounds of a span of the text that is not empty."""
    return isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= len(text)


def runs(text: str, places: Sequence[Place], chosen: str | None = None) -> list[Run]:
    """The text with its spans; what is no span of it is left out.

    Args:
        chosen: the name of a place that is to stand out.
    """
    kept = [one for one in places if inside(text, one.start, one.end)]
    cuts = sorted({0, len(text)} | {one.start for one in kept} | {one.end for one in kept})
    holders: list[list[Place]] = [[] for _ in cuts]
    for one in kept:
        for n in range(bisect_left(cuts, one.start), bisect_left(cuts, one.end)):
            holders[n].append(one)
    found = []
    for n, (start, end) in enumerate(pairwise(cuts)):
        held = holders[n]
        picked = [one for one in held if one.name == chosen]
        found.append(
            Run(
                text[start:end],
                tuple(dict.fromkeys(one.name for one in held)),
                tuple(dict.fromkeys(one.name for one in held if one.start == start)),
                bool(picked),
                any(one.start == start for one in picked),
            )
        )
    return found
