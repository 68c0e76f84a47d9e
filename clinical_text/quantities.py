"""The numbers of a sentence with their units, comparators and measures.

Number words to twelve equal digits, 0.50 equals .5, "50 percent" equals "50%"; nothing else is
converted.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from clinical_text.identifiers import spans_of_identifiers
from clinical_text.normalize import MINUS, fold_dashes
from clinical_text.numbers.numbered_names import numbered_names, same_name
from clinical_text.numbers.patterns import (
    INTERVAL,
    INTERVAL_NEEDS,
    LIST_JOINT,
    NUMBER,
    NUMBER_WORD,
    NUMBER_WORD_NEEDS,
    OR_MORE_AFTER,
    OR_MORE_BEHIND,
    P_BEFORE,
    POWER,
    UNIT_JOINT,
    comparator_before,
    counted_after,
    has_or_more,
    is_counted,
    measure_before,
    measure_named,
    month_after,
    month_before,
    sign_before,
    unit_after,
)
from clinical_text.vocabulary import vocabulary
from knowledge.matching.literals import ignoring_case

# Code points before a number that can name its measure or comparator.
LOOK_BACK = 100
_WORD = re.compile(r"\b\w+")
_GLUED = re.compile(r"[\w⁻⁺]+")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺−", "0123456789-+-")
_YEARS = range(1900, 2101)


class Kind(StrEnum):
    """What a number is."""

    PERCENT = "percent"
    RATIO = "ratio"
    P_VALUE = "p_value"
    CI = "ci"
    COUNT = "count"
    DOSE = "dose"
    DURATION = "duration"
    DATE = "date"
    PLAIN = "plain"


_KIND_OF_MEASURE = {"CI": Kind.CI, "p": Kind.P_VALUE}
_KIND_OF_UNIT = {kind.value: kind for kind in Kind}


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as a text states it, at `[start, end)` of that text.

    `unit` is canonical (`%`, `mg/kg`, `month`); `shared_unit` the unit that a later number of the
    same range or list carries ("10 to 20 mg"). `comparator` is one of `< > ≤ ≥ ±`. `measure` is
    `HR`, `OR`, `RR`, `p` or `CI` where the text names one.
    """

    value: Decimal
    raw: str
    start: int
    end: int
    kind: Kind
    unit: str | None = None
    shared_unit: str | None = None
    comparator: str | None = None
    measure: str | None = None

    @property
    def units(self) -> frozenset[str | None]:
        """The units it may be read with."""
        return frozenset({self.unit} if self.unit is not None else {None, self.shared_unit})


class _Text(NamedTuple):
    """A text as its numbers are read; `or_more`: whether "or more" and the like is in it."""

    original: str
    folded: str
    intervals: Sequence[tuple[int, int]]
    or_more: bool


def quantities(text: str) -> list[Quantity]:
    """The quantities of `text` in order; offsets are its code points.

    Digits inside identifiers and inside names (CD4, T790M, COVID-19) are not quantities.
    """
    return Numbers(text, fold_dashes(text)).all()


