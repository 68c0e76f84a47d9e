"""Was a drug given in hospital only? Then it is no medication that the patient takes now. Pure.

What stands under a heading of the stay (the course, the treatment there) was given there, where a
list says what is taken now, unless its clause speaks of going home; without a list the course is
all there is. In whatever place, a drug was given and is not taken where its clause says so by a
verb of giving and by the way or the place: "received … IV", "was given … in the ED".
"""

import re
from functools import cache
from weakref import WeakKeyDictionary

from workers.extract.parts import Parts, clause
from workers.extract.patients import patients
from workers.extract.places import first_within, last_within
from workers.extract.rubrics import alternatives, any_of, field_policies
from workers.extract.rules.texts.others import inside

_A_DOSE = re.compile(r"(?i)\d\s?(?:mg|mcg|µg|g|units?|iu)\b")
_NOT_TURNED = re.compile(r"(?i)\b(?:but|then|now|and\s++(?:is|takes|continues))\b")
"""Between a verb of giving and a drug: what follows is of another time."""
_ONCE_BY_VEIN = re.compile(
    r"(?i)[^,;\n]{0,300}?\b(?:i/?v|i\.v\.|i/?m|i\.m\.|intravenous(?:ly)?)\b[^,;\n]{0,15}?"
    r"(?:\bx\s?1\b|\bstat\b|\bonce\b(?!\s++(?:daily|weekly|monthly|an?|per|every)\b))"
)
"""A drug, with all that is said of it up to the next: one dose into a vein or a muscle."""
_BEHIND = 60
"""Characters behind a drug in which it is said how or where it was given (ours)."""
_stays: "WeakKeyDictionary[Parts, list[tuple[int, int]]]" = WeakKeyDictionary()


def in_hospital_only(parts: Parts, start: int, end: int) -> bool:
    """Whether the drug named in `[start, end)` was given during a stay and is not taken now."""
    begin, stop = clause(parts.text, start, end)
    if first_within(_home(), parts, begin, stop):
        return False
    return inside(_of_stays(parts), start) or _given_once(parts, begin, start, end, stop)


def _given_once(parts: Parts, begin: int, start: int, end: int, stop: int) -> bool:
    """Whether the clause tells that it was given, and in a way or a place of hospitals."""
    text = parts.text
    behind = text[start : min(stop, end + _BEHIND)]
    if _ONCE_BY_VEIN.match(behind):
        return True
    there = first_within(_there(), parts, begin, start) is not None
    if verb := last_within(_given(), parts, begin, start):
        if _NOT_TURNED.search(text, verb[1], start):
            return False
        return there or _there().search(behind) is not None
    if _given_behind().search(behind) is None:
        return False
    return there or _there().search(behind) is not None


def _of_stays(parts: Parts) -> list[tuple[int, int]]:
    """What stands under headings of a stay, where a list of what is taken now has a dose."""
    if parts not in _stays:
        titles = patients().medicines.stay_headings
        found = parts.stretches(
            lambda one: one.title in titles, lambda one: one.title not in titles, to_blank=False
        )
        _stays[parts] = found if found and _lists_what_is_taken(parts) else []
    return _stays[parts]


def _lists_what_is_taken(parts: Parts) -> bool:
    words = patients().medicines
    lists = (frozenset(field_policies()["medications"].labels) | words.taken_headings) - (
        words.stay_headings
    )
    stretches = parts.stretches(
        lambda one: one.title in lists, lambda one: one.title not in lists, to_blank=True
    )
    return any(_A_DOSE.search(parts.text, start, end) for start, end in stretches)


@cache
def _given() -> re.Pattern[str]:
    return any_of(patients().medicines.given)


@cache
def _given_behind() -> re.Pattern[str]:
    """Behind a drug: "… was given", "given at induction"."""
    return re.compile(r"(?i)\b(?:given|administered|infused|received|commenced|started)\b")


@cache
def _there() -> re.Pattern[str]:
    words = alternatives(patients().medicines.given_there)
    return re.compile(rf"(?i)(?<![\w/])(?:{words})(?![\w/])")


@cache
def _home() -> re.Pattern[str]:
    return any_of(patients().medicines.going_home)
