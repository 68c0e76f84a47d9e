"""Two values that a text sets against each other: "fewer (15% vs 28%)". Pure.

The first is that of what the sentence speaks of, the second that of what it is compared with.
"""

import re
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Literal

from workers.verify.guards.statements import Statement

_VALUE = r"\d+(?:\.\d+)?"
_VERSUS = r"(?:vs\.?|versus|against|compared (?:with|to))"
_PAIR = re.compile(
    rf"(?i)(?<![\w.,])(?P<first>{_VALUE})\s?%?\s*{_VERSUS}\s*(?P<second>{_VALUE})(?![.,]?\d)"
)
_TOLD = re.compile(rf"(?<![\w.,-]){_VALUE}(?![.,]?\d)")


def keeps_pair(value: Decimal, said: Sequence[str], stated: Sequence[str]) -> bool:
    """Whether the claim's sentences set `value` against another one as the passage does, the same
    one first: "34.8% vs 88.6%" of "cut to 34.8% from 88.6%"."""
    pairs = [
        (Decimal(pair["first"]), Decimal(pair["second"]))
        for sentence in said
        for pair in _PAIR.finditer(sentence)
    ]
    neighbours = {
        pair for sentence in stated for pair in pairwise(map(Decimal, _TOLD.findall(sentence)))
    }
    return any(value in pair and pair in neighbours for pair in pairs)


def way_of_values(claim: str, said: Statement, at: int) -> Literal["up", "down"] | None:
    """Whether the first of the two values that the sentence of token `at` sets against each other
    is the larger ("up") or the smaller one. None where it has no such pair, or more than one, whose
    values may be those of another outcome."""
    number = said.tokens[at].sentence
    members = said.sentences[number]
    start = said.tokens[members[0]].start
    following = said.sentences[number + 1 : number + 2]
    end = said.tokens[following[0][0]].start if following else len(claim)
    pairs = list(_PAIR.finditer(claim, start, end))
    if len(pairs) != 1:
        return None
    first, second = float(pairs[0]["first"]), float(pairs[0]["second"])
    if first == second:
        return None
    return "up" if first > second else "down"
