"""All guards, in one order. Pure."""

from workers.verify.guards import numbers
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds


def vetoes(claim: str, grounds: Grounds) -> tuple[Finding, ...]:
    """Everything that speaks against the claim; empty means nothing vetoes it."""
    return tuple(numbers.guard(claim, grounds.passage))
