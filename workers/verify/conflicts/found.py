"""Conflicts among the sources of an answer, with both quotations, resolved by policy. Pure.

Effects that point opposite ways or whose intervals have nothing in common, stances for and against
one treatment, and what a document said before and says now. Rules: `knowledge/conflicts.yaml`.
"""

from collections.abc import Sequence
from itertools import chain

from workers.verify.conflicts import effects, stances, versions
from workers.verify.conflicts.resolution import resolve
from workers.verify.conflicts.types import Conflict, Side, Witness

__all__ = ["Conflict", "Side", "Witness", "conflicts", "unresolved"]


def conflicts(witnesses: Sequence[Witness], question: str = "") -> list[Conflict]:
    """The conflicts among `witnesses` on what `question` asks; all of them without a question.

    Of one pair of sources and one subject only the first in the order of the texts is reported.
    Unresolved ones come first.
    """
    found = chain(
        effects.contradictions(witnesses, question),
        stances.contradictions(witnesses, question),
        versions.contradictions(witnesses, question),
    )
    kept: dict[tuple[object, ...], Conflict] = {}
    for conflict in found:
        kept.setdefault(_key(conflict), conflict)
    return sorted(map(resolve, kept.values()), key=lambda conflict: conflict.resolved)


def unresolved(found: Sequence[Conflict]) -> list[Conflict]:
    """Those that no rule decides: grounds to abstain (SentinelPharma plan 6.3)."""
    return [conflict for conflict in found if not conflict.resolved]


def _key(conflict: Conflict) -> tuple[object, ...]:
    """One conflict of a kind between two sources on one outcome; each change of a version."""
    pair = frozenset(side.witness.version_id for side in conflict.sides)
    place = conflict.sides[0].start if conflict.kind == "superseded" else None
    return conflict.kind, pair, conflict.outcome, place
