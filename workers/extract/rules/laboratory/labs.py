"""Laboratory values. Pure."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from workers.extract.fields import Found
from workers.extract.parts import line_end
from workers.extract.rubrics import vocabulary
from workers.extract.rules.laboratory.lab_parts import (
    FLAG,
    NOT_A_TEST,
    NUMBER,
    RANGE,
    UNIT,
    Written,
    lab_named,
    limits_of,
    value_of,
)
from workers.extract.rules.laboratory.lab_tables import joined_values, table_rows
from workers.extract.values import LabValue

_BELOW = r"[ \t]*+\n[ \t]*+{0}[ \t]*+(?=\n|$)"
"""A flag alone on the line below: else it is that of another row."""
_LINE = re.compile(
    r"(?m)^[ \t]*+(?:[-•*|>][ \t]*+)?"
    r"(?:\d{1,4}[-/.]\d{1,2}[-/.]\d{2,4}(?:[ T]\d{1,2}:\d\d(?::\d\d)?)?(?:[ ]?[ap]m)?"
    r"[ \t]*+[|,;\t][ \t]*+)?"
    r"(?:(?P<f0>HH?|LL?|\*|(?:up|down)(?=[ ]))(?:(?<=[pn])[ ]++|[ ]{2,}+|\t\s*+)|"
    r"(?P<arrow>[↑↓])[ \t]*+)?"
    r"(?P<name>[A-Za-zβ%][A-Za-z0-9β ,./()+%\-]{0,45}?)"
    r"(?:\s*+(?:\.[ \t]?){3,}+\s*+|\s*+[:|=,;]\s*+|\s++)(?:(?P<f6>\*)[ \t]++)?"
    rf"(?P<sign>[<>≤≥]=?)?\s*+(?P<minus>[-−–])?(?P<n>{NUMBER})(?![\d/.]|-[A-Za-z])"
    rf"(?P<more>(?:(?:[ \t]{{2,}}|[ \t]*\|[ \t]*){NUMBER}(?![\d/.-])){{1,12}}(?=[ \t|]+{UNIT}))?"
    rf"(?:[ \t]*+(?:[|,;][ \t]*+)?{FLAG.format('f1')}|{_BELOW.format(FLAG.format('f5'))})?"
    rf"(?:[\s|,;]*+(?P<unit>{UNIT}))?(?:[ \t]*+(?:FEU|DDU|\(calc\)))?"
    rf"(?:[|\t,; ]*+{FLAG.format('f3')})?(?:[\s|,;]*+{RANGE})?"
    rf"(?:[|\t,; ]*+{FLAG.format('f2')}|{_BELOW.format(FLAG.format('f4'))})?"
)
_AFTER = re.compile(
    r"(?:\s{0,40}+\([^()\n]{1,25}\))?(?:\s{0,40}+(?:level|count|concentration|light\s++chains?))?\s{0,40}+"
    r"(?:is|was|were|of|at|:|=|-|\||,|has\s++(?:risen|fallen)\s++to)?\s{0,40}+(?:now\s++|elevated\s++at\s++|"
    r"elevated\s++to\s++)?"
    rf"(?P<sign>[<>≤≥]=?)?\s{{0,40}}+(?P<n>{NUMBER})(?!\d|\.\d|/\d|-\d)\s*+(?P<unit>{UNIT})?"
    rf"(?:[ ,;]*(?:{RANGE}))?(?:[ ]*{FLAG.format('f1')})?"
)
_UNIT_BEHIND = re.compile(rf"[^\n\d]{{0,12}}?(?:{UNIT})")
_SALT_OF = re.compile(r"(?i)\b(?:sodium|potassium|calcium|magnesium|ammonium|zinc|lithium)\s++$")
"""Before the name of an analyte: both are one drug."""
_DOSE = re.compile(r"(?i)\s{0,40}+(?:iu|units?|mg|mcg|µg|micrograms?)(?![a-z%]|\s?[/%])")
"""Behind a number: it is a dose."""
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
_REQUIRED = re.compile(
    r"(?i)\b(?:eligib\w+|inclusion|exclusion|criteri\w+|requires?|required|must\s++(?:have|be))\b"
)
"""Before a limit: a trial asks for it, and nobody has it."""
_BEAR_OUT = 2
"""Known analytes with numbers in one line that need no units (ours)."""
_EARLIER = re.compile(
    r"(?i)\b(?:previous(?:ly)?|prior|last|baseline|earlier|old|pre-?op(?:erative)?)\W*+$"
)
"""Before a name: its value is not of today."""
_PLACES = ("f1", "f5", "f3", "f2", "f4", "f0", "f6", "arrow")
"""Where a row may have its flag: behind the number, the unit or the range, below, or before."""
_LINE_REACH = 200
"""Characters before a value in which its fluid is named (ours)."""
_TABLE_REACH = 1500
"""Characters of a table above a value of it in which its heading stands (ours)."""


@cache
def _known() -> re.Pattern[str]:
    names = [name for one in vocabulary().labs.values() for name in one.names]
    short = {one for one in names if len(one) <= 4}
    # a text in capitals has "CR" and "HGB"; its "MG" is a unit
    short |= {one.upper() for one in short if len(one) > 1} - {"MG"}
    exact = sorted(short, key=len, reverse=True)
    loose = sorted((one for one in names if len(one) > 4), key=len, reverse=True)
    either = "|".join(re.escape(one).replace(r"\ ", r"\s") for one in loose)
    return re.compile(
        rf"(?<![A-Za-z0-9-])(?:(?i:{either})|{'|'.join(map(re.escape, exact))})(?![A-Za-z0-9])"
    )


@cache
def measured_pattern() -> re.Pattern[str]:
    """Finds the name of an analyte with a number right behind it."""
    return re.compile(rf"{_known().pattern}[ \t:=|;,]{{1,12}}[<>]?\d")


def cut_short(text: str, value: LabValue, end: int) -> bool:
    """Whether the value's unit stands right behind its span."""
    return value.unit is None and _UNIT_BEHIND.match(text, end) is not None


