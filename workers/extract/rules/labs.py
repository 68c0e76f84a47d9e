"""Laboratory values. Pure."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from math import inf

from workers.extract.fields import Found
from workers.extract.parts import line_end
from workers.extract.rubrics import vocabulary
from workers.extract.rules.numbers import days, sure_number
from workers.extract.values import Day, LabValue

_N = (
    r"(?<!\d,)(?<!\d\.)(?:(?<!,)[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?(?![\d,])|"
    r"(?<!,)(?:0,\d{1,4}|\d+,\d{1,2})(?!\d|[.,]\d)|\d+\.\d+(?![\d.]|,\d+\b(?!\.))|(?<=,)\d+\.\d+(?![\d.])|"
    r"\d+(?![\d.]|,\d)|\d+(?=\.(?!\d))|(?<=,)\d+(?=,\d))"
)
"""A number with commas between thousands or for the decimal point; in lines that are separated by
commas neither. A number is read whole or not at all."""
UNIT = (
    r"(?:(?:x\s?|[×*·∙⋅]\s?)?10\s?[\^*]?\s?\d{1,2}\s?/\s?(?:µ|u|μ)?[lL]|10[³⁹¹²⁶]+/\S?[lL]|"
    r"[kKmM]\s?/\s?(?:µ|u|μ)L|(?:thou|mill|cells)\s?/\s?(?:µ|u|μ|c|m)?(?:L|l|mm3?)|/\s?(?:µ|"
    r"u|μ|c)?(?:mm|L|l)\b|"
    r"g/d[lL]|g/[lL]|m[gG]/d[lL]|mg/[lL]|(?:µ|u|μ|mc)g/d?[lL]|ng/m[lL]|ng/d[lL]|pg/m[lL]|"
    r"pg(?![a-z])|fL|"
    r"[munpµμ]?mol/[lL]|m[eE]q/[lL]|(?:µ|u|μ|m|k)?I?U/m?[lL]|(?:µ|u|μ)IU/mL|mm/h(?:r|our)?|"
    r"mIU/[lL]|lakhs?/(?:cumm|mm3)|/?cumm|m[lL]/min(?:/1\.73\s?m(?:2|²|\^2))?|sec(?:onds?)?\b|mmHg|%|ratio\b|mg/g)"
)
_RANGE = (
    r"[\[(]?\s*+(?:(?:ref(?:erence)?(?:\s++(?:range|interval))?|normal(?:\s++range)?|range|"
    r"N)\s*+[:=]?\s*+)?"
    rf"(?:(?P<low>{_N})\s*+(?:-|–|—|to)\s*+(?P<high>{_N})|(?P<up>[<≤]=?)\s*+(?P<upto>{_N})|"
    rf"(?P<down>[>≥]=?)\s*+(?P<from>{_N}))(?:[\s|]*+(?P<unit2>{UNIT}))?\s*+[\])]?"
)
_FLAG = (
    r"[\[(]?(?P<{0}>H{{1,2}}|L{{1,2}}|High|Low|HIGH|LOW|Normal|NORMAL|Critical|CRITICAL|N|"
    r"\*|↑|↓)[\])]?(?![A-Za-z0-9])"
)
_LINE = re.compile(
    r"(?m)^[ \t]*+(?:[-•*|][ \t]*+)?(?P<name>[A-Za-zβ][A-Za-z0-9β ,./()\-]{0,45}?)"
    r"(?:\s*+[:|=,;]\s*+|\s++)"
    rf"(?P<sign>[<>≤≥]=?)?\s*+(?P<n>{_N})(?![\d/.])"
    rf"(?P<more>(?:(?:[ \t]{{2,}}|[ \t]*\|[ \t]*){_N}(?![\d/.-])){{1,12}}(?=[ \t|]+{UNIT}))?"
    rf"\s*+(?:{_FLAG.format('f1')}\s*+)?[|\t,; ]*+\s*+"
    rf"(?P<unit>{UNIT})?\s*+(?:[|\t,; ]*+{_FLAG.format('f3')})?[|\t,; ]*+(?:{_RANGE})?"
    rf"[|\t,; ]*+(?:{_FLAG.format('f2')})?"
)
_AFTER = re.compile(
    r"(?:\s*+\([^()\n]{1,25}\))?(?:\s*+(?:level|count|concentration))?\s*+"
    r"(?:is|was|of|at|:|=|-|\||,|has\s++(?:risen|fallen)\s++to)?\s*+(?:now\s++|elevated\s++at\s++|"
    r"elevated\s++to\s++)?"
    rf"(?P<sign>[<>≤≥]=?)?\s*+(?P<n>{_N})(?!\d|\.\d|/\d|-\d)\s*+(?P<unit>{UNIT})?"
    rf"(?:[ ,;]*(?:{_RANGE}))?(?:[ ]*{_FLAG.format('f1')})?"
)
_DECIMAL = re.compile(
    r"(?<![\d.,])(?:0(?P<zero>[.,])\d+|\d+(?P<mark>[.,])(?:\d{1,2}|\d{4,}))(?![\d.,])"
)
"""A number whose point or comma can only be that of a decimal."""
_UNIT_BEHIND = re.compile(rf"[^\n\d]{{0,12}}?(?:{UNIT})")
_FLUID = re.compile(
    r"(?i)\b(?:(?P<other>(?:pleural|ascitic|peritoneal|pericardial|synovial|joint|amniotic|"
    r"cerebrospinal|drain)(?:\s++fluid)?|csf|urine(?!\s++(?:output|culture))|urinary|urinalysis|stool|sweat|"
    r"sputum)|serum|blood|plasma)\b"
)
"""What a value was measured in."""
_CONDITION = re.compile(
    r"(?i)\b(?:(?P<sure>if|unless|until|goals?|targets?|keep|maintain|aim|threshold|call|notify)|"
    r"when(?:ever)?|for|once|while)\b[^.;\n]{0,40}$"
)
"""Before a value that is only spoken of; behind the unsure words, where it is a limit."""
_BEAR_OUT = 2
"""Known analytes with numbers in one line that need no units (ours)."""
_EARLIER = re.compile(
    r"(?i)\b(?:previous(?:ly)?|prior|last|baseline|earlier|old|pre-?op(?:erative)?)\W*+$"
)
"""Before a name: its value is not of today."""
_LINE_REACH = 200
"""Characters before a value in which its fluid is named (ours)."""
_TABLE_REACH = 1500
"""Characters of a table above a value of it in which its heading stands (ours)."""
_FLAGS = {"h": "high", "hh": "high", "high": "high", "↑": "high", "l": "low", "ll": "low",
          "low": "low", "↓": "low", "n": "normal", "normal": "normal", "critical": "critical",
          "*": "abnormal"}  # fmt: skip
_NOT_A_TEST = re.compile(
    r"(?i)\b(?:page|age|date|dob|mrn|id|phone|fax|tel|room|bed|ward|accession|specimen|time|year|"
    r"sample|section|version|ref|order|patient|dr|street|road|suite|box|collected|received|"
    r"reported|"
    r"visit|day|week|step|report|case|no|number|sig|disp|dispense|refills?|tablets?|grade|stage|"
    r"take|weight|height|temp(?:erature)?|pulse|bp|blood pressure|heart rate|hr|rr|spo2|bmi)\b"
)


@cache
def _names() -> dict[str, str]:
    return {_spelled(name): lab for lab, one in vocabulary().labs.items() for name in one.names}


def _spelled(name: str) -> str:
    """In small letters and American spelling."""
    return name.lower().replace("leuco", "leuko").replace("haem", "hem")


@cache
def _known() -> re.Pattern[str]:
    names = [name for one in vocabulary().labs.values() for name in one.names]
    exact = sorted((one for one in names if len(one) <= 4), key=len, reverse=True)
    loose = sorted((one for one in names if len(one) > 4), key=len, reverse=True)
    either = "|".join(re.escape(one).replace(r"\ ", r"\s") for one in loose)
    return re.compile(
        rf"(?<![A-Za-z0-9-])(?:(?i:{either})|{'|'.join(map(re.escape, exact))})(?![A-Za-z0-9])"
    )


@cache
def measured_pattern() -> re.Pattern[str]:
    """Finds the name of an analyte with a number right behind it."""
    return re.compile(rf"{_known().pattern}[ \t:=|;,]{{1,12}}[<>]?\d")


def lab_named(words: str) -> str | None:
    """The canonical name of an analyte."""
    plain = _spelled(" ".join(words.split()).strip(" .,:;")).removeprefix("s. ")
    return _names().get(plain) or _names().get(re.sub(r"\s*+\([^)]*\)|,.*", "", plain).strip())


def cut_short(text: str, value: LabValue, end: int) -> bool:
    """Whether the value's unit stands right behind its span."""
    return value.unit is None and _UNIT_BEHIND.match(text, end) is not None


