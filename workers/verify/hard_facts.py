"""What code can decide for certain, whatever a judge says (DESIGN 7.2). Pure.

Each of these stops next to no true claim on texts that it was not made on; what each stops and
catches stands in docs/verification.md. What is softer is a doubt (`workers.verify.doubts`).
"""

from collections.abc import Callable, Sequence
from functools import lru_cache

from workers.verify.facts import names, numbers, outcomes
from workers.verify.guards import drugs, population, trials
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.passages.comparable import is_quoted_whole, too_much, without_references

Guard = Callable[[str, Grounds], list[Finding]]

CERTAIN: Sequence[Guard] = (numbers.guard, names.guard, outcomes.guard, trials.guard)
"""All that they find is certain: a figure, a name with digits or an identifier that the document
does not have, a figure that it has of the opposite."""
STATED: Sequence[tuple[Guard, frozenset[str]]] = (
    (drugs.guard, frozenset({"dose", "drug", "frequency", "regimen", "route"})),
    (population.guard, frozenset({"population"})),
)
"""With the codes that are certain where the passage states something else in its place, not where
it only does not say."""
QUOTED: Sequence[Guard] = (trials.guard,)
"""Whole sentences of the passage say what the passage says and name what it names; but a source may
itself give a trial a number that is another one's."""


@lru_cache(maxsize=256)  # asked again for what is told of a claim that falls
def hard_facts(claim: str, grounds: Grounds) -> tuple[Finding, ...]:
    """What forbids `claim`, given what it leans on, in the order of the guards."""
    claim, grounds = without_references(claim, grounds)
    if is_quoted_whole(claim, grounds.passage):
        if claim == grounds.passage:
            return ()  # nothing differs from itself
        return tuple(found for guard in QUOTED for found in guard(claim, grounds))
    if (far := too_much(claim, grounds)) is not None:
        return (far,)
    found = [one for guard in CERTAIN for one in guard(claim, grounds)]
    found += [
        one
        for guard, certain in STATED
        for one in guard(claim, grounds)
        if one.code in certain and not one.unsaid
    ]
    return tuple(dict.fromkeys(found))
