"""What a laboratory value is written with: number, unit, range, flag, name of the analyte. Pure."""

import re
from collections.abc import Mapping
from functools import cache
from math import inf
from typing import NamedTuple

from workers.extract.rubrics import vocabulary
from workers.extract.rules.texts.numbers import sure_number
from workers.extract.values import LabValue

Limits = tuple[str | None, str | None]

NUMBER = (
    r"(?<!\d)(?<!\d,)(?<!\d\.)(?:(?<!,)[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?(?![\d,])|"
    r"(?<!,)(?:0,\d{1,4}|\d+,\d{1,2})(?!\d|[.,]\d)|\d+\.\d+(?!\d|\.\d|,\d+\b(?!\.))|(?<=,)\d+\.\d+(?![\d.])|"
    r"\d+(?![\d.]|,\d)|\d+(?=\.(?!\d))|(?<=,)\d+(?=,\d))"
)
"""A number with commas between thousands or for the decimal point; in lines that are separated by
commas neither. A number is read whole or not at all."""
UNIT = (
    r"(?:(?:x\s?|[×*·∙⋅]\s?)?10\s?[\^*E]?\s?\d{1,2}\s?/\s?(?:µ|u|μ)?[lL]|10[³⁹¹²⁶]+/\S?[lL]|"
    r"(?:[Tt]housand|[Mm]illion)s?\s?/\s?(?:µ|u|μ|mc)?[lL]|"
    r"(?:thou|mill(?:ion)?s?|lakhs?|cells)\s?/\s?cu\.?\s?mm|"
    r"[kKmM]\s?/\s?(?:µ|u|μ)L|(?:thou|mill|cells)\s?/\s?(?:µ|u|μ|c|m)?(?:L|l|mm3?)|/\s?(?:µ|"
    r"u|μ|c)?(?:mm|L|l)\b|"
    r"(?:M?G|NG|UG){S}D?M?L\b|[MNPU]?MOL{S}L\b|MEQ{S}L\b|[MU]?IU{S}M?L\b|/?CUMM\b|"
    r"(?:gms?|Gms?|GM|gr?){S}d[lL]|gms?\s?%|g{S}[lL]|m[gG]{S}d[lL]|mg{S}[lL]|(?:µ|u|μ|mc)g{S}[dm]?[lL]|ng{S}m?[lL]|ng{S}d[lL]|pg{S}m[lL]|"
    r"pg(?![a-z])|fL|mmol{S}mol|mOsm{S}(?:kg|L)|kPa|"
    r"[munpµμ]?mol{S}[lL]|m[eE]q{S}[lL]|(?:µ|u|μ|m|k)?I?U{S}m?[lL]|(?:µ|u|μ)IU{S}mL|mm{S}h(?:r|our)?|"
    r"mIU{S}[lL]|lakhs?/(?:cumm|mm3)|/?cumm|m[lL]{S}min(?:/1\.73(?:\s?m(?:2|²|\^2))?)?|"
    r"secs?\b|seconds?\b|s(?![A-Za-z0-9/'.])|mmHg|%|ratio\b|mg{S}g)"
).replace("{S}", r" ?/ ?")
"""A unit; a space may stand around its stroke, as faxes and scans have it."""
RANGE = (
    r"[\[(]?\s{0,40}+(?:(?:ref(?:erence)?(?:\s++(?:range|interval))?|normal(?:\s++range)?|range|"
    r"N)\s*+[:=]?\s*+)?"
    rf"(?:(?P<low>{NUMBER})\s*+(?:-|–|—|to)\s*+(?P<high>{NUMBER})|"
    rf"(?P<up>[<≤](?:\s?(?i:or)\s?)?=?)\s*+(?P<upto>{NUMBER})|"
    rf"(?P<down>[>≥](?:\s?(?i:or)\s?)?=?)\s*+(?P<from>{NUMBER}))"
    rf"(?:[\s|]*+(?P<unit2>{UNIT}))?(?:\s*+[\])])?"
)
FLAG = (
    r"[\[(]?\*{{0,2}}(?P<{0}>H{{1,2}}|L{{1,2}}|High|Low|HIGH|LOW|Normal|NORMAL|Critical|CRITICAL|N|"
    r"(?<!\*)\*|↑|↓)\*{{0,2}}[\])]?(?![A-Za-z0-9])"
)
FLAGS = {"h": "high", "hh": "high", "high": "high", "↑": "high", "l": "low", "ll": "low",
         "low": "low", "↓": "low", "n": "normal", "normal": "normal", "critical": "critical",
         "up": "high", "down": "low", "*": "abnormal"}  # fmt: skip
