"""Which side of a conflict stands, by the rules of `conflicts.yaml`. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from knowledge.feeds.sources import source_policy
from knowledge.works.conflicts import RuleName, conflict_policy
from workers.verify.conflicts.types import Conflict, Witness

Decide = Callable[[Conflict], Witness | None]


def resolve(conflict: Conflict) -> Conflict:
    """The conflict with the first rule of its kind that decides, if one does."""
    for name in conflict_policy().resolution[conflict.kind].rules:
        stands = _RULES[name](conflict)
        if stands is not None:
            return replace(conflict, rule=name, stands=stands.evidence_id)
    return conflict


def _witnesses(conflict: Conflict) -> tuple[Witness, Witness]:
    return conflict.sides[0].witness, conflict.sides[1].witness


def _standing(conflict: Conflict) -> Witness | None:
    """What is current, where the other is not; of two versions of one document the later."""
    one, other = _witnesses(conflict)
    if (one.status == "current") != (other.status == "current"):
        return one if one.status == "current" else other
    if one.document_id == other.document_id and one.n != other.n:
        return max(one, other, key=lambda witness: witness.n)
    return None


def _newer(one: Witness, other: Witness) -> Witness | None:
    if one.published_at is None or other.published_at is None:
        return None
    if one.published_at.date() == other.published_at.date():
        return None
    return one if one.published_at > other.published_at else other


def _newer_guideline(conflict: Conflict) -> Witness | None:
    """The newer of two guidelines of one organization."""
    one, other = _witnesses(conflict)
    guidelines = conflict_policy().guideline_sources
    if one.source_type not in guidelines or other.source_type not in guidelines:
        return None
    return _newer(one, other) if _same_publisher(one, other) else None


def _newer_statement(conflict: Conflict) -> Witness | None:
    """The newer of two statements of one official source."""
    one, other = _witnesses(conflict)
    official = all(source_policy(each.source_type).tier == "official" for each in (one, other))
    return _newer(one, other) if official and _same_publisher(one, other) else None


def _same_publisher(one: Witness, other: Witness) -> bool:
    """By name; an organization that has a source type of its own needs none."""
    if one.publisher and other.publisher:
        return one.publisher.casefold() == other.publisher.casefold()
    return one.source_type == other.source_type in ("nccn", "asco", "esmo")


def _tier(conflict: Conflict) -> Witness | None:
    """The more trusted source, where the other one's tier yields."""
    policy = conflict_policy()
    one, other = sorted(
        _witnesses(conflict),
        key=lambda each: policy.tiers.index(source_policy(each.source_type).tier),
    )
    higher, lower = source_policy(one.source_type).tier, source_policy(other.source_type).tier
    yields = policy.resolution[conflict.kind].tier_yields
    return one if higher != lower and lower in yields else None


def _design(conflict: Conflict) -> Witness | None:
    """The stronger design, where both are known."""
    one, other = _witnesses(conflict)
    first = conflict_policy().design_class(one.evidence_level)
    second = conflict_policy().design_class(other.evidence_level)
    if first is None or second is None or first == second:
        return None
    return one if first < second else other


_RULES: Mapping[RuleName, Decide] = {
    "standing": _standing,
    "newer_guideline": _newer_guideline,
    "newer_statement": _newer_statement,
    "tier": _tier,
    "design": _design,
}
