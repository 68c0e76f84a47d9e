"""A result is called significant only where its passage bears that out. Pure.

"Somewhat greater (P < 0.08)" is not "significantly greater", and what a passage reports without a
test it does not call significant either.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Literal

from pydantic import BaseModel, ConfigDict

from knowledge.loader import load
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.lexing import fold
from workers.verify.guards.negation import negations
from workers.verify.guards.statements import Statement, read

_P = re.compile(
    r"(?i)\bp\s?(?:-?\s?values?\s?)?(?P<sign>[<>=≤≥])\s?(?P<value>\d*\s?[.·]\s?\d+|\d+)(?P<power>\s?[⁻-])?"
)
_NUMBER = r"[−-]?\s?\d+(?:[.·]\d+)?"
_INTERVAL = re.compile(
    rf"(?i)(?:\bCr?I|\bconfidence interval|\bcredible interval)\b[^\d−-]{{0,12}}"
    rf"(?P<low>{_NUMBER})\s?%?\s?(?:to|-|–|,|;|and)\s?(?P<high>{_NUMBER})"
)


def guard(claim: str, grounds: Grounds) -> list[Finding]:
    """Whether the claim calls significant what its passage does not. Empty: no veto."""
    said = read(claim)
    if _policy().significant.isdisjoint(said.words) or not _calls(said):
        return []
    if claim in grounds.passage:
        return []  # it is its passage's own, whatever that denies around it
    source = read(grounds.passage)
    if _calls(source) or not _policy().tested.isdisjoint(source.words):
        return []
    tests = list(_tests(fold(grounds.passage)))
    if any(tests):
        return []
    silent = not tests and _policy().significant.isdisjoint(source.words)
    return [Finding("modality", "the passage does not call it significant", unsaid=silent)]


def _calls(text: Statement) -> bool:
    """Whether a sentence that denies nothing, or a word that nothing denies, calls it so."""
    found = negations(text)
    return any(
        word in _policy().significant
        and (not found.odd[at] and text.tokens[at].sentence not in found.denying)
        for at, word in enumerate(text.words)
    )


def _tests(passage: str) -> Iterator[bool]:
    """Of each p-value and each interval whether it tells a difference from chance."""
    for one in _P.finditer(passage):
        value = float(re.sub(r"\s", "", one["value"]).replace("·", "."))
        yield one["sign"] not in ">≥" and (bool(one["power"]) or value <= _policy().most_p)
    for one in _INTERVAL.finditer(passage):
        low, high = (
            float(re.sub(r"\s", "", one[side]).replace("−", "-").replace("·", "."))
            for side in ("low", "high")
        )
        yield not (low < 0 < high or (low >= 0 and low < 1 < high))


class _Policy(BaseModel):
    """`guards/significance.yaml`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1]
    significant: frozenset[str]
    tested: frozenset[str]
    most_p: float


@cache
def _policy() -> _Policy:
    return _Policy.model_validate(load("guards/significance"))
