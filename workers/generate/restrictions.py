"""Whether what a source says holds for whom the question is about: ages, kidney function, and what
the question leaves out. Pure.

A figure of the question is compared with the ranges that a line, else its heading, states ("aged 2
to 12 years", "clearance below 30 mL/min"). A line without a range is for anybody.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from clinical_text.names import forms, names, resolve
from clinical_text.quantities import quantities
from contracts.retrieval import Restriction
from workers.generate.facets import states
from workers.generate.populations import stated

_YEARS = {"year": 1.0, "month": 1 / 12, "week": 7 / 365.25, "day": 1 / 365.25}
_NUMBER, _UNIT = r"\d{1,3}(?:\.\d)?", r"years?|yrs?|months?|weeks?|days?"
_BELOW = r"(?:below|under|less\sthan|younger\sthan|up\sto|<|≤)"
_ABOVE = r"(?:above|over|more\sthan|older\sthan|at\sleast|from|>|≥)"
_OR_MORE = r"(?:\s(?:of\sage\s)?(?:or|and)\s(?:more|older|above|over|greater|higher)|\+)"
_SPAN = (
    rf"(?:(?P<first>{_NUMBER})\s?(?P<unit1>{_UNIT})?\s?(?:to|-|–|and|through)\s?(?P<last>{_NUMBER})"
    rf"|(?P<below>{_BELOW})\s?(?P<most>{_NUMBER})"
    rf"|(?P<above>{_ABOVE})\s?(?P<least>{_NUMBER})"
    rf"|(?P<from>{_NUMBER})(?=\s?(?:{_UNIT}|mL/min)?(?:/1\.73\sm2)?{_OR_MORE}))"
)
_PEOPLE = (
    r"(?:aged?|ages|children|infants|neonates|newborns|adolescents|adults|patients|people|those)"
)
_AGES = re.compile(
    rf"(?i)\b{_PEOPLE}\s(?:aged?\s|who\sare\s|between\s)?{_SPAN}\s?(?P<unit>{_UNIT})\b"
    rf"(?!\s(?:of|after|before|following)\s(?!age))"
)
_CLEARANCES = re.compile(
    rf"(?i)\b(?:clearance|e?GFR|CrCl)\b[^.;:\d<>≤≥]{{0,25}}?(?:of\s|is\s)?{_SPAN}(?P<unit>)"
)
_READ = {"age": _AGES, "kidney_function": _CLEARANCES}
_NEWBORNS, _NEWBORN = "newborns", 28 / 365.25
"""Of a population, and their ages in years (WHO: the first 28 days)."""
_LEFT_OUT = re.compile(r"(?i)\b(?:without|no|not|non|excluding|excluded|free\sof|other\sthan)\b")
_NEAR = 30
"""Characters before a name in which it may be left out (ours)."""


class Range(NamedTuple):
    """From `first` to below `last`, in years or mL/min."""

    first: float
    last: float


class Restrictions:
    """What restricts the answer to a question."""

    def __init__(
        self,
        restrictions: Iterable[Restriction] = (),
        asked: Iterable[str] = (),
        required: Collection[str] = (),
    ) -> None:
        """`asked`: what the question asks about by name; `required`: see `contracts.Asked`."""
        found = list(restrictions)
        self._names = [one for one in asked if one not in required or _is_condition(one)]
        self._names += [one.text for one in found if one.kind == "other" and not one.excludes]
        self._figures = [
            (measure, figure)
            for measure in _READ
            for one in found
            if one.kind == measure and (figure := _figure(one)) is not None
        ]
        self._excluded = [
            one.text[name.start : name.end]
            for one in found
            if one.excludes
            for name in names(one.text, typed=True)
            if name.known
        ]

    def are_missed(self, line: str, heading: str, title: str) -> bool:
        """Whether a line is for others: by its ranges, or as its work is on those left out."""
        return any(self._hold(line, heading, *one) is False for one in self._figures) or any(
            _is_on(one, f"{title}\n{line}") for one in self._excluded
        )

    def forbid(self, line: str, section: str) -> bool:
        """Whether a line says that what is asked about must not be given to whom it is asked for:
        such a line stands before any dose."""
        if not states("contraindication", line, section):
            return False
        newborn = any(measure == "age" and age <= _NEWBORN for measure, age in self._figures)
        return (newborn and _NEWBORNS in stated("age", line)) or any(
            forms(one).stand_in(line) for one in self._names
        )

    def are_met(self, line: str) -> bool:
        """Whether a line states a range that holds a figure of the question."""
        return any(self._hold(line, "", *one) for one in self._figures)

    def _hold(self, line: str, heading: str, measure: str, figure: float) -> bool | None:
        """None where neither line nor heading states a range."""
        stated = ranges(measure, line) or ranges(measure, heading)
        return any(one.first <= figure < one.last for one in stated) if stated else None


def _is_condition(name: str) -> bool:
    return not resolve(name).kinds.isdisjoint({"disease", "tumor"})


def _figure(one: Restriction) -> float | None:
    """The figure of a restriction, in years or mL/min; a bound counts as what lies right behind."""
    found = quantities(one.text)
    if not found:
        is_newborn = one.kind == "age" and _NEWBORNS in stated("age", one.text)
        return 0.0 if is_newborn else None
    figure = float(found[0].value)
    if one.kind == "age":
        unit = next((unit for unit in _YEARS if unit in one.text.lower()), one.unit or "year")
        figure *= _YEARS.get(unit, 1.0)
    return figure - 1e-6 if one.comparator == "<" else figure


@lru_cache(maxsize=4096)
def ranges(measure: str, text: str) -> Sequence[Range]:
    """The ranges of ages, in years, or of kidney function, in mL/min, that a text states."""
    return tuple(_ranges(measure, text))


def _ranges(measure: str, text: str) -> Iterator[Range]:
    for match in _READ[measure].finditer(text):
        scale = _scale(match["unit"])
        if match["first"]:
            first = float(match["first"]) * (_scale(match["unit1"]) if match["unit1"] else scale)
            yield Range(first, (float(match["last"]) + 1) * scale)
        elif match["below"]:
            yield Range(0.0, float(match["most"]) * scale + (1e-6 if _is_closed(match) else 0.0))
        else:
            yield Range(float(match["least"] or match["from"]) * scale, float("inf"))


def _is_closed(match: re.Match[str]) -> bool:
    return match["below"].lower() in {"up to", "≤"}


def _scale(unit: str | None) -> float:
    plain = (unit or "").lower().rstrip("s").replace("yr", "year")
    return _YEARS.get(plain, 1.0)


def _is_on(name: str, words: str) -> bool:
    """Whether words are on what is left out, and do not leave it out themselves."""
    if not forms(name).stand_in(words):
        return False
    at = words.lower().find(name.lower())
    return at < 0 or _LEFT_OUT.search(words[max(0, at - _NEAR) : at]) is None


ANYBODY = Restrictions()