def lab_values(text: str) -> Iterator[Found]:
    """Values in lines of a table, then known analytes in sentences."""
    return _values(text, [])


def not_of_today(text: str) -> list[tuple[int, int]]:
    """Places of values that are none of the patient's blood of today: earlier ones, limits, rows of
    tests that gave no result."""
    aside: list[tuple[int, int]] = []
    for _ in _values(text, aside):
        pass
    return sorted(aside)


def _values(text: str, aside: list[tuple[int, int]]) -> Iterator[Found]:
    explained = table_rows(text)
    rows = [(one.start, one.end) for one in explained]
    for one in explained:
        if one.found is not None:
            yield one.found
        else:
            aside.append((one.start, one.end))
    for match in _LINE.finditer(text):
        start, end = match.start("name"), match.start() + len(match.group().rstrip(" \t\n|,;"))
        name = _row_name(match)
        if name is None or _inside(rows, start):
            continue
        rows.insert(bisect_right(rows, (start, end)), (start, end))
        value = _lab(name, match)
        if value is not None and not _elsewhere(text, match):
            yield Found(value, start, end)
        else:
            aside.append((start, end))
    joined = [one for one in joined_values(text) if not _inside(rows, one.start)]
    rows = sorted({*rows, *((one.start, one.end) for one in joined)})
    yield from joined
    yield from _in_sentences(text, rows, aside)


def _row_name(match: re.Match[str]) -> str | None:
    """The name of a row's analyte; None where it is no row: an unknown name needs unit and range,
    a known one either."""
    name = " ".join(match["name"].strip(" ,.-(").split())
    known = lab_named(name)
    unit = match["unit"] or match["unit2"]
    ranged = match["low"] or match["upto"] or match["from"]
    if known is not None:
        return known if unit or ranged else None
    return name if unit and ranged and len(name) > 1 and not NOT_A_TEST.search(name) else None