_DECIMAL = re.compile(
    r"(?<![\d.,])(?:0(?P<zero>[.,])\d+|\d+(?P<mark>[.,])(?:\d{1,2}|\d{4,}))(?![\d.,])"
)
"""A number whose point or comma can only be that of a decimal."""
NOT_A_TEST = re.compile(
    r"(?i)\b(?:page|age|date|dob|mrn|id|phone|fax|tel|room|bed|ward|accession|specimen|time|year|"
    r"sample|section|version|ref|order|patient|dr|street|road|suite|box|collected|received|"
    r"reported|"
    r"visit|day|week|step|report|case|no|number|sig|disp|dispense|refills?|tablets?|grade|stage|"
    r"take|weight|height|temp(?:erature)?|pulse|bp|blood pressure|heart rate|hr|rr|spo2|bmi)\b"
)
_DIGIT_IN_WORD = re.compile(r"[a-z][01][a-z]")
"""A letter that a scan took for a digit."""
_FLUID_LETTER = re.compile(r"^(?:f?[sp]|b|se|pl)\s(?=[a-z])")
"""Before a name, "S-", "P-", "B-": serum, plasma, blood, in which all is measured."""
_CHARGE = re.compile(r"\d?[+-]{1,2}$")
_AROUND = re.compile(
    r"^(?:(?:tot|adjusted|adj\.?|corrected|absolute|serum|plasma|total|[sp]\.)\s)|"
    r"\s(?:calculated|calc|absolute|abs|count|level|serum|plasma|random|fasting|total|hs)$"
)
"""Words around a name that change nothing about what was measured (ours)."""
_ANOTHER = re.compile(
    r"\b(?:free|in?direct|(?:un)?conjugated|ioni[sz]ed|urine|urinary|csf|fluid|24|ratio|%|saturation)"
)
"""Words behind a name, in brackets or after a comma, with which it is another analyte."""


_THOUSANDS = re.compile(r"(?:10[e]?0?3|103|thousands?|thou|k)/(?:u|mc)?l|10e?0?9/l")
"""Units that are 10^9 in the litre."""


@cache
def _names() -> dict[str, str]:
    return {
        spelled(name): lab
        for lab, one in vocabulary().labs.items()
        for name in (*one.names, *one.rows)
    }


def spelled(name: str) -> str:
    """In small letters and American spelling, without hyphens."""
    return name.lower().replace("leuco", "leuko").replace("haem", "hem").replace("-", " ").rstrip()


def lab_named(words: str) -> str | None:
    """The canonical name of an analyte."""
    plain = spelled(" ".join(words.split()).strip(" .,:;*").removesuffix("-")).removeprefix("s. ")
    if plain not in _names() and _DIGIT_IN_WORD.search(plain):
        mended = (plain.translate({48: "o", 49: to}) for to in "il")
        plain = next((one for one in mended if one in _names()), plain)
    if plain not in _names():
        plain = _FLUID_LETTER.sub("", plain)
    if plain in _names():
        return _names()[plain]
    bare = _CHARGE.sub("", plain)
    shorter = re.sub(r"\s?\([^)]{0,200}\)|,.*", "", bare).strip()
    if shorter != bare and _ANOTHER.search(bare[len(shorter) :]):
        return None
    halves = {_names().get(one) for one in shorter.split("/")} - {None}
    if "/" in shorter and len(halves) == 1:
        return halves.pop()
    return _names().get(shorter) or _names().get(_AROUND.sub("", _AROUND.sub("", shorter)).strip())


def number_of(words: str | None, row: str, most: float) -> float | None:
    """The number; where another of its row has the same mark before decimals, so has this."""
    if words is None:
        return None
    marks = {one["zero"] or one["mark"] for one in _DECIMAL.finditer(row)}
    return sure_number(words, 0.0 if marks & set(words) else most)


class Written(NamedTuple):
    """The words of a row that make its value."""

    number: str
    sign: str | None
    unit: str | None
    limits: Limits = (None, None)
    flag: str | None = None
    negative: bool = False


def value_of(name: str, row: Written) -> LabValue | None:
    """The value that a row states; None where its number is not sure."""
    unit = re.sub(r"\s", "", row.unit) if row.unit else None
    words = " ".join(one for one in (row.number, *row.limits) if one)
    most = most_of(name, unit)
    number = number_of(row.number, words, most)
    if number is None:
        return None
    low, high = (number_of(one, words, most) for one in row.limits)
    return LabValue(
        name=name,
        number=-number if row.negative else number,
        unit=unit,
        low=low,
        high=high,
        flag=FLAGS.get(row.flag.lower()) if row.flag else None,
        comparator=row.sign,
    )


def limits_of(groups: Mapping[str, str | None]) -> Limits:
    """The ends of the range that `RANGE` found, as they are written."""
    return groups.get("low") or groups.get("from"), groups.get("high") or groups.get("upto")


def plausible_of(name: str, unit: str | None) -> tuple[float, float] | None:
    """What a living patient can have of an analyte in a unit; None where that is not known."""
    known = vocabulary().labs.get(name)
    if known is None or unit is None:
        return None
    limits = {_unit_key(one): limit for one, limit in known.plausible.items()}
    return limits.get(_unit_key(unit))


def _unit_key(unit: str) -> str:
    """A unit in one of the ways in which it is written."""
    plain = re.sub(r"[\s^*×x·∙⋅]", "", unit.lower()).replace("µ", "u").replace("μ", "u")
    plain = re.sub(r"^gms?(?=/)", "g", plain).replace("mcg/", "ug/").replace("iu/", "u/")
    return "109/l" if _THOUSANDS.fullmatch(plain) else plain


def most_of(name: str, unit: str | None) -> float:
    """The most that a living patient can have of an analyte in a unit."""
    limits = plausible_of(name, unit)
    return limits[1] if limits is not None else inf
