"""Rows of which the layout says what is what: columns of several days, a column of previous
results, segments of a message, results under their ranges. Pure."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from workers.extract.fields import Found
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
from workers.extract.rules.texts.days import Orders, in_one_order, orders_of
from workers.extract.rules.texts.numbers import days
from workers.extract.values import Day, LabValue


class Row(NamedTuple):
    """Lines that a layout explains; without a value where none of today stands there."""

    start: int
    end: int
    found: Found | None


class _Cell(NamedTuple):
    start: int
    end: int
    words: str


class _Head(NamedTuple):
    """A line of headings: which cell is today's, which others hold values."""

    begin: int
    cells: Sequence[_Cell]
    wanted: int
    others: frozenset[int]


_WORDS = re.compile(r"[^\s|]++(?: [^\s|]++)*")
_BEFORE = re.compile(r"(?i)^(?:previous|prior|prev|last|historic(?:al)?)\b")
_NOW = re.compile(r"(?i)^(?:current|result|value|your|today|latest)")
_MAY_HEAD = re.compile(
    r"(?i)\d[ /.-](?:\d|[a-z]{3})[^\n]{0,40}?(?:[ \t]{2}|\t|\|)[^\n]{0,40}?\d[ /.-](?:\d|[a-z]{3})|"
    r"\b(?:prev|prior|last|historic)"
)
"""What a line of headings has: two dates apart from each other, or the word."""
_VALUE = re.compile(
    rf"(?P<sign>[<>≤≥]=?)?\s?(?P<n>{NUMBER})(?:\s?{FLAG.format('flag')})?(?:\s?(?P<unit>{UNIT}))?"
)
_ONLY_FLAG = re.compile(FLAG.format("flag"))
_UNIT = re.compile(rf"(?<![A-Za-z0-9]){UNIT}")
_RANGE = re.compile(RANGE)
_NEVER_FAR = 60
"""Lines of a table below its headings (ours)."""
_SEGMENT = re.compile(
    r"(?m)^OBX\|[^|\n]*+\|(?:NM|SN)\|(?P<id>[^|\n]*+)\|[^|\n]*+\|(?P<value>[^|\n]*+)"
    r"\|(?P<unit>[^|\n]*+)(?:\|(?P<range>[^|\n]*+))?(?:\|(?P<flag>[^|\n]*+))?"
    r"(?:\|[^|\n]*+\|[^|\n]*+\|(?P<status>[^|\n]*+))?[^\n]*+"
)
_NO_VALUE = frozenset("DINOWX")
"""Statuses of a result that is deleted, pending, not asked for, only ordered, wrong or not to be
had (HL7 version 2, table 0085): what stands there is no value."""
_DAY = r"(?:19|20)\d{6}"
_OBSERVED = re.compile(
    rf"(?m)^OBR\|(?:(?:[^|\n]*+\|){{21}}(?P<reported>{_DAY})|(?:[^|\n]*+\|){{6}}(?P<observed>{_DAY}))"
)
"""OBR-22, when results were reported, else OBR-7, when they were observed (HL7 version 2.5)."""
_NO_RESULT = re.compile(r"(?m)^(?:MSH|PID|PV1|ORC|OBR|SPM)\|[^\n]*+")
"""Segments that hold no result."""
_UNDER = re.compile(
    r"(?m)^[ \t]*+(?P<name>[A-Za-z%][A-Za-z0-9 ,./()%+-]{1,45})\n"
    r"[ \t]*+(?:normal|standard|reference|ref\.?)\s(?:range|value|interval)s?:?\s*+"
    rf"{RANGE}[^\n]{{0,20}}\n[ \t]*+"
    rf"(?P<sign>[<>≤≥]=?)?[ \t]?(?P<n>{NUMBER})(?:[ \t]++(?P<unit>{UNIT}))?"
    rf"(?:[ \t]++{FLAG.format('flag')})?[ \t]*+(?=\n|$)",
    re.IGNORECASE,
)


