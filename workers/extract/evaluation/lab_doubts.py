"""Why laboratory values that their rows bear may be wrong all the same. Pure.

A row that was read wrongly seldom fits: the value is none that a patient can have, its flag says
the contrary of its range, its unit is missing, or the analyte has a second value.
"""

from collections.abc import Iterator, Mapping, Sequence

from workers.extract.evaluation.doubts import Doubt
from workers.extract.evaluation.signs_policy import signs_policy
from workers.extract.fields import Item
from workers.extract.rubrics import vocabulary
from workers.extract.rules.laboratory.lab_parts import plausible_of
from workers.extract.values import LabValue

_OF_RESULTS = "lab-report"
_COMPANY = 2
"""Values with a flag, or with a unit, beside which one without is a doubt (ours)."""


def lab_doubts(items: Sequence[Item], document_type: str) -> Mapping[int, Sequence[Doubt]]:
    """The doubts about each of the values of a document, by its place among them."""
    values = [(at, one.value) for at, one in enumerate(items) if isinstance(one.value, LabValue)]
    every = [one for _, one in values]
    flagged = any(one.flag is not None for one in every)
    with_unit = sum(one.unit is not None for one in every)
    bare = document_type == _OF_RESULTS and with_unit >= max(_COMPANY, len(every) / 2)
    ranged = document_type == _OF_RESULTS and _ranged(every) >= max(_COMPANY, len(every) / 2)
    twice = _twice(every) if document_type == _OF_RESULTS else frozenset()
    found = {}
    for at, value in values:
        found[at] = [*_by_itself(value), *_beside(value, flagged=flagged, bare=bare)]
        found[at] += _unlike_the_others(value, ranged=ranged, of_results=bool(bare))
        if value.name in twice:
            words = f"the report has two values of {value.name}"
            found[at].append(Doubt(signs_policy().lab_twice, words, grave=True))
    return found


def impossible(value: LabValue) -> bool:
    """Whether no living patient has such a value in this unit."""
    limits = plausible_of(value.name, value.unit)
    number = value.number
    return limits is not None and number is not None and not limits[0] <= number <= limits[1]


def contradicted(value: LabValue) -> bool:
    """Whether the flag says something else than the range, or the range is none."""
    number, low, high = value.number, value.low, value.high
    if low is not None and high is not None and low > high:
        return True
    if number is None or (low is None and high is None) or value.flag is None:
        return False
    above, below = _above(value), _below(value)
    wrong = {
        "high": not above and (high is not None or below),
        "low": not below and (low is not None or above),
        "normal": above or below,
    }
    return wrong.get(value.flag, False)


def _above(value: LabValue) -> bool:
    """Whether a value is above its range; one at its very end may be either."""
    number, high = value.number, value.high
    if number is None or high is None:
        return False
    return number > high or (number == high and (value.comparator in (">", "≥") or _at_end(value)))


def _below(value: LabValue) -> bool:
    number, low = value.number, value.low
    if number is None or low is None:
        return False
    return number < low or (number == low and (value.comparator in ("<", "≤") or _at_end(value)))


def _at_end(value: LabValue) -> bool:
    """A range of one end, such as "<5", may be meant with it or without."""
    return value.flag in ("high", "low") and (value.low is None or value.high is None)


def _by_itself(value: LabValue) -> Iterator[Doubt]:
    limits = signs_policy()
    if impossible(value):
        words = f"{value.name} is a value that no living patient has in this unit"
        yield Doubt(limits.lab_impossible, words, grave=True)
    if contradicted(value):
        words = f"the flag of {value.name} does not agree with its range"
        yield Doubt(limits.lab_contradicted, words, grave=True)


def _beside(value: LabValue, *, flagged: bool, bare: bool) -> Iterator[Doubt]:
    """Doubts that the other values of the document give cause for."""
    limits = signs_policy()
    known = vocabulary().labs.get(value.name)
    outside = value.number is not None and (_above(value) or _below(value))
    outside &= value.name not in limits.never_flagged
    if flagged and value.flag is None and outside:
        words = f"{value.name} is outside its range and has no flag, where other values have one"
        yield Doubt(limits.lab_unflagged, words, grave=True)
    if bare and value.unit is None and not (known is not None and known.unitless):
        words = f"{value.name} is given without a unit, where other values have one"
        yield Doubt(limits.lab_without_unit, words, grave=True)


def _unlike_the_others(value: LabValue, *, ranged: bool, of_results: bool) -> Iterator[Doubt]:
    """What was measured to tell rows that were read wrongly: an unknown name, no range."""
    limits = signs_policy()
    if of_results and value.name not in vocabulary().labs:
        words = f"{value.name} is no name of a test that is known"
        yield Doubt(limits.lab_unknown, words, grave=True)
    if ranged and not _ranged([value]) and value.name not in limits.never_flagged:
        words = f"{value.name} has no range, where other values have one"
        yield Doubt(limits.lab_without_range, words)


def _ranged(values: Sequence[LabValue]) -> int:
    return sum(one.low is not None or one.high is not None for one in values)


def _twice(values: Sequence[LabValue]) -> frozenset[str]:
    """Analytes with two different values in one unit."""
    seen: dict[tuple[str, str | None], set[object]] = {}
    for one in values:
        seen.setdefault((one.name, one.unit), set()).add((one.comparator, one.number))
    return frozenset(name for (name, _), held in seen.items() if len(held) > 1)
