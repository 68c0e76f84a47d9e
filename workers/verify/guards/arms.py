"""What a passage gives to one arm of a comparison stays with it (DESIGN section 2, invariant 6).

Pure. A comparison told from the other side ("B was inferior to A") stays true.
"""

from collections.abc import Sequence, Set

from clinical_text.quantities import Kind
from workers.verify.guards.arm_values import Bound, bound_values, in_order
from workers.verify.guards.binding import crossed
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.lexing import fold, sentences

_MOST_VALUES = 100
"""Values of a claim or a passage that are told apart: each is compared with each. No sentence of
our real texts has half as many; a table without stops has."""


def guard(claim: str, grounds: Grounds) -> list[Finding]:
    """The values that `claim` gives to another arm than its passage does."""
    claimed = bound_values(sentences(fold(claim)))
    if not claimed:
        return []
    values = bound_values(sentences(fold(grounds.passage)))
    if max(len(claimed), len(values)) > _MOST_VALUES:
        return [Finding("arm", "there are more values than are told apart", unsaid=True)]
    by_value = in_order(values)
    stated_too = {one.quantity.value for one in claimed}
    findings = []
    for one in claimed:
        own = [b for b in by_value.get(one.quantity.value, []) if _same_kind(b, one)]
        alike = {(b.sentence, b.quantity.units, b.quantity.measure): b for b in own}
        rivals = {
            b.words
            for place in alike.values()
            for b in values
            if b.words
            and b.is_rival_of(place)
            and (_is_result(b) or b.quantity.value in stated_too)
        }
        if rivals and _is_crossed(one, [place.words for place in own], rivals):
            findings.append(Finding("arm", f"“{one.quantity.raw}” is the value of another arm"))
    return findings


def _is_crossed(one: Bound, own: Sequence[Set[str]], rivals: Set[frozenset[str]]) -> bool:
    """Whether a value is said of what a rival is stated of, wherever the passage has the value.

    The words beside it decide, those that govern it only where these tell nothing, and its rank in
    a run only where no word does.
    """
    ranks = frozenset(word for word in one.near if word[1:-1].isdecimal())
    levels = (one.near - ranks, one.words - ranks, ranks)
    return bool(own) and not any(
        all(not _is_rather(levels, place, rival) for rival in rivals) for place in own
    )


def _is_rather(levels: Sequence[Set[str]], place: Set[str], rival: Set[str]) -> bool:
    for said in levels:
        if said & (place ^ rival):
            return crossed(said, [place], [rival])
    return False


def _is_result(one: Bound) -> bool:
    """Whether it could be taken for another value of its sentence: bare numbers often could not."""
    return one.quantity.kind is not Kind.PLAIN or bool(one.quantity.units - {None})


def _same_kind(stated: Bound, said: Bound) -> bool:
    return bool(stated.quantity.units & said.quantity.units)
