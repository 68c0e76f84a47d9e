"""Laboratory values and medications. Pure."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache

from workers.extract.fields import Found
from workers.extract.patients import patients
from workers.extract.rubrics import alternatives, vocabulary
from workers.extract.rules.numbers import number
from workers.extract.values import LabValue, Medication

_N = (
    r"(?<!\d,)(?<!\d\.)(?:(?<!,)[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?(?![\d,])|"
    r"(?<!,)(?:0,\d{1,4}|\d+,\d{1,2})(?!\d|[.,]\d)|\d+\.\d+(?![\d.]|,\d+\b(?!\.))|(?<=,)\d+\.\d+(?![\d.])|"
    r"\d+(?![\d.]|,\d)|\d+(?=\.(?!\d))|(?<=,)\d+(?=,\d))"
)
"""A number with commas between thousands or for the decimal point; in lines that are separated by
commas neither. A number is read whole or not at all."""
UNIT = (
    r"(?:(?:x\s?|×\s?|\*\s?)?10\s?[\^*]?\s?\d{1,2}\s?/\s?(?:µ|u|μ)?[lL]|10[³⁹¹²⁶]+/\S?[lL]|"
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
    rf"(?P<down>[>≥]=?)\s*+(?P<from>{_N}))\s*+(?P<unit2>{UNIT})?\s*+[\])]?"
)
_FLAG = (
    r"[\[(]?(?P<{0}>H{{1,2}}|L{{1,2}}|High|Low|HIGH|LOW|Normal|NORMAL|Critical|CRITICAL|N|"
    r"\*|↑|↓)[\])]?(?![A-Za-z0-9])"
)
_LINE = re.compile(
    r"(?m)^[ \t]*+(?:[-•*|][ \t]*+)?(?P<name>[A-Za-zβ][A-Za-z0-9β ,./()\-]{0,45}?)"
    r"(?:\s*+[:|=,]\s*+|\s++)"
    rf"(?P<sign>[<>≤≥]=?)?\s*+(?P<n>{_N})(?![\d/.])\s*+(?:{_FLAG.format('f1')}\s*+)?[|\t,; ]*+\s*+"
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
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_UNIT_BEHIND = re.compile(rf"[^\n\d]{{0,12}}?(?:{UNIT})")
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

_FORM = (
    r"(?:tablets?|tabs?\.?|capsules?|caps?\.?|inj(?:ection)?\.?|syrup|syp\.?|suspension|"
    r"solution|inhaler|cream|ointment|drops?)"
)
_FREQUENCY = (
    r"(?P<freq>once\s++(?:daily|a\s++day|weekly|every\s++\w+)|twice\s++(?:daily|a\s++day|weekly)|"
    r"(?:three|four)\s++times\s++(?:daily|a\s++day)|thrice\s++daily|every\s++(?:\d+(?:-\d+)?|"
    r"\w+)\s++(?:hours?|hrs?|days?|weeks?|months?)"
    r"|every\s++(?:other\s++)?(?:morning|evening|night|day)|q\s?\d+\s?h(?:rs?)?|qam|qpm|qhs|"
    r"qd|qod|od|b\.?i\.?d\.?|"
    r"t\.?i\.?d\.?|q\.?i\.?d\.?|b\.?d\.?|t\.?d\.?s\.?|hs|prn|nightly|at\s++(?:bedtime|night)|"
    r"daily|weekly|monthly|"
    r"as\s++needed|stat|[01]-[01]-[01])"
)
_ROUTE = r"(?P<route>p\.?o\.?|by\s++mouth|orally|oral|i\.?v\.?|intravenous(?:ly)?|s\.?c\.?|subq|" \
         r"subcutaneous(?:ly)?|i\.?m\.?|intramuscular(?:ly)?|" \
         r"topical(?:ly)?|sublingual(?:ly)?|inhaled|pr|rectal(?:ly)?)"  # fmt: skip
_DRUG = re.compile(
    rf"(?im)(?:^[ \t]*+(?:(?:\d{{1,2}}[.)]|[-•*|])[ \t]*+)?|(?<=[;,:])\s*+|(?<=\.)\s++|\band\s++|"
    rf"\bon\s++|\bof\s++|\bcontinue\s++|\bstart(?:ed)?\s++|\btakes?\s++|\bgive\s++|\brx:?\s++|"
    r"\b(?:stop|taking)\s++|(?:\b(?:switched|changed)|(?<=\dmg)|(?<=\d mg))\s++to\s++)"
    rf"(?:{_FORM}\s++)?"
    r"(?P<name>[A-Za-z][A-Za-z\-]{2,30}(?:[ /][A-Za-z][A-Za-z\-]{2,20}){0,2}?)"
    rf"(?:\s*+\([A-Za-z ]{{2,25}}\))?(?:\s*+[,:|]\s++|\s++)(?:{_FORM}\s++)?"
    r"(?P<dose>(?:[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?|(?:0,\d{1,4}|\d+,\d{1,2})(?!\d)|\d+(?:\.\d+)?)"
    r"(?:/\d+(?:[.,]\d+)?)?)\s*+"
    r"(?P<unit>mg/m2|mg/m²|mg/kg|mg|mcg|µg|ug|g|units?|iu|ml|mL|%)(?![A-Za-z/]|\s*+/\s*+d?l)"
    rf"(?=(?P<rest>[^\n]{{0,90}}))"
)
_NOT_A_DRUG = re.compile(
    r"(?i)^(?:approximately|about|of|and|the|with|total|dose|blood|fluid|received|given|"
    r"weight|loss|"
    r"measuring|hemoglobin|creatinine|glucose|albumin|was|is|sodium|potassium|calcium|"
    r"contrast|ebl|estimated)\b"
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
        end = match.start() + len(match.group().rstrip(" \t\n|,;"))
        start = match.start("name")
        taken.append(start)
        ends.append(end)
        yield Found(_lab(known or name, match), start, end)
    for name_match in _known().finditer(text):
        row = bisect_right(taken, name_match.start()) - 1
        if row >= 0 and name_match.start() < ends[row]:
            continue
        after = _AFTER.match(text, name_match.end())
        lab = lab_named(name_match.group())
        if after is None or lab is None or "-" in text[name_match.end() : name_match.end() + 1]:
            continue
        ranged = after["low"] or after["upto"]
        bare = not after["unit"] and not ranged
        if bare and (len(name_match.group()) <= 2 or "\n" in after.group()):
            continue
        end = after.start() + len(after.group().rstrip(" ,;"))
        yield Found(_lab(lab, after), name_match.start(), end, wide=bare)


def _lab(name: str, match: re.Match[str]) -> LabValue:
    groups = match.groupdict()
    flag = groups.get("f1") or groups.get("f3") or groups.get("f2")
    unit = match["unit"] or groups.get("unit2")
    return LabValue(
        name=name,
        number=_plain(match["n"]),
        unit=re.sub(r"\s", "", unit) if unit else None,
        low=_plain(match["low"] or match["from"]),
        high=_plain(match["high"] or match["upto"]),
        flag=_FLAGS.get(flag.lower()) if flag else None,
        comparator=match["sign"],
    )


def _plain(words: str | None) -> float | None:
    """The number; a comma before each three digits parts thousands, another is a decimal point."""
    if words is None:
        return None
    return number(words.replace(",", "") if _THOUSANDS.fullmatch(words) else words)


@cache
def _ahead() -> re.Pattern[str]:
    """A word in front of a drug that is no part of its name."""
    policy = patients()
    words = alternatives(policy.medicines.before_the_name + policy.relatives.every)
    return re.compile(rf"(?i)^(?:{_FORM}|{words})\s++")


@cache
def _verb() -> re.Pattern[str]:
    """A verb of taking or telling, with all before it ("father took")."""
    words = patients()
    told = (*words.medicines.taken, *words.medicines.refused, *words.companions)
    return re.compile(
        rf"(?i)^.*?\b(?:{alternatives(tuple(one for one in told if ' ' not in one))})\s++"
    )


def _drug(name: str) -> str:
    """The drug without verbs, forms and relatives in front of it."""
    while match := _ahead().match(name) or _verb().match(name):
        name = name[match.end() :]
    return name.strip()


def medications(text: str) -> Iterator[Found]:
    """Drugs with a dose, and route and frequency where they stand in the same line."""
    for match in _DRUG.finditer(text):
        name = _drug(match["name"])
        if _NOT_A_DRUG.match(name) or lab_named(name):
            continue
        rest = re.split(r"[;\n]|\.\s++[A-Z]|,\s*+(?=[A-Za-z]+\s++\d)|\band\s++(?=[A-Za-z]+\s++\d)",
                        match["rest"])[0]  # fmt: skip
        frequency = re.search(rf"(?i)(?<![A-Za-z]){_FREQUENCY}(?![A-Za-z])", rest)
        route = re.search(rf"(?i)(?<![A-Za-z]){_ROUTE}(?![A-Za-z])", rest)
        ends = [one.end() for one in (frequency, route) if one is not None]
        value = Medication(
            name=name,
            dose=_plain(match["dose"].split("/")[0]),
            unit=match["unit"].lower(),
            route=route["route"].lower().replace(".", "") if route else None,
            frequency=" ".join(frequency["freq"].lower().split()) if frequency else None,
        )
        start = match.start("name") + match["name"].find(name)
        yield Found(value, start, match.start("rest") + (max(ends) if ends else 0))