def table_rows(text: str) -> Sequence[Row]:
    """Every row that a layout explains, by place."""
    orders = (Row(*one.span(), None) for one in _NO_RESULT.finditer(text))
    found = [*_columns(text), *_segments(text), *_under_ranges(text), *orders]
    return sorted(found, key=lambda one: one.start)


_PAIR = re.compile(
    rf"(?<![A-Za-z/])(?P<a>[A-Za-z]{{1,12}})/(?P<b>[A-Za-z]{{1,12}})[ :=]{{0,3}}"
    rf"(?P<n>{NUMBER})\s?/\s?(?P<m>{NUMBER})(?![\d/])"
)
"""Two analytes and their values, each parted by a stroke: "H/H 11.3/35", "BUN/Cr 20/1.1"."""
_HYPHENED = re.compile(
    rf"(?<![\w-])(?P<name>[A-Z][A-Z0-9()]{{1,15}}(?:[ ][A-Z()]{{1,9}})?)-(?P<sign>[<>])?"
    rf"(?P<n>{NUMBER})(?P<flag>\*)?(?![\w.-])"
)
_IN_ONE_LINE = 3
"""Names with a hyphen and a number in one line from which they are a panel (ours)."""


def joined_values(text: str) -> Iterator[Found]:
    """Values that a hyphen joins to their names in a line of several, and pairs of them."""
    for begin, end in _lines(text):
        panel = [*_HYPHENED.finditer(text, begin, end)]
        for match in panel if len(panel) >= _IN_ONE_LINE else ():
            name = lab_named(match["name"]) or match["name"]
            row = Written(match["n"], match["sign"], None, (None, None), match["flag"])
            if (value := value_of(name, row)) is not None:
                yield Found(value, *match.span())
    for match in _PAIR.finditer(text):
        both = (match["a"], match["b"])
        names = _HEMOGLOBIN if both == ("H", "H") else tuple(lab_named(one) for one in both)
        for name, number in zip(names, (match["n"], match["m"]), strict=True):
            if None not in names and name is not None:
                value = value_of(name, Written(number, None, None))
                if value is not None:
                    yield Found(value, *match.span())


_NAMED = re.compile(
    rf"(?P<name>[^\d\s|][^\d|]{{0,30}}?)[\s:=]{{0,9}}+(?:(?:is|was|of)\s)?\s{{0,3}}+(?P<sign>[<>])?(?P<n>{NUMBER})"
)
"""An analyte and its number, and nothing else."""
_HEMOGLOBIN = ("hemoglobin", "hematocrit")


def row_readings(words: str) -> list[LabValue]:
    """What a row states without its headings: each of its numbers may be the result."""
    joined = [one.value for one in joined_values(words)]
    hyphened = _HYPHENED.fullmatch(words)
    if hyphened is not None:
        row = Written(hyphened["n"], hyphened["sign"], None, (None, None), hyphened["flag"])
        named = value_of(lab_named(hyphened["name"]) or hyphened["name"], row)
        return [named] if named is not None else []
    if joined:
        return [one for one in joined if isinstance(one, LabValue)]
    told = _NAMED.fullmatch(words)
    if told is not None and (known := lab_named(told["name"])) is not None:
        alone = value_of(known, Written(told["n"], told["sign"], None))
        return [alone] if alone is not None else []
    cells = _cells(words, 0, len(words))
    name = lab_named(cells[0].words) or cells[0].words if cells else ""
    return [
        value
        for cell in cells[1:]
        if (match := _VALUE.fullmatch(cell.words)) is not None
        and (value := _value(name, match, None, None)) is not None
    ]


def lab_of(name: str, result: str) -> LabValue | None:
    """The value of an analyte, whatever its name, that a result alone states."""
    told = _VALUE.fullmatch(result.strip())
    return _value(lab_named(name) or name, told, None, None) if told and name else None


