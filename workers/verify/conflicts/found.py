"""Conflicts among the sources of an answer, with both quotations, resolved by policy. Pure.

Effects that point opposite ways or whose intervals have nothing in common, findings told without a
number that deny each other, stances for and against
one treatment, and what a document said before and says now. Rules:
`knowledge/works/conflicts.yaml`.
"""

from collections.abc import Iterable, Sequence
from itertools import chain

from workers.verify.conflicts import effects, findings, stances, subjects, versions
from workers.verify.conflicts.resolution import resolve
from workers.verify.conflicts.types import Conflict, Side, Witness

__all__ = [
    "Conflict",
    "Side",
    "Witness",
    "conflicts",
    "contradictions",
    "distinct",
    "unresolved",
]


def contradictions(witnesses: Sequence[Witness], question: str = "") -> list[Conflict]:
    """All pairs of places among `witnesses` that contradict each other on what `question` asks,
    without a question on anything, each resolved where a rule decides.

    What one source says twice is here twice: a claim may rest on either place.
    """
    found = chain(
        effects.contradictions(witnesses, question),
        findings.contradictions(witnesses, question),
        stances.contradictions(witnesses, question),
        versions.contradictions(witnesses, question),
    )
    return [resolve(conflict) for conflict in found]


def distinct(found: Iterable[Conflict]) -> list[Conflict]:
    """What is shown of them: of one pair of sources and one subject only the first in the order of
    the texts. Unresolved ones come first."""
    kept: dict[tuple[object, ...], Conflict] = {}
    for conflict in found:
        kept.setdefault(_key(conflict), conflict)
    return sorted(kept.values(), key=lambda conflict: conflict.resolved)


def conflicts(witnesses: Sequence[Witness], question: str = "") -> list[Conflict]:
    """The conflicts among `witnesses` as they are shown."""
    return distinct(contradictions(witnesses, question))


def unresolved(found: Sequence[Conflict]) -> list[Conflict]:
    """Those that no rule decides: grounds to abstain (SentinelPharma plan 6.3)."""
    return [conflict for conflict in found if not conflict.resolved]


def _key(conflict: Conflict) -> tuple[object, ...]:
    """One conflict of a kind between two sources on one subject and one outcome; of stances for one
    condition; each change of a version."""
    pair = frozenset(side.witness.version_id for side in conflict.sides)
    if conflict.kind == "superseded":
        return conflict.kind, pair, conflict.sides[0].start
    subject = subjects.named_products(conflict.subject) or subjects.content(conflict.subject)
    condition = frozenset[str]()
    if conflict.outcome is None:
        condition = condition.union(*(subjects.diseases(side.quote) for side in conflict.sides))
    return conflict.kind, pair, subject, conflict.outcome, condition
