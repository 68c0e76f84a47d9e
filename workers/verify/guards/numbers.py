"""No claim may state a number that its passage does not (DESIGN section 2, invariant 6). Pure.

Every quantity of the claim must stand in the passage with the same value, unit, comparator and
measure, every identifier too, and every word of a multiple ("doubled", "a quarter"). A claim that
rounds or recalculates does not pass.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache

from pydantic import BaseModel, ConfigDict

from clinical_text.identifiers import identifiers
from clinical_text.notation import in_digits
from clinical_text.quantities import Kind, Quantity, names
from clinical_text.vocabulary import vocabulary
from knowledge.loader import load
from workers.verify.guards.finding import Finding
from workers.verify.guards.lexing import quantities_of
from workers.verify.guards.statements import Phrasebook, read

_POINT = re.compile(r"(?i)\b(?P<unit>day|week|month|year)\s+(?P<number>\d+)\b")
_GRADED = re.compile(
    r"(?i)(?P<sign>[<>≤≥]=?|\b(?:at least|at most|up to|no more than|less than|more than|below"
    r"|above))\s*(?P<label>grades?|class|stage|level)\s+(?=\d)"
)


def guard(claim: str, passage: str, allowed: frozenset[str] = frozenset()) -> list[Finding]:
    """What `claim` states in numbers, names with digits and identifiers that `passage` does not.

    `allowed` holds identifiers that the claim may use although the passage does not print them
    (those of the cited document). An empty list means that nothing is vetoed, not that the claim
    is supported.
    """
    claim, passage = (_graded(in_digits(text)) for text in (claim, passage))
    stated: defaultdict[Decimal, list[Quantity]] = defaultdict(list)
    for quantity in quantities_of(passage):
        stated[quantity.value.copy_abs()].append(quantity)
    findings: list[Finding] = []
    seen: set[tuple[object, ...]] = set()
    claimed = quantities_of(claim)
    bounded, bounds = _bounded(claim, claimed), _bounded(passage)
    others = [
        q for some in stated.values() for q in some if q.value not in {c.value for c in claimed}
    ]
    for quantity, other in zip(claimed, bounded or claimed, strict=True):
        meaning = (quantity.value, quantity.units, quantity.comparator, quantity.measure)
        if meaning in seen:
            continue
        seen.add(meaning)
        same = stated.get(quantity.value.copy_abs(), ())
        finding = _compare(quantity, same) if same else _missing(quantity, others)
        if finding is not None and finding.code == "comparator" and (bounded or bounds):
            same = [*same, *(one for one in bounds if one.value == quantity.value)]
            finding = _compare(quantity, same) and _compare(other, same)
        findings += [finding] if finding is not None else []
    findings += _turned(claimed, stated)
    findings += _points_in_time(claim, passage)
    findings += [
        Finding("name", f"“{name}” is not in the passage", unsaid=True)
        for name in sorted(names(claim) - names(passage))
    ]
    findings += [
        Finding("number", f"“{said}” is not in the passage", unsaid=True)
        for group, said in _multiples(claim).items()
        if group not in _multiples(passage)
    ]
    return findings + strange_identifiers(claim, passage, allowed)


def strange_identifiers(
    claim: str, passage: str, allowed: frozenset[str] = frozenset()
) -> list[Finding]:
    """The identifiers of `claim` that neither `passage` nor what is `allowed` has."""
    claimed = identifiers(claim)
    if not claimed:
        return []
    known = identifiers(passage)
    for extra in allowed:
        known |= identifiers(extra) | ({f"PMID {extra}"} if extra.isdecimal() else set())
    return [
        Finding("identifier", f"{identifier} is not in the passage")
        for identifier in sorted(claimed - known)
    ]


def _graded(text: str) -> str:
    """`text` with the sign of a grade beside its number: "grade ≥ 3" for "≥ grade 3"."""
    return _GRADED.sub(lambda found: f"{found['label']} {found['sign']} ", text)


def _bounded(text: str, plain: Sequence[Quantity] = ()) -> Sequence[Quantity]:
    """The quantities of `text` with "limited to 20 mg" read as "up to 20 mg"; none where it has no
    such words, or where they make other quantities than the `plain` ones of it."""
    pattern, names = _limits()
    words = pattern.sub(lambda found: names[" ".join(found[0].lower().split())], text)
    found = quantities_of(words) if words != text else ()
    return found if not plain or len(found) == len(plain) else ()


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


def _points_in_time(claim: str, passage: str) -> Iterator[Finding]:
    """ "On day 9" where the passage has nothing but "for 9 more days"."""
    for point in _POINT.finditer(claim):
        unit, number = point["unit"].lower(), point["number"]
        lasting = re.compile(
            rf"(?i)\bfor\s+(?:\w+\s+){{0,2}}{number}\s+(?:(?:more|further|additional)\s+)?{unit}s?\b"
        )
        rest = lasting.sub("", passage)
        if rest != passage and not re.search(rf"(?<![\w.]){number}(?![\w.])", rest):
            yield Finding(
                "number", f"“{point[0]}” is no time of the passage, but how long it lasts"
            )


def _missing(claimed: Quantity, others: Sequence[Quantity]) -> Finding:
    """A number that the passage has not: does it have another one that could stand in its place,
    and of which it is not the difference ("one day shorter", of 2 and 3 days)?"""
    alike = [
        one
        for one in others
        if one.kind is claimed.kind
        and one.kind is not Kind.CI
        and one.units & claimed.units
        and one.comparator == claimed.comparator
        and (one.kind is not Kind.PLAIN or one.unit or one.comparator)
    ]
    values = {one.value for one in others}
    detail = f"“{claimed.raw}” is not in the passage"
    if not alike or any(value + claimed.value in values for value in values):
        return Finding("number", detail, unsaid=True)
    nearest = min(alike, key=lambda one: abs(one.value - claimed.value))
    return Finding("number", f"{detail}, which has “{nearest.raw}”")


def _compare(claimed: Quantity, same: Sequence[Quantity]) -> Finding | None:
    """Narrow the stated quantities of the `same` size; the step that leaves none is the finding."""
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
            return Finding(code, detail, unsaid=_is_open(code, claimed, nearest))
    return None


def _is_open(code: str, claimed: Quantity, nearest: Quantity) -> bool:
    """Whether the difference contradicts nothing: "lower by 0.5" of -0.5, "above 5" of "at least
    5"."""
    if code == "sign":
        return claimed.raw[0].isdecimal()
    if code == "unit":
        return None in (nearest.unit, claimed.unit)  # "9.9 against 4.8 months", "week 12"
    sides = (claimed.comparator, nearest.comparator)
    return code == "comparator" and (set(sides) <= set("<≤") or set(sides) <= set(">≥"))


class _Limits(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int
    limits: Mapping[str, tuple[str, ...]]


@cache
def _limits() -> tuple[re.Pattern[str], Mapping[str, str]]:
    """`knowledge/guards/limits.yaml`: where its words stand before a number, and what each is."""
    limits = _Limits.model_validate(load("guards/limits")).limits
    names = {phrase: name for name, phrases in limits.items() for phrase in phrases}
    words = "|".join(r"\s+".join(map(re.escape, one.split())) for one in names)
    number = rf"(?=\s+(?:\d|(?:{'|'.join(vocabulary().number_words)})\b))"
    return re.compile(rf"(?i)\b(?:{words}){number}"), names


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