def heading_days(text: str) -> dict[int, bool]:
    """Of each date over a column of results where it begins, and whether it is the latest."""
    return {
        cell.start: index == head.wanted
        for head in _heads(text)
        for index, cell in enumerate(head.cells)
        if index == head.wanted or index in head.others
    }


def message_days(text: str, kind: str) -> Iterator[Found]:
    """The days of a message that are of a kind: "reported", or, of what has none, "observed"."""
    for match in _OBSERVED.finditer(text):
        value = compact_day(match[kind] or "")
        if value is not None:
            yield Found(value, *match.span(kind))


def compact_day(words: str) -> Day | None:
    """A day of eight digits."""
    if re.fullmatch(r"(?:19|20)\d{6}", words) is None:
        return None
    told = [*days(f"{words[:4]}-{words[4:6]}-{words[6:]}")]
    return told[0].value if told and isinstance(told[0].value, Day) else None


def _cells(text: str, begin: int, end: int) -> Sequence[_Cell]:
    """The cells of a line: between bars, or parted by two spaces or a tab."""
    line = text[begin:end]
    if "|" not in line:
        return [_Cell(begin + m.start(), begin + m.end(), m.group()) for m in _WORDS.finditer(line)]
    found, at = [], begin
    for words in line.split("|"):
        start = at + len(words) - len(words.lstrip())
        found.append(_Cell(start, start + len(words.strip()), words.strip()))
        at += len(words) + 1
    if found and not found[0].words:
        found = found[1:]
    return found[:-1] if found and not found[-1].words else found


def _lines(text: str) -> Iterator[tuple[int, int]]:
    begin = 0
    for line in text.split("\n"):
        yield begin, begin + len(line)
        begin += len(line) + 1


def _heads(text: str) -> Iterator[_Head]:
    """Every line of headings, in order."""
    orders: Orders | None = None
    for begin, end in _lines(text):
        if not _MAY_HEAD.search(text, begin, end):
            continue
        orders = orders_of(text) if orders is None else orders
        head = _head(orders, begin, _cells(text, begin, end))
        if head is not None:
            yield head


def _head(orders: Orders, begin: int, cells: Sequence[_Cell]) -> _Head | None:
    """The headings of a line where two days stand side by side, or a previous result beside one."""
    dated = [
        (index, found)
        for index, cell in enumerate(cells)
        for found in days(cell.words[:20])
        if found.start == 0
    ]
    places = [index for index, _ in dated]
    if len(places) > 1 and places == list(range(places[0], places[0] + len(places))):
        settled = in_one_order(orders, [one for _, one in dated], [cells[i].words for i in places])
        told = [one.value.iso for one in settled if isinstance(one.value, Day)]
        wanted = places[told.index(max(told))]
        return _Head(begin, cells, wanted, frozenset(places) - {wanted})
    before = [index for index, cell in enumerate(cells) if _BEFORE.match(cell.words)]
    now = [index for index, cell in enumerate(cells) if _NOW.match(cell.words)]
    if before and len(now) == 1:
        return _Head(begin, cells, now[0], frozenset(before))
    return None


def _columns(text: str) -> Iterator[Row]:
    heads = [*_heads(text)]
    stops = [*(one.begin for one in heads[1:]), len(text)]
    for head, stop in zip(heads, stops, strict=False):
        at = text.find("\n", head.begin) + 1 or len(text)
        for _ in range(_NEVER_FAR):
            if at >= stop:
                break
            end = text.find("\n", at, stop)
            end = end if end >= 0 else stop
            cells = _cells(text, at, end)
            row = _row(head, at, cells) if len(cells) > 1 else None
            if row is not None:
                yield row
            at = end + 1