def lab_values(text: str) -> Iterator[Found]:
    """Values in lines of a table, then known analytes in sentences."""
    taken: list[int] = []
    ends: list[int] = []
    for match in _LINE.finditer(text):
        name = match["name"].strip(" ,.-(")
        known = lab_named(name)
        unit = match["unit"] or match["unit2"]
        if known is None and (not unit or _NOT_A_TEST.search(name)
                              or not (match["low"] or match["upto"] or match["from"])
                              or len(name) < 2):  # fmt: skip
            continue
        if known is not None and not unit and not match["low"] and not match["upto"]:
            continue
        if _not_the_latest(text, match):
            taken.append(match.start("name"))
            ends.append(match.end())
            continue
        end = match.start() + len(match.group().rstrip(" \t\n|,;"))
        start = match.start("name")
        taken.append(start)
        ends.append(end)
        value = _lab(known or name, match)
        if value is not None and not _elsewhere(text, match):
            yield Found(value, start, end)
    known_names = [(one, after) for one in _known().finditer(text)
                   if (after := _AFTER.match(text, one.end())) is not None]  # fmt: skip
    places = [one.start() for one, _ in known_names]
    for name_match, after in known_names:
        row = bisect_right(taken, name_match.start()) - 1
        if row >= 0 and name_match.start() < ends[row]:
            continue
        lab = lab_named(name_match.group())
        if lab is None or "-" in text[name_match.end() : name_match.end() + 1]:
            continue
        ranged = after["low"] or after["upto"]
        bare = not after["unit"] and not ranged and not vocabulary().labs[lab].unitless
        bare = bare and _alone(text, places, name_match.start())
        if bare and (len(name_match.group()) <= 2 or "\n" in after.group()):
            continue
        end = after.start() + len(after.group().rstrip(" ,;"))
        value = _lab(lab, after)
        if value is not None and not _elsewhere(text, after, name_match.start()):
            yield Found(value, name_match.start(), end, wide=bare)


