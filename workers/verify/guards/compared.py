"""Which way two values go that a claim sets against each other: "fewer (15% vs 28%)". Pure."""

import re
from typing import Literal

from workers.verify.guards.statements import Statement

_VALUE = r"\d+(?:\.\d+)?"
_PAIR = re.compile(
    rf"(?i)(?<![\w.,])(?P<first>{_VALUE})\s?%?\s*(?:vs\.?|versus|against|compared (?:with|to))\s*"
    rf"(?P<second>{_VALUE})(?![.,]?\d)"
)


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
