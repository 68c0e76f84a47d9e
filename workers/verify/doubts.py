"""What a careful reader would look at twice: questions for the judges, never a veto (DESIGN 7.3).

A guard that finds the words of claim and passage at odds may be wrong as often as right. So it only
asks. Where a judge answers, the claim stands or falls by that; where nobody does, it falls.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from knowledge.answering.judging import judging_policy
from workers.verify.facts import names, numbers
from workers.verify.guards import (
    arms,
    assertion,
    direction,
    drugs,
    negation,
    population,
)
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.passages.comparable import is_quoted_whole, without_references

Guard = Callable[[str, Grounds], list[Finding]]


@dataclass(frozen=True)
class Doubt:
    """A question about a claim. `kind` is a key of `judging.yaml`; `detail` quotes the texts, and
    is for people: a judge is asked the question alone."""

    kind: str
    detail: str

    @property
    def question(self) -> str:
        """What a judge is asked."""
        return judging_policy().doubts[self.kind]

    def as_data(self) -> Mapping[str, Any]:
        """As a judge is shown it."""
        return {"doubt": self.kind, "question": self.question}


def _numbers(claim: str, grounds: Grounds) -> list[Finding]:
    """Figures that stand in the document, but not in the passage or its title."""
    return numbers.guard(claim, replace(grounds, text=grounds.passage, neighbours=""))


_ASKED: Sequence[tuple[Guard, str]] = (
    (negation.guard, "negation"),
    (assertion.guard, "certainty"),
    (direction.guard, "direction"),
    (arms.guard, "arm"),
    (population.guard, "population"),
    (_numbers, "number"),
    (names.unknown, "name"),
    (drugs.guard, "treatment"),
)


def doubts(claim: str, grounds: Grounds) -> tuple[Doubt, ...]:
    """The doubts about a claim, one of a kind; none where it is whole sentences of its passage."""
    claim, grounds = without_references(claim, grounds)
    if is_quoted_whole(claim, grounds.passage):
        return ()
    found: dict[str, Doubt] = {}
    for guard, kind in _ASKED:
        for one in guard(claim, grounds):
            found.setdefault(kind, Doubt(kind, one.detail))
    return tuple(found.values())
