"""A patient's age, sex and measured values, as a question states them. Pure."""

import re

from knowledge.subjects.labs import age_group, readings
from workers.retrieve.understanding.model import Patient, Sex

_UNIT = r"(?P<unit>years?|yrs?|months?|mos?|weeks?|days?)"
_AGES = (
    re.compile(rf"(?<![\w.])(?P<age>\d{{1,3}})[\s-]*{_UNIT}[\s-]*old\b", re.IGNORECASE),
    re.compile(r"(?<![\w.])(?P<age>\d{1,3})\s*(?P<unit>y)/?o\b", re.IGNORECASE),
    re.compile(r"(?<![\w.])(?P<age>\d{2,3})(?P<unit>)[MF]\b"),
    # "aged 65 or older" is a population, no patient.
    re.compile(
        rf"\bage[ds]?(?:\s+of|:)?\s+(?P<age>\d{{1,3}})\b(?:\s*{_UNIT}\b)?"
        r"(?!\s*[-–+]\s*\d|\+|\s*(?:years?\s*)?(?:or|and|to)\s+(?:\d|older|over|above|younger|under))",
        re.IGNORECASE,
    ),
)
_IN_A_YEAR = {"m": 12.0, "w": 365.25 / 7, "d": 365.25}
_OLDEST = 120
_NOUNS = re.compile(
    r"\b(?:(?P<female>woman|female|girl|lady|\d{2,3}F)|(?P<male>man|male|boy|gentleman|\d{2,3}M))\b"
)
_PRONOUNS = re.compile(r"\b(?:(?P<female>she|hers?)|(?P<male>he|him|his))\b", re.IGNORECASE)


def read_patient(text: str) -> Patient:
    """The age in years, its MeSH group, the sex and the values of the patient in `text`.

    What is stated first counts. A population ("aged 65 or older", "women") is no patient.
    """
    found = _age(text)
    years = found[1] if found else None
    return Patient(
        age_years=years,
        age_group=None if years is None else age_group(years),
        sex=_sex(text),
        values=tuple(readings(text)),
    )


def age_at(text: str) -> tuple[int, int] | None:
    """Where the patient's age stands, in code points."""
    found = _age(text)
    return found[0].span() if found else None


def _age(text: str) -> tuple[re.Match[str], float] | None:
    found = (match for pattern in _AGES for match in pattern.finditer(text))
    for match in sorted(found, key=lambda match: match.start()):
        years = float(match["age"]) / _IN_A_YEAR.get((match["unit"] or "y")[0].lower(), 1.0)
        if years <= _OLDEST:
            return match, round(years, 2)
    return None


def _sex(text: str) -> Sex | None:
    if noun := _NOUNS.search(text):
        return _of(noun)
    pronouns = {_of(match) for match in _PRONOUNS.finditer(text)}
    return pronouns.pop() if len(pronouns) == 1 else None


def _of(match: re.Match[str]) -> Sex:
    return "female" if match["female"] else "male"
