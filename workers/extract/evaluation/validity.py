"""Are the values clinically possible? Rules of seed marc_v1 section 3.3.1, and ours. Pure."""

import re
from collections.abc import Iterator

from workers.extract.evaluation.lab_doubts import impossible
from workers.extract.evaluation.scores import Issue
from workers.extract.fields import Attempt
from workers.extract.rubrics import any_of, vocabulary
from workers.extract.values import (
    Amount,
    Day,
    Grade,
    LabValue,
    Margin,
    Marker,
    Measurement,
    Microsatellites,
    Mutation,
    Value,
    Words,
)

LARGEST_MM = 600.0
"""No lesion or organ of a person is longer (ours)."""
MOST_BURDEN = 1000.0
"""Mutations per megabase; ultramutated tumors have some hundreds (ours)."""
_GRADES = frozenset(["1", "2", "3", "4", "X"])
_CATEGORIES = 6.0


def validity(attempt: Attempt) -> list[Issue]:
    """What cannot be so."""
    return [
        Issue(severity="major", field=field, description=problem, suggested_fix=_FIX.get(field))
        for field, result in attempt.fields.items()
        for item in result.items
        for problem in _problems(field, item.value, attempt)
    ]


_FIX = {
    "grade": "give 1, 2 or 3, or well, moderately or poorly differentiated",
    "measurements": "give each size with mm or cm",
    "msi_status": "give MSI-H, MSI-L or MSS",
    "tmb": "give a number of mutations per megabase",
}


def _problems(field: str, value: Value, attempt: Attempt) -> Iterator[str]:
    if isinstance(value, Grade):
        yield from _grade(value, attempt)
    elif isinstance(value, Marker):
        yield from _marker(value)
    elif isinstance(value, LabValue):
        yield from _lab(value)
    elif isinstance(value, Amount):
        yield from _amount(field, value)
    elif (problem := _simple(field, value)) is not None:
        yield problem


def _simple(field: str, value: Value) -> str | None:
    problem = None
    if isinstance(value, Measurement):
        if any(one <= 0 or one > LARGEST_MM for one in value.millimeters):
            problem = f'"{field}" has a size that nothing in a person has'
    elif isinstance(value, Mutation):
        if value.vaf is not None and not 0 <= value.vaf <= 100:
            problem = f"Invalid allele fraction for {value.gene}"
    elif isinstance(value, Day):
        if not "1900" <= value.iso[:4] <= "2100":
            problem = f'"{field}" is no date of a document'
    elif isinstance(value, Margin):
        if value.status not in ("positive", "negative", "close"):
            problem = "Invalid margin status"
    elif isinstance(value, Microsatellites) and value.status not in ("MSI-H", "MSI-L", "MSS"):
        problem = "Invalid MSI status"
    return problem


def _grade(value: Grade, attempt: Attempt) -> Iterator[str]:
    if value.level in _GRADES or re.fullmatch(r"[1-5]\+[1-5]=\d{1,2}|[5-9]|10", value.level):
        return
    if value.level in ("low", "high", "intermediate"):
        histology = attempt.fields.get("histology")
        items = histology.items if histology else ()
        named = " ".join(one.value.text for one in items if isinstance(one.value, Words))
        if not named or any_of(vocabulary().two_level_grades).search(named):
            return
        lowered = named.lower()
        if any(word in lowered for word in vocabulary().two_level_grades):
            return
    yield f'Invalid grade format for this histology: "{value.level}"'


def _marker(value: Marker) -> Iterator[str]:
    shares = [one for one in (value.percent, value.percent_to) if one is not None]
    if any(not 0 <= one <= 100 for one in shares):
        yield f"Invalid {value.marker} value: a share above 100 %"
    if value.result is None and not shares and value.score is None:
        yield f"Invalid {value.marker} value: neither a result nor a number"


def _lab(value: LabValue) -> Iterator[str]:
    if impossible(value):
        yield f"{value.name} is a value that no living patient has in this unit"


def _amount(field: str, value: Amount) -> Iterator[str]:
    if field == "tmb" and not 0 <= value.number <= MOST_BURDEN:
        yield "TMB is no number of mutations per megabase"
    if field == "assessment_category" and not 0 <= value.number <= _CATEGORIES:
        yield "no reporting system has such a category"