class Numbers:
    """The quantities of a text, each read when it is asked for: who looks for an effect needs the
    few behind its name.

    Args:
        folded: what `fold_dashes` makes of the text.
    """

    def __init__(self, text: str, folded: str) -> None:
        lower = ignoring_case(folded)
        intervals: Sequence[tuple[int, int]] = ()
        if INTERVAL_NEEDS.met(folded, lower):
            found = INTERVAL.finditer(folded)
            intervals = [match.span(side) for match in found for side in ("low", "high")]
        self._text = _Text(text, folded, intervals, has_or_more(folded, lower))
        self._taken = _no_quantities(folded)
        self._places = [*NUMBER.finditer(folded)]
        self._has_words = NUMBER_WORD_NEEDS.met(folded, lower)
        self._read: dict[int, Quantity] = {}
        self._all: list[Quantity] | None = None

    def all(self) -> list[Quantity]:
        """All of them, in order."""
        if self._all is None:
            self._all = self._found()
        return self._all

    def _found(self) -> list[Quantity]:
        found = [*self._behind(0)]
        if self._has_words:
            found += _in_words(self._text)
            found.sort(key=lambda quantity: quantity.start)
        return _share_units(self._text.folded, found)

    def since(self, at: int) -> Iterator[Quantity]:
        """Those that begin at `at` or behind it, in order, without shared units."""
        if self._has_words:
            every = self.all()
            return iter(every[bisect_left(every, at, key=lambda one: one.start) :])
        first = bisect_left(self._places, at, key=re.Match.start)
        while first and self._goes_on(self._places[first - 1].end()):
            first -= 1
        return (one for one in self._behind(first) if one.start >= at)

    def _behind(self, first: int) -> Iterator[Quantity]:
        """Those of the numbers in digits from this one on; no number before it goes on in it."""
        end = 0
        for index in range(first, len(self._places)):
            place = self._places[index]
            if place.start() < end or (self._taken and _overlaps(self._taken, *place.span())):
                continue
            one = self._read.get(index)
            if one is None:
                # What names a number, or compares it, has no digit: it is behind the one before.
                since = self._places[index - 1].end() if index else 0
                one = _read(self._text, place.span(), _decimal(place.group()), since)
                self._read[index] = one
            end = one.end
            yield one

    def _goes_on(self, end: int) -> bool:
        """Whether a quantity whose first number ends here may hold the next number."""
        text = self._text.folded
        return POWER.match(text, end) is not None or _GLUED.match(text, end) is not None


def _in_words(whole: _Text) -> Iterator[Quantity]:
    """The quantities that are written as words."""
    for match in NUMBER_WORD.finditer(whole.folded):
        value = Decimal(vocabulary().number_words.index(match["word"].lower()))
        quantity = _read(whole._replace(intervals=()), match.span(), value, 0)
        # "One" is more often a pronoun than a number.
        if value != 1 or quantity.unit is not None or quantity.kind is Kind.COUNT:
            yield quantity


def names(text: str) -> frozenset[str]:
    """Words with digits in them that are neither quantities nor identifiers, in lower case.

    Without hyphens: `covid19` for "COVID-19", `il6` for "IL-6" and "interleukin 6".
    """
    folded = fold_dashes(text)
    found = [(q.start, q.end) for q in quantities(text)]
    taken = _no_quantities(folded)
    words = {
        same_name(word.group().lower())
        for word in _WORD.finditer(folded)
        if any(c.isdecimal() for c in word.group())
        and not _overlaps(found, *word.span())
        and not _overlaps(taken, *word.span())
    }
    identified = spans_of_identifiers(folded)
    return frozenset(words) | {
        one.key for one in numbered_names(folded) if not _overlaps(identified, one.start, one.end)
    }


def _no_quantities(folded: str) -> list[tuple[int, int]]:
    """Where identifiers and names with a number stand, in order and disjoint."""
    identified = spans_of_identifiers(folded)
    named = [(one.start, one.end) for one in numbered_names(folded)]
    return sorted([*identified, *(one for one in named if not _overlaps(identified, *one))])


