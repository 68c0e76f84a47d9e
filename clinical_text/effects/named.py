"""Effects whose measure is named before them: "HR 0.60 (95% CI 0.41 to 0.87; P = 0.01)". Pure.

Places are those of one sentence, folded by `normalize.fold_dashes`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from clinical_text.effects import words
from clinical_text.effects.patterns import (
    ABBREVIATED,
    BARE_INTERVAL,
    CI_BEFORE_VALUE,
    INTERVAL_AFTER,
    LEAD,
    MEASURE,
    MEASURE_NEEDS,
    NEXT_OF_LIST,
    UNIT_WORDS,
    bounded,
    decimal,
)
from clinical_text.quantities import Kind, Numbers, Quantity
from knowledge.matching.literals import ignoring_case
from store.core.spans import Span

RATIOS = frozenset({"HR", "OR", "RR"})
_LEAD_CHARS = 160
_LEVEL_CHARS = 60
_LEVEL_BEGINS = "89"
_OPENS_BRACKET = bounded(r"\s*[\[(]\s*")
_DIGIT = re.compile(r"\d")
_TAIL_CHARS = 120
_P_CHARS = 60
_NOT_VALUES = frozenset({Kind.DURATION, Kind.DATE, Kind.COUNT, Kind.P_VALUE, Kind.CI})
_SIGNIFICANT = Decimal("0.05")
_NO_ARMS = words.Arms()


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
    arms: words.Arms = _NO_ARMS


def named(sentence: str, names: Sequence[re.Match[str]], numbers: Numbers) -> Iterator[Found]:
    """Estimates whose measure is named before them.

    `names` are what `MEASURE` finds in the sentence, in order, `numbers` its quantities.
    """
    done = 0
    for place, name in enumerate(names):
        if name.start() < done:
            continue
        one = _after(sentence, name, names[place + 1 :], numbers)
        while one is not None:
            yield one
            done = one.end
            one = _next_of_list(sentence, one, numbers)


def _after(
    sentence: str,
    name: re.Match[str],
    later: Sequence[re.Match[str]],
    numbers: Numbers,
) -> Found | None:
    """The estimate that follows the name of its measure; `later` are the names behind it."""
    measure = name.lastgroup
    assert measure is not None, "one of the groups matched"
    at, told = _behind_level(sentence, name.end())
    limit = at + _LEAD_CHARS
    nearest = next((one for one in later if one.start() >= at), None)
    if nearest and not _is_short_form(sentence, name.end(), nearest):
        limit = min(limit, nearest.start())
    for number in numbers.since(at):
        if number.start > limit:
            return None
        lead = LEAD.fullmatch(sentence, at, number.start)
        if lead is None:
            return None
        if _is_aside(number, measure, lead):
            continue  # "hazard ratio for 5-year survival"
        one = _with_tail(
            sentence,
            numbers,
            start=name.start(),
            number=number,
            measure=measure,
            level=told,
            about=Span(*lead.span("about")) if lead["about"] else None,
            said=sentence[max(0, name.start() - 30) : name.end()],
        )
        return one if _holds(name.group(), number, one) else None
    return None


def _behind_level(sentence: str, at: int) -> tuple[int, Decimal | None]:
    """Where the value may stand behind a name that ends `at`, and the level of its interval where
    that stands before the value: "OR (95% CI): 1.2 (0.9-1.6)"."""
    digit = _DIGIT.search(sentence, at, at + _LEVEL_CHARS)
    if digit is None or digit[0] not in _LEVEL_BEGINS:
        return at, None  # another number comes first
    heading = CI_BEFORE_VALUE.search(sentence, at, at + _LEVEL_CHARS)
    if heading is None or any(c.isdigit() for c in sentence[at : heading.start()]):
        return at, None
    if LEAD.fullmatch(sentence, at, heading.start()) is None:
        return at, None
    return heading.end(), decimal(heading["level"])


def _is_aside(number: Quantity, measure: str, lead: re.Match[str]) -> bool:
    """Whether a number before the value belongs to the words: "for 5-year survival"."""
    if number.kind is Kind.DURATION and measure not in RATIOS and not lead["about"]:
        return False  # "a mean difference of 34 minutes"
    return number.kind in _NOT_VALUES and number.measure is None


def _is_short_form(sentence: str, at: int, name: re.Match[str]) -> bool:
    """Whether a name only repeats the one before it: "hazard ratio [HR]"."""
    return _OPENS_BRACKET.fullmatch(sentence, at, name.start()) is not None


def _next_of_list(sentence: str, before: Found, numbers: Numbers) -> Found | None:
    """The next estimate of "HRs of 0.6 (0.4-0.9) and 0.7 (0.5-1.0)"; it must have an interval."""
    if before.low is None:
        return None
    for number in numbers.since(before.end):
        if NEXT_OF_LIST.fullmatch(sentence, before.end, number.start) is None:
            return None
        one = _with_tail(
            sentence,
            numbers,
            start=number.start,
            number=number,
            measure=before.measure,
            level=None,
            about=None,
            said=before.said,
            shares_words=False,
        )
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


def _with_tail(
    sentence: str,
    numbers: Numbers,
    *,
    start: int,
    number: Quantity,
    measure: str,
    level: Decimal | None,
    about: Span | None,
    said: str,
    shares_words: bool = True,
) -> Found:
    """The estimate whose value is `number`, with the interval and the p value written behind it."""
    at, value, low, high = number.end, number.value, None, None
    end, limit = at, at + _TAIL_CHARS
    match = INTERVAL_AFTER.match(sentence, at, limit) or BARE_INTERVAL.match(sentence, at, limit)
    if match is None and measure not in RATIOS:
        unit = UNIT_WORDS.match(sentence, at, limit)
        match = INTERVAL_AFTER.match(sentence, unit.end(), limit) if unit else None
    if match:
        lower, upper = decimal(match["low"]), decimal(match["high"])
        if lower <= value <= upper:
            named = match.groupdict()
            low, high = lower, upper
            end = max(match.end(name) for name in ("high", "unit") if name in named)
            level = decimal(named["level"]) if named.get("level") else level
    p, end = p_behind(sentence, end, numbers)
    return Found(
        start,
        end,
        measure,
        value,
        number.unit,
        None,
        low,
        high,
        level,
        p,
        about,
        said,
        shares_words,
    )


def p_behind(sentence: str, end: int, numbers: Numbers) -> tuple[PValue | None, int]:
    """The p value that is the next number behind an effect that ends at `end`, if it is one of the
    arms' difference, and where the effect ends with it."""
    for number in numbers.since(end):
        if number.measure != "p" or number.start - end > _P_CHARS:
            return None, end
        # The number's own comparator is part of it, the words that name it are not.
        between = sentence[end : number.start]
        names_another = MEASURE_NEEDS.met(between, ignoring_case(between)) and MEASURE.search(
            between
        )
        if names_another or words.asks_otherwise(between) or not 0 <= number.value <= 1:
            return None, end
        return PValue(number.value, number.comparator or "="), number.end
    return None, end
