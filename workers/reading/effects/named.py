"""Effects whose measure is named before them: "HR 0.60 (95% CI 0.41 to 0.87; P = 0.01)". Pure.

Places are those of one sentence, folded by `normalize.fold_dashes`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from store.spans import Span
from workers.reading.effects import words
from workers.reading.effects.patterns import (
    ABBREVIATED,
    BARE_INTERVAL,
    CI_BEFORE_VALUE,
    INTERVAL_AFTER,
    LEAD,
    MEASURE,
    NEXT_OF_LIST,
    UNIT_WORDS,
    decimal,
)
from workers.reading.quantities import Kind, Quantity

RATIOS = frozenset({"HR", "OR", "RR"})
_LEAD_CHARS = 160
_TAIL_CHARS = 120
_P_CHARS = 60
_NOT_VALUES = frozenset({Kind.DURATION, Kind.DATE, Kind.COUNT, Kind.P_VALUE, Kind.CI})
_SIGNIFICANT = Decimal("0.05")


@dataclass(frozen=True, slots=True)
class PValue:
    """A p value as written: `comparator` is `<`, `>`, `≤`, `≥` or `=`."""

    value: Decimal
    comparator: str = "="

    @property
    def significant(self) -> bool | None:
        """Whether it is below 0.05; None where it leaves that open ("p < 0.1")."""
        if self.comparator in ("<", "≤"):
            return True if self.value <= _SIGNIFICANT else None
        if self.comparator in (">", "≥"):
            return False if self.value >= _SIGNIFICANT else None
        return self.value < _SIGNIFICANT


@dataclass(frozen=True, slots=True)
class Found:
    """An estimate by places in its sentence; see `effects.Estimate`."""

    start: int
    end: int
    measure: str
    value: Decimal
    unit: str | None = None
    other: Decimal | None = None
    low: Decimal | None = None
    high: Decimal | None = None
    level: Decimal | None = None
    p: PValue | None = None
    about: Span | None = None
    said: str = ""
    shares_words: bool = True
    arms: words.Arms = field(default_factory=words.Arms)


def named(sentence: str, numbers: Sequence[Quantity]) -> Iterator[Found]:
    """Estimates whose measure is named before them."""
    done = 0
    for name in MEASURE.finditer(sentence):
        if name.start() < done:
            continue
        one = _after(sentence, name, numbers)
        while one is not None:
            yield one
            done = one.end
            one = _next_of_list(sentence, one, numbers)


def _after(sentence: str, name: re.Match[str], numbers: Sequence[Quantity]) -> Found | None:
    """The estimate that follows the name of its measure."""
    measure = name.lastgroup
    assert measure is not None, "one of the groups matched"
    at, told = name.end(), None
    heading = CI_BEFORE_VALUE.search(sentence, at, at + 60)
    lead = LEAD.fullmatch(sentence, at, heading.start()) if heading else None
    if heading and lead and not any(c.isdigit() for c in lead.group()):
        at, told = heading.end(), decimal(heading["level"])
    limit = at + _LEAD_CHARS
    nearest = MEASURE.search(sentence, at)
    if nearest and not _is_short_form(sentence, name.end(), nearest):
        limit = min(limit, nearest.start())
    for number in numbers:
        if number.start < at:
            continue
        if number.start > limit:
            return None
        lead = LEAD.fullmatch(sentence, at, number.start)
        if lead is None:
            return None
        if _is_aside(number, measure, lead):
            continue  # "hazard ratio for 5-year survival"
        begin = Found(name.start(), number.end, measure, number.value, number.unit, level=told)
        about = Span(*lead.span("about")) if lead["about"] else None
        said = sentence[max(0, name.start() - 30) : name.end()]
        one = _with_tail(sentence, replace(begin, about=about, said=said), numbers)
        return one if _holds(name.group(), number, one) else None
    return None


def _is_aside(number: Quantity, measure: str, lead: re.Match[str]) -> bool:
    """Whether a number before the value belongs to the words: "for 5-year survival"."""
    if number.kind is Kind.DURATION and measure not in RATIOS and not lead["about"]:
        return False  # "a mean difference of 34 minutes"
    return number.kind in _NOT_VALUES and number.measure is None


def _is_short_form(sentence: str, at: int, name: re.Match[str]) -> bool:
    """Whether a name only repeats the one before it: "hazard ratio [HR]"."""
    return re.fullmatch(r"\s*[\[(]\s*", sentence[at : name.start()]) is not None


def _next_of_list(sentence: str, before: Found, numbers: Sequence[Quantity]) -> Found | None:
    """The next estimate of "HRs of 0.6 (0.4-0.9) and 0.7 (0.5-1.0)"; it must have an interval."""
    if before.low is None:
        return None
    for number in numbers:
        if number.start < before.end:
            continue
        if NEXT_OF_LIST.fullmatch(sentence, before.end, number.start) is None:
            return None
        begin = Found(
            number.start,
            number.end,
            before.measure,
            number.value,
            number.unit,
            said=before.said,
            shares_words=False,
        )
        one = _with_tail(sentence, begin, numbers)
        return one if one.low is not None and _holds("", number, one) else None
    return None


def _holds(name: str, number: Quantity, one: Found) -> bool:
    """Whether what follows a name is an effect: HR 76 is a pulse, 45% RR a rate of response."""
    backed = one.low is not None or one.p is not None
    if number.comparator is not None and not backed:
        return False
    if one.measure in RATIOS:
        short = ABBREVIATED.fullmatch(name) is not None
        whole = number.value == number.value.to_integral_value()
        return number.unit is None and number.value > 0 and (backed or not (short and whole))
    if one.measure == "RD" and "risk" in name.lower():
        return True
    if ABBREVIATED.fullmatch(name):  # RD and MD are also initials of other things
        return one.low is not None and one.level is not None
    return backed if "mean" in name.lower() else one.low is not None


def _with_tail(sentence: str, one: Found, numbers: Sequence[Quantity]) -> Found:
    """With the interval and the p value written behind its value."""
    at, limit = one.end, one.end + _TAIL_CHARS
    match = INTERVAL_AFTER.match(sentence, at, limit) or BARE_INTERVAL.match(sentence, at, limit)
    unit = UNIT_WORDS.match(sentence, at, limit) if one.measure not in RATIOS else None
    if match is None and unit is not None:
        match = INTERVAL_AFTER.match(sentence, unit.end(), limit)
    if match:
        low, high = decimal(match["low"]), decimal(match["high"])
        if low <= one.value <= high:
            level = match.groupdict().get("level")
            end = max(match.end(name) for name in ("high", "unit") if name in match.groupdict())
            one = replace(one, end=end, low=low, high=high)
            one = replace(one, level=decimal(level) if level else one.level)
    return with_p(sentence, one, numbers)


def with_p(sentence: str, one: Found, numbers: Sequence[Quantity]) -> Found:
    """With the p value that is the next number behind it, if it is one of the arms' difference."""
    for number in numbers:
        if number.start < one.end:
            continue
        between = sentence[one.end : number.start]
        if number.measure != "p" or len(between) > _P_CHARS or MEASURE.search(between):
            return one
        # The number's own comparator is part of it, the words that name it are not.
        if words.asks_otherwise(between) or not 0 <= number.value <= 1:
            return one
        p = PValue(number.value, number.comparator or "=")
        return replace(one, end=number.end, p=p)
    return one
