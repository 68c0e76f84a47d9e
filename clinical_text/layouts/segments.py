"""Messages of HL7 version 2: a segment of text is a label and its value. Pure.

OBX-3 names what is observed, OBX-5 says it (HL7 version 2.5, chapter 7). Segments of numbers stay:
`workers.extract.rules.lab_tables` reads them with their units, ranges and statuses.
"""

import re

from clinical_text.layouts.sheet import Sheet

_LEAST = 3
"""Segments from which a text is a message (ours)."""
_SEGMENT = re.compile(r"(?m)^[A-Z][A-Z0-9]{2}\|")
_OBSERVED = re.compile(
    r"(?m)^OBX\|[^|\n]*+\|(?!NM\||SN\|)[^|\n]*+\|(?P<name>[^|\n]*+)\|[^|\n]*+\|(?P<value>[^|\n]*+)"
    r"(?P<rest>(?:\|[^|\n]*+){0,5}+(?:\|(?P<status>[A-Z]?)(?![A-Z]))?[^\n]*+)"
)
_NOTE = re.compile(r"(?m)^NTE\|[^|\n]*+\|[^|\n]*+\|(?P<value>[^|\n]*+)(?P<rest>[^\n]*+)")
_NO_VALUE = frozenset("DINOWX")
"""Statuses of what is deleted, pending, only ordered, wrong or not to be had (table 0085)."""


def plain_segments(text: str) -> str:
    """The message with labels in place of its segments of text; as long as before."""
    if len(_SEGMENT.findall(text)) < _LEAST or "OBX|" not in text:
        return text
    sheet, above = Sheet(text), ""
    for one in _OBSERVED.finditer(text):
        if one["status"] and one["status"] in _NO_VALUE:
            continue
        start, end = _named(one)
        name = text[start:end]
        sheet.blank(one.start(), one.start("value"))
        if name != above:
            for at in range(start, end):
                sheet.put(at, text[at])
            sheet.put(end, ":")
        _value(sheet, one)
        above = name
    for one in _NOTE.finditer(text):
        sheet.blank(one.start(), one.start("value"))
        _value(sheet, one)
    return sheet.text()


def _named(one: re.Match[str]) -> tuple[int, int]:
    """Where the words stand that name an observation: the second component, else the first."""
    start, pieces = one.start("name"), one["name"].split("^")
    if len(pieces) > 1 and pieces[1].strip():
        start += len(pieces[0]) + 1
        return start, start + len(pieces[1])
    return start, start + len(pieces[0])


def _value(sheet: Sheet, one: re.Match[str]) -> None:
    for at, sign in enumerate(one["value"], start=one.start("value")):
        if sign in "^~":
            sheet.put(at, " " if sign == "^" else "\n")
    sheet.blank(*one.span("rest"))