def _alone(text: str, places: Sequence[int], start: int) -> bool:
    """Whether no other known analyte with a number stands in the line of one: several bear each
    other out, one without a unit may be anything."""
    line, end = text.rfind("\n", 0, start) + 1, line_end(text, start, len(text))
    return bisect_left(places, end) - bisect_left(places, line) < _BEAR_OUT


def _not_the_latest(text: str, match: re.Match[str]) -> bool:
    """Whether the first column of a row of several is not that of the latest day above it."""
    if not match.groupdict().get("more"):
        return False
    above = text[max(0, match.start() - _TABLE_REACH) : match.start()].split("\n")
    for line in reversed(above):
        told = [one.value.iso for one in days(line) if isinstance(one.value, Day)]
        if len(told) > 1:
            return max(told) != told[0]
    return False


def _elsewhere(text: str, match: re.Match[str], start: int | None = None) -> bool:
    """Whether a value is none of the blood: a limit of some order, or of another fluid."""
    start = match.start("name") if start is None else start
    before = text[max(0, start - 80) : match.start("n")]
    if _EARLIER.search(before[: min(80, start)]):
        return True
    condition = _CONDITION.search(before, 0, min(80, start))
    if condition is not None and (condition["sure"] or match["sign"]):
        return True
    begin = max(text.rfind("\n", 0, start) + 1, start - _LINE_REACH)
    clause = re.split(r"[.;]\s", text[begin : match.start("n")])[-1]
    named = [*_FLUID.finditer(clause)] or [*_FLUID.finditer(_head(text, begin))]
    return bool(named) and named[-1]["other"] is not None


def _head(text: str, begin: int) -> str:
    """The heading of a row: of the lines above it the last without a number."""
    above = text[max(0, begin - _TABLE_REACH) : begin].split("\n")[:-1]
    return next((one for one in reversed(above) if not re.search(r"\d", one)), "")


def _lab(name: str, match: re.Match[str]) -> LabValue | None:
    """The value of a row; None where its number is not sure."""
    groups = match.groupdict()
    flag = groups.get("f1") or groups.get("f3") or groups.get("f2")
    unit = match["unit"] or groups.get("unit2")
    unit = re.sub(r"\s", "", unit) if unit else None
    low, high = match["low"] or match["from"], match["high"] or match["upto"]
    row = " ".join(one for one in (match["n"], low, high) if one)
    most = _most(name, unit)
    value = _number(match["n"], row, most)
    if value is None:
        return None
    return LabValue(
        name=name,
        number=value,
        unit=unit,
        low=_number(low, row, most),
        high=_number(high, row, most),
        flag=_FLAGS.get(flag.lower()) if flag else None,
        comparator=match["sign"],
    )


def _number(words: str | None, row: str, most: float) -> float | None:
    """The number; where another of its row has the same mark before decimals, so has this."""
    if words is None:
        return None
    marks = {one["zero"] or one["mark"] for one in _DECIMAL.finditer(row)}
    return sure_number(words, 0.0 if marks & set(words) else most)


def _most(name: str, unit: str | None) -> float:
    """The most that a living patient can have of an analyte in a unit."""
    known = vocabulary().labs.get(name)
    limits = {one.lower(): limit for one, limit in known.plausible.items()} if known else {}
    return limits[unit.lower()][1] if unit and unit.lower() in limits else inf
