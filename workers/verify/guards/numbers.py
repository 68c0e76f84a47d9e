"""No claim may state a number that its passage does not (DESIGN section 2, invariant 6). Pure.

Every quantity of the claim must stand in the passage with the same value, unit, comparator and
measure, every identifier too, and every word of a multiple ("doubled", "a quarter"). A claim that
rounds or recalculates does not pass.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache

from pydantic import BaseModel, ConfigDict

from knowledge.loader import load
from workers.reading.identifiers import identifiers
from workers.reading.quantities import Quantity, names, quantities
from workers.verify.guards.finding import Finding
from workers.verify.guards.statements import Phrasebook, read


def guard(claim: str, passage: str, allowed: frozenset[str] = frozenset()) -> list[Finding]:
    """What `claim` states in numbers, names with digits and identifiers that `passage` does not.

    `allowed` holds identifiers that the claim may use although the passage does not print them
    (those of the cited document). An empty list means that nothing is vetoed, not that the claim
    is supported.
    """
    stated: defaultdict[Decimal, list[Quantity]] = defaultdict(list)
    for quantity in quantities(passage):
        stated[quantity.value.copy_abs()].append(quantity)
    findings: list[Finding] = []
    seen: set[tuple[object, ...]] = set()
    for quantity in quantities(claim):
        meaning = (quantity.value, quantity.units, quantity.comparator, quantity.measure)
        if meaning not in seen:
            seen.add(meaning)
            finding = _compare(quantity, stated.get(quantity.value.copy_abs(), []))
            findings += [finding] if finding is not None else []
    findings += _turned(quantities(claim), stated)
    findings += [
        Finding("name", f"“{name}” is not in the passage")
        for name in sorted(names(claim) - names(passage))
    ]
    findings += [
        Finding("number", f"“{said}” is not in the passage")
        for group, said in _multiples(claim).items()
        if group not in _multiples(passage)
    ]
    known = identifiers(passage)
    for extra in allowed:
        known |= identifiers(extra) | ({f"PMID {extra}"} if extra.isdecimal() else set())
    findings += [
        Finding("identifier", f"{identifier} is not in the passage")
        for identifier in sorted(identifiers(claim) - known)
    ]
    return findings


def _turned(
    claimed: Sequence[Quantity], stated: Mapping[Decimal, Sequence[Quantity]]
) -> Iterator[Finding]:
    """A value that the passage has with two comparators ("> 4.5 … < 4.5") stands in the claim with
    one of them more often than in the passage: the other one was turned."""
    times = Counter((quantity.value.copy_abs(), quantity.comparator) for quantity in claimed)
    for (value, comparator), count in times.items():
        has = Counter(quantity.comparator for quantity in stated.get(value, ()))
        if len(has) > 1 and 0 < has[comparator] < count:
            yield Finding("comparator", f"“{comparator or ''}{value}” more often than the passage")


def _compare(claimed: Quantity, same: Sequence[Quantity]) -> Finding | None:
    """Narrow the stated quantities of the `same` size; the step that leaves none is the finding."""
    if not same:
        return Finding("number", f"“{claimed.raw}” is not in the passage")
    steps: tuple[tuple[str, Callable[[Quantity], bool]], ...] = (
        ("sign", lambda q: q.value == claimed.value),
        ("unit", lambda q: bool(q.units & claimed.units)),
        ("comparator", lambda q: q.comparator == claimed.comparator),
        (
            "measure",
            lambda q: q.measure is None or claimed.measure in (None, q.measure),
        ),
    )
    candidates = list(same)
    for code, holds in steps:
        nearest = candidates[0]
        candidates = [q for q in candidates if holds(q)]
        if not candidates:
            detail = f"“{claimed.raw}” is not in the passage, which has “{nearest.raw}”"
            return Finding(code, detail)
    return None


class _Multiples(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int
    same: tuple[tuple[str, ...], ...]
    nothing: tuple[str, ...]


def _multiples(text: str) -> dict[str, str]:
    """The multiples that words of `text` state, each with the words."""
    words = read(text).words
    return {
        name: " ".join(words[first : first + length])
        for first, length, name in _book().find(words)
        if name is not None
    }


@cache
def _book() -> Phrasebook[str | None]:
    """`knowledge/guards/multiples.yaml`: each phrase with the first of its line."""
    policy = _Multiples.model_validate(load("guards/multiples"))
    names: list[tuple[str, str | None]] = [(phrase, None) for phrase in policy.nothing]
    return Phrasebook([*names, *((phrase, one[0]) for one in policy.same for phrase in one)])
