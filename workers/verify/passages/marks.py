"""Quotation marks inside a claim stay only around words that its source has (MRD 3.2). Pure."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from store.core.spans import Span

_QUOTED = re.compile(r"“([^“”]+)”|\"([^\"]+)\"|«([^«»]+)»|„([^„“”]+)[“”]|‘([^‘’]{12,})’")
"""Single marks count only around longer words: shorter ones are apostrophes more often than not."""


@dataclass(frozen=True)
class Marks:
    """How many quotations a claim had inside its text, and how many stood nowhere."""

    quotations: int = 0
    unanchored: int = 0


def quotations(text: str) -> list[Span]:
    """The places inside the quotation marks of a text."""
    return [
        Span(*match.span(number))
        for match in _QUOTED.finditer(text)
        for number in range(1, _QUOTED.groups + 1)
        if match.group(number) is not None
    ]


def without_unanchored(text: str, stands: Callable[[str], bool]) -> tuple[str, Marks]:
    """The claim with the marks removed from what is no quotation.

    Args:
        stands: whether words stand in the cited source, to the letter.

    Returns:
        The text, whose words are unchanged, and how many quotations were looked at.
    """
    quotations = unanchored = 0

    def replaced(match: re.Match[str]) -> str:
        nonlocal quotations, unanchored
        words = next(group for group in match.groups() if group is not None)
        quotations += 1
        if stands(words.strip().rstrip(",.;")):
            return match.group()
        unanchored += 1
        return words

    return _QUOTED.sub(replaced, text), Marks(quotations, unanchored)