def _row(head: _Head, begin: int, cells: Sequence[_Cell]) -> Row | None:
    """A line below headings as a row; None where it is none."""
    name = cells[0].words.strip(" *>-")
    known = lab_named(name)
    column = _assigned(head, begin, cells)
    held = [
        at
        for at in range(1, len(cells))
        if column[at] in (head.wanted, *head.others) and not _of_the_row(cells[at].words)
    ]
    rest = "  ".join(cells[at].words for at in range(1, len(cells)) if at not in held)
    unit, limits = _UNIT.search(rest), _RANGE.search(rest)
    numbers = [at for at in held if _VALUE.fullmatch(cells[at].words)]
    if not numbers or (known is None and (unit is None or NOT_A_TEST.search(name))):
        return None
    start, end = cells[0].start, cells[-1].end
    today = [at for at in numbers if column[at] == head.wanted]
    if not today:
        return Row(start, end, None)
    match = _VALUE.fullmatch(cells[today[0]].words)
    assert match is not None
    flag = next((m["flag"] for at in held if column[at] == head.wanted
                 and (m := _ONLY_FLAG.fullmatch(cells[at].words))), None)  # fmt: skip
    words = unit.group() if unit else (limits["unit2"] if limits else None)
    value = _value(known or name, match, words, limits, flag)
    return Row(start, end, Found(value, start, end) if value is not None else None)


def _of_the_row(words: str) -> bool:
    """Whether a cell is a unit or a range of two ends, wherever it stands."""
    limits = _RANGE.fullmatch(words)
    return _UNIT.fullmatch(words) is not None or (limits is not None and limits["low"] is not None)


def _assigned(head: _Head, begin: int, cells: Sequence[_Cell]) -> Sequence[int]:
    """The heading that each cell of a row stands under: by order where there are as many cells as
    headings, else the nearest."""
    first = head.cells[0]
    skip = 0 if head.wanted == 0 or 0 in head.others else 1
    if skip and first.start - head.begin > cells[0].end - begin:
        skip = 0
    if len(cells) - 1 == len(head.cells) - skip:
        return [-1, *range(skip, len(head.cells))]

    def far(cell: _Cell, heading: _Cell) -> float:
        left = abs((cell.start - begin) - (heading.start - head.begin))
        right = abs((cell.end - begin) - (heading.end - head.begin))
        return min(left, right, (left + right) / 2)

    near = range(len(head.cells))
    return [-1, *(min(near, key=lambda at: far(one, head.cells[at])) for one in cells[1:])]


def _segments(text: str) -> Iterator[Row]:
    """Numeric results of HL7 version 2: OBX-3 the test, 5 the value, 6 unit, 7 range, 8 flag."""
    for match in _SEGMENT.finditer(text):
        named = [one for one in match["id"].split("^") if one]
        told = _VALUE.fullmatch(match["value"].replace("^", " ").strip())
        known = next((lab for one in named if (lab := lab_named(one)) is not None), None)
        name = known or (named[1] if len(named) > 1 else next(iter(named), ""))
        found = None
        if told is not None and name and match["status"] not in _NO_VALUE:
            unit = match["unit"].split("^")[0] or None
            limits = _RANGE.match(match["range"] or "")
            value = _value(name, told, unit, limits, match["flag"])
            found = Found(value, *match.span()) if value is not None else None
        yield Row(*match.span(), found)


def _under_ranges(text: str) -> Iterator[Row]:
    for match in _UNDER.finditer(text):
        name = match["name"].strip()
        known = lab_named(name)
        unit = match["unit"] or match["unit2"]
        if known is None and (unit is None or NOT_A_TEST.search(name)):
            continue
        value = _value(known or name, match, unit, match)
        start = match.start("name")
        yield Row(start, match.end(), Found(value, start, match.end()) if value else None)


def _value(
    name: str,
    told: re.Match[str],
    unit: str | None,
    limits: re.Match[str] | None,
    flag: str | None = None,
) -> LabValue | None:
    """A row's value; None where its number is not sure."""
    ends = limits_of(limits.groupdict()) if limits else (None, None)
    words = Written(told["n"], told["sign"], unit or told["unit"], ends, flag or told["flag"])
    return value_of(name, words)