def _overlaps(spans: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """Whether one of the ordered, disjoint `spans` touches `[start, end)`."""
    at = bisect_left(spans, end, key=lambda span: span[0]) - 1
    return at >= 0 and spans[at][1] > start


def _read(whole: _Text, span: tuple[int, int], value: Decimal, since: int) -> Quantity:
    """The quantity around the number at `span` of the folded text.

    `since`: no word before it belongs to the number.
    """
    words = vocabulary()
    text = whole.folded
    start, end = span
    power = POWER.match(text, end)
    if power is not None:
        end = power.end()
        exponent = int(re.sub(r"[\^\s]", "", power["exponent"]).translate(_SUPERSCRIPTS))
        negative, digits, point = value.as_tuple()
        value = Decimal((negative, digits, int(point) + exponent))
    first = max(0, start - LOOK_BACK)
    before, since = text[first:start], max(0, since - first)
    unit, end_of_unit = unit_at(text, end)
    begin = start
    sign = sign_before(before)
    if sign is not None:
        at = max(sign.start("tight"), sign.start("currency"), sign.start("loose"))
        begin -= len(before) - at
        before, written = before[:at], before[at:]
        value = value.copy_negate() if written[0] == MINUS else value
        unit = unit or words.unit(written[-1])
    comparator, phrase = None, comparator_before(before, since)
    kind = words.unit_kind.get(unit.split("/")[0], "plain") if unit else "plain"
    if phrase is not None:
        at, written = phrase
        named = re.sub(r"\s+", " ", written.lower())
        if not (kind == "duration" and named in words.not_comparators_of_durations):
            comparator = words.comparator_of[named]
            begin -= len(before) - at
    if whole.or_more:
        later = OR_MORE_AFTER.match(text, end_of_unit)
        behind = later or OR_MORE_BEHIND.match(text, end_of_unit)
        if comparator is None and behind is not None:
            named = re.sub(r"\s+", " ", behind["comparator"].lower())
            comparator = words.comparator_after_of[named]
            end_of_unit = later.end() if later is not None else end_of_unit
    measure = _measure(before, start, whole.intervals, since)
    return Quantity(
        value,
        whole.original[begin:end_of_unit],
        begin,
        end_of_unit,
        _kind(text, before, (start, end_of_unit), unit, measure),
        unit,
        None,
        comparator,
        measure,
    )


def _decimal(written: str) -> Decimal:
    """The value of a number: groups joined, the decimal mark made a point."""
    if not written.isascii() or "," in written:
        written = re.sub(r"[,\s]", "", written).replace("·", ".")
    return Decimal(written)


def unit_at(text: str, end: int) -> tuple[str | None, int]:
    """The unit that follows a number ending at `end`, and where it ends.

    Letters glued to a number that are no unit (5FU, 2nd) are kept as its unit, so that "2nd" and
    "2" stay different.
    """
    match = unit_after(text, end)
    if match is None:
        glued = _GLUED.match(text, end)
        return (glued.group().lower(), glued.end()) if glued else (None, end)
    return _canonical(match["unit"]), match.end()


@lru_cache(maxsize=1024)
def _canonical(written: str) -> str:
    """The spelling that stands for this unit, simple or made of several."""
    parts = [
        vocabulary().unit(re.sub(r"\s+", " ", part)) or part.lower()
        for part in UNIT_JOINT.split(written)
    ]
    return "/".join(parts)


def _measure(
    before: str, start: int, intervals: Sequence[tuple[int, int]], since: int
) -> str | None:
    if intervals and _overlaps(intervals, start, start + 1):
        return "CI"
    if P_BEFORE.search(before, since):
        return "p"
    match = measure_before(before, since)
    return measure_named(match["measure"]) if match else None


def _kind(
    text: str, before: str, span: tuple[int, int], unit: str | None, measure: str | None
) -> Kind:
    if measure is not None:
        return _KIND_OF_MEASURE.get(measure, Kind.RATIO)
    if unit is not None:
        return _KIND_OF_UNIT[vocabulary().unit_kind.get(unit.split("/")[0], "plain")]
    start, end = span
    if is_counted(before) or counted_after(text, end):
        return Kind.COUNT
    number = text[start:end]
    is_year = len(number) == 4 and number.isdecimal() and int(number) in _YEARS
    if is_year or month_before(before) or month_after(text, end):
        return Kind.DATE
    return Kind.PLAIN


def _share_units(text: str, found: Sequence[Quantity]) -> list[Quantity]:
    """Give each number of a range or list the unit written once at its end."""
    shared: list[Quantity] = []
    for quantity in reversed(found):
        if shared and quantity.unit is None and quantity.kind in (Kind.PLAIN, Kind.CI):
            later = shared[-1]
            between = text[quantity.end : later.start]
            joined = between.strip() or later.comparator == "±"
            unit = later.unit or later.shared_unit
            known = unit is not None and unit.split("/")[0] in vocabulary().unit_kind
            if joined and known and LIST_JOINT.fullmatch(between):
                quantity = replace(quantity, shared_unit=unit)
        shared.append(quantity)
    return shared[::-1]
