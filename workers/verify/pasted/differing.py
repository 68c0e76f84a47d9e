"""Where a pasted statement differs from its passage, and what the source has there. Pure.

The gate says which words do not hold; their place in the passage is found by aligning both texts.
Alignment only shows a difference: it decides none.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from store.core.spans import Span

_TOKEN = re.compile(r"\d+(?:[.,·]\d+)*%?|[^\W\d_]+|[^\w\s]")
_NAMED = re.compile(r"“([^“”]{1,200})”")
_ANCHOR = 2
"""Equal words beside a difference that make its place in the passage sure. Ours."""
MOST_TOKENS = 1000
"""Longer texts are not aligned: the work grows with the product of both. Ours."""


@dataclass(frozen=True)
class Difference:
    """Words of a statement that do not hold, `[start, end)` of it, and those that its source has
    in their place; None where that cannot be told."""

    place: Span
    source: str | None


def differences(statement: str, passage: str, named: Iterable[str]) -> list[Difference]:
    """The words that are `named`, each where it stands first in the statement."""
    at = [
        Span(*found.span())
        for word in dict.fromkeys(named)
        if (found := re.search(rf"(?<![\w.,]){re.escape(word)}(?![.,]?\w)", statement))
    ]
    instead = list(_instead(statement, passage)) if at else []
    return [Difference(place, _source(place, instead, statement, passage)) for place in at]


def named_in(detail: str) -> str | None:
    """The words of the statement that a detail speaks of: those that it quotes first."""
    found = _NAMED.search(detail)
    return found[1] if found else None


@dataclass(frozen=True)
class _Run:
    """Tokens of a statement, and those of the passage between the same equal words."""

    said: Sequence[Span]
    held: Sequence[Span]
    begins: bool
    ends: bool
    """Whether enough equal words stand before and behind it."""


def _instead(statement: str, passage: str) -> Iterator[_Run]:
    said, held = _tokens(statement), _tokens(passage)
    if max(len(said), len(held)) > MOST_TOKENS:
        return
    ours = [one.of(statement).casefold() for one in said]
    theirs = [one.of(passage).casefold() for one in held]
    steps = SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()
    equal = [(b - a) if step == "equal" else 0 for step, a, b, _, _ in steps]
    for n, (step, a, b, c, d) in enumerate(steps):
        if step == "replace":
            begins = n > 0 and equal[n - 1] >= _ANCHOR
            ends = n + 1 < len(steps) and equal[n + 1] >= _ANCHOR
            yield _Run(said[a:b], held[c:d], begins, ends)


def _tokens(text: str) -> list[Span]:
    return [Span(*found.span()) for found in _TOKEN.finditer(text)]


def _meet(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def _source(place: Span, instead: Sequence[_Run], statement: str, passage: str) -> str | None:
    """The passage's words for `place`: as many, counted from the nearer of the equal words."""
    for run in instead:
        inside = [n for n, one in enumerate(run.said) if _meet(one, place)]
        if not inside:
            continue
        first, last, many = inside[0], inside[-1], len(inside)
        if run.ends and last == len(run.said) - 1:
            held = run.held[-many:]
        elif run.begins and first == 0:
            held = run.held[:many]
        elif len(run.said) == len(run.held) and (run.begins or run.ends):
            held = run.held[first : last + 1]
        else:
            return None
        found = Span(held[0].start, held[-1].end).of(passage)
        alike = any(map(str.isdigit, found)) == any(map(str.isdigit, place.of(statement)))
        return found if alike and any(map(str.isalnum, found)) else None
    return None
