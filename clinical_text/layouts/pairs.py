"""Assignments and lists of records, as settings of programs are written: TOML, INI, YAML. Pure.

`key = "value"` is a label and its value. Groups of one name, and entries of a list that each have
the same keys, are records: one stands in one line, so that what one of its keys says (that it was
stopped) is said of all of it. A group of one key is named by its group.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from clinical_text.layouts.sheet import Sheet, lines

_PAIR = re.compile(
    r"(?P<entry>[ \t]{0,40}(?:-[ \t]+)?)(?P<open>['\"]?)"
    r"(?P<key>[A-Za-z](?:[\w.-]|\[\d{1,3}\]){0,80})(?P=open)"
    r"(?P<mark>[ \t]*(?::=|=>|=|:(?=\s|$))[ \t]*)(?P<value>[^\n]*)$",
    re.MULTILINE,
)
_GROUP = re.compile(
    r"[ \t]{0,20}\[{1,2}(?P<name>[A-Za-z][\w .:-]{0,50}?)\]{1,2}[ \t]*$", re.MULTILINE
)
_COUNTED = re.compile(r"[._:\s-]?\d{1,4}$")
_LEAST, _SHARE = 3, 0.6
"""Pairs from which a text is made of them, and their share of its lines (ours)."""


class _Line(NamedTuple):
    """A line: a pair, the head of a group, or neither."""

    start: int
    end: int
    pair: re.Match[str] | None
    group: str | None


def plain_pairs(text: str) -> str:
    """The text with labels in place of its assignments; as long as before."""
    every = [_line(text, *one) for one in lines(text)]
    shown = [one for one in every if text[one.start : one.end].strip()]
    pairs = [one for one in shown if one.pair is not None]
    assigned = [one for one in pairs if one.pair is not None and one.pair["mark"].strip() != ":"]
    grouped = sum(one.group is not None or text[one.start] in "#;" for one in shown)
    if len(pairs) < _LEAST or len(pairs) + grouped < _SHARE * len(shown):
        return text
    listed = [one for one in pairs if one.pair is not None and "-" in one.pair["entry"]]
    if len(assigned) < _LEAST and len(listed) < 2 and not any(map(_is_path, pairs)):
        return text
    sheet = Sheet(text)
    for one in shown:
        if one.pair is not None:
            _write(sheet, one.pair)
    for record in (*_groups(text, sheet, shown), *_entries(shown), *_paths(shown)):
        _join(sheet, record)
    return sheet.text()


def _line(text: str, start: int, end: int) -> _Line:
    group = _GROUP.match(text, start, end)
    pair = None if group is not None else _PAIR.match(text, start, end)
    return _Line(start, end, pair, None if group is None else group["name"])


def _write(sheet: Sheet, one: re.Match[str]) -> None:
    """A pair as a label and its value."""
    for at, sign in enumerate(one["key"], start=one.start("key")):
        if sign in "[]" or (sign.isdigit() and one["key"][at - one.start("key") - 1] == "["):
            sheet.put(at, "_")
        elif sign == "_":
            sheet.put(at, " ")
    if one["open"]:
        sheet.blank(one.start("open"), one.end("open"))
        sheet.blank(one.end("key"), one.end("key") + 1)
    mark, lead = one["mark"], len(one["mark"]) - len(one["mark"].lstrip())
    sheet.blank(*one.span("mark"))
    sheet.put(one.start("mark") + (lead if mark.strip() == ":" else 0), ":")
    value = one["value"].rstrip().rstrip(",;")
    begin = one.start("value")
    if len(value) > 1 and value[0] in "\"'" and value[-1] == value[0]:
        sheet.blank(begin, begin + 1)
        sheet.blank(begin + len(value) - 1, one.end("value"))


def _groups(text: str, sheet: Sheet, shown: Sequence[_Line]) -> Iterator[list[_Line]]:
    """The pairs of each group whose name comes again; heads of groups give way."""
    names = Counter(_COUNTED.sub("", one.group) for one in shown if one.group is not None)
    for at, one in enumerate(shown):
        if one.group is None:
            continue
        stop = next(
            (n for n in range(at + 1, len(shown)) if shown[n].group is not None), len(shown)
        )
        inside = [line for line in shown[at + 1 : stop] if line.pair is not None]
        sheet.blank(one.start, one.end)
        if names[_COUNTED.sub("", one.group)] > 1:
            yield inside
        elif len(inside) == 1:
            _name(text, sheet, one, inside[0])
        elif inside:
            _head(text, sheet, one)


def _name(text: str, sheet: Sheet, head: _Line, only: _Line) -> None:
    """Let a group name its only pair."""
    assert only.pair is not None
    _head(text, sheet, head)
    sheet.put(head.end, " ")
    sheet.blank(only.start, only.pair.start("value"))


def _head(text: str, sheet: Sheet, head: _Line) -> None:
    """A group's head as a label of its own line."""
    begin = text.index("[", head.start)
    for at in range(begin, head.end):
        if text[at] not in "[]":
            sheet.put(at, " " if text[at] in "_." else text[at])
    sheet.put(text.index("]", begin), ":")


def _entries(shown: Sequence[_Line]) -> Iterator[list[_Line]]:
    """The pairs of each entry of a list that has several keys."""
    for at, one in enumerate(shown):
        if one.pair is None or "-" not in one.pair["entry"]:
            continue
        record, depth = [one], len(one.pair["entry"])
        for number in range(at + 1, len(shown)):
            other = shown[number]
            if (
                other.pair is None
                or len(other.pair["entry"]) != depth
                or "-" in other.pair["entry"]
            ):
                break
            record.append(other)
        if len(record) > 1:
            yield record


def _is_path(one: _Line) -> bool:
    return one.pair is not None and "[" in one.pair["key"]


def _paths(shown: Sequence[_Line]) -> Iterator[list[_Line]]:
    """The pairs of each member of a list: "order[1].drug", "order[1].status"."""
    held: list[_Line] = []
    before = ""
    for one in shown:
        path = one.pair["key"].rpartition("]")[0] if one.pair is not None else ""
        if held and path != before:
            yield held
            held = []
        before = path
        held += [one] if path else []
    if held:
        yield held


def _join(sheet: Sheet, record: Sequence[_Line]) -> None:
    """The pairs of a record in one line, a semicolon right before each key but the first."""
    for one in record[1:]:
        assert one.pair is not None
        sheet.put(one.start - 1, " ")
        before = one.pair.start("open") - 1
        sheet.put(before, ";")
