"""A share or a count that the document gives to survival is none of deaths. Pure.

Certain only where the claim's sentence speaks of one of them alone, and each sentence of the
document that has the figure of the other alone. Ratios and times are shares of neither, and of a
change either side may be told.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from clinical_text.quantities import Kind
from knowledge.guards.meaning import direction_policy
from workers.verify.facts.numbers import figures_of
from workers.verify.guards.direction import directions, outcomes
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.negation import negations
from workers.verify.guards.statements import Statement, read

_COUNTED = frozenset({Kind.PERCENT, Kind.COUNT})
_HALF = 50
"""Per cent: half of them is half on either side."""
_FIRST = 3
"""Letters that all forms of a word begin with (survived, surviving)."""


def guard(claim: str, grounds: Grounds) -> list[Finding]:
    """The figures that the document has only of the opposite outcome."""
    told = [
        one
        for one in figures_of(claim)
        if one.kind in _COUNTED and (one.value, one.unit) != (_HALF, "%")
    ]
    if not told or not _life().search(claim):
        return []
    said = read(claim)
    sides = _lives(said)
    if not sides or directions(said):
        return []
    text = grounds.text if grounds.passage in grounds.text else grounds.passage
    source, theirs = read(text), _lives_of(text)
    findings = []
    for one in told:
        ours = sides.get(said.doc.sentence_at(one.start), frozenset())
        if len(ours) != 1:
            continue
        places = [
            theirs.get(source.doc.sentence_at(other.start), frozenset())
            for other in figures_of(text)
            if (other.value, other.unit) == (one.value, one.unit)
        ]
        if places and all(len(place) == 1 and place != ours for place in places):
            word = "survival" if True in ours else "deaths"
            findings.append(Finding("outcome", f"“{one.raw}” is not that of {word} in the source"))
    return findings


@lru_cache(maxsize=64)  # a document is asked for each claim
def _lives_of(text: str) -> Mapping[int, frozenset[bool]]:
    return _lives(read(text))


def _lives(text: Statement) -> Mapping[int, frozenset[bool]]:
    """By the number of a sentence whether it speaks of survival (True), of deaths, or of both; who
    did not survive died."""
    denied = negations(text).odd
    found: dict[int, frozenset[bool]] = {}
    for at, subject, good in outcomes(text):
        if subject == "life":
            sentence = text.doc.sentence_at(text.tokens[at].start)
            found[sentence] = found.get(sentence, frozenset()) | {good is not denied[at]}
    return found


@cache
def _life() -> re.Pattern[str]:
    """How a word for survival or for death begins: a quick look whether there may be one."""
    words = direction_policy().outcomes["life"]
    begins = {re.escape(word[:_FIRST]) for word in (*words.good, *words.bad)} | {"dy"}
    return re.compile(rf"(?i)\b(?:{'|'.join(sorted(begins))})")