def _inside(spans: Sequence[tuple[int, int]], start: int) -> bool:
    """Whether a place stands in one of some spans, which are in order."""
    at = bisect_right(spans, start, key=lambda one: one[0]) - 1
    return at >= 0 and start < spans[at][1]


def _in_sentences(
    text: str, rows: Sequence[tuple[int, int]], aside: list[tuple[int, int]]
) -> Iterator[Found]:
    known_names = [(one, after) for one in _known().finditer(text)
                   if (after := _AFTER.match(text, one.end())) is not None]  # fmt: skip
    places = [one.start() for one, _ in known_names]
    for name_match, after in known_names:
        if _inside(rows, name_match.start()):
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
        if _elsewhere(text, after, name_match.start()) or _is_a_dose(text, name_match, after):
            aside.append((name_match.start(), end))
        elif value is not None:
            yield Found(value, name_match.start(), end, wide=bare)


def _is_a_dose(text: str, name: re.Match[str], after: re.Match[str]) -> bool:
    """Whether the number is that of a drug: "vitamin D 1000 IU", "potassium chloride 40 mEq"."""
    if "/" in (after["unit"] or ""):
        return False
    before = text[max(0, name.start() - 12) : name.start()]
    return bool(
        (after["unit"] is None and _DOSE.match(text, after.end("n"))) or _SALT_OF.search(before)
    )


def _alone(text: str, places: Sequence[int], start: int) -> bool:
    """Whether no other known analyte with a number stands in the line of one: several bear each
    other out, one without a unit may be anything."""
    line, end = text.rfind("\n", 0, start) + 1, line_end(text, start, len(text))
    return bisect_left(places, end) - bisect_left(places, line) < _BEAR_OUT


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
    if match["sign"] and _REQUIRED.search(text, begin, start):
        return True
    if match["sign"] and text.count("(", begin, start) > text.count(")", begin, start):
        # "(ANC < 500)" says what a condition is
        return True
    clause = re.split(r"[.;]\s", text[begin : match.start("n")])[-1]
    named = [*_FLUID.finditer(clause)] or [*_FLUID.finditer(_head(text, begin))]
    return bool(named) and named[-1]["other"] is not None


def _head(text: str, begin: int) -> str:
    """The heading of a row: of the lines above it the last without a number."""
    first = max(0, begin - _TABLE_REACH)
    if len(text) <= _TABLE_REACH:
        above = text[first:begin].split("\n")[:-1]
        return next((one for one in reversed(above) if not _DIGIT.search(one)), "")
    lines = _without_numbers(text)
    at = bisect_right(lines, begin, key=lambda one: one[1] + 1) - 1
    if at >= 0 and lines[at][0] >= first:
        return text[slice(*lines[at])]
    stop = text.find("\n", first, begin)
    cut = text[first:stop] if stop >= 0 else ""
    return "" if _DIGIT.search(cut) else cut


@lru_cache(maxsize=4)
def _without_numbers(text: str) -> list[tuple[int, int]]:
    """The lines of a text that hold no digit."""
    return [one.span() for one in _LINE_WITHOUT.finditer(text)]


_DIGIT = re.compile(r"\d")
_LINE_WITHOUT = re.compile(r"(?m)^[^\n\d]*+$")


def _lab(name: str, match: re.Match[str]) -> LabValue | None:
    """The value of a row; None where its number is not sure."""
    groups = match.groupdict()
    known = vocabulary().labs.get(name)
    minus = bool(groups.get("minus"))
    if minus and known is None:
        # elsewhere a dash only parts the name from its number
        return None
    flag = next((groups[one] for one in _PLACES if groups.get(one)), None)
    unit = match["unit"] or groups.get("unit2")
    negative = minus and known is not None and known.signed
    row = Written(match["n"], match["sign"], unit, limits_of(groups), flag, negative)
    return value_of(name, row)
