"""What programs write around names and values, read as a person's labels: JSON and XML. Pure.

`"lab": "Hill Laboratory", "issued": "2025-02-27"` says what `lab: Hill Laboratory` does. Marks give
way to spaces and a tag to its name with a colon, each in its place: spans hold in the text.
Elements and objects of one kind that come again are records: one stands in one line, and where one
of their parts names what another says ("title" and "text"), that name is the label.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from clinical_text.layouts.columns import columns_of, measured
from clinical_text.layouts.sheet import Sheet

_LEAST = 3
"""Names from which a text is written so (ours)."""
_KEY = re.compile(r'"[A-Za-z_][^"\\\n]{0,60}"[ ]?:')
_TOKEN = re.compile(r'"(?P<words>(?:[^"\\\n]|\\.)*)"(?P<key>[ \t]*:)?|[{}\[\],]|[^\s"{}\[\],:]+')
_TAG = re.compile(
    r"<(?P<end>[/?!]?)(?P<name>[A-Za-z][\w:.-]{0,40})(?P<more>(?:\s[^<>]{0,600})?/?)>"
)
_ATTRIBUTE = re.compile(
    r"(?<![\w:.-])(?P<key>[A-Za-z][\w:.-]*+)(?P<mark>\s*+=\s*+)(?P<quote>[\"'])"
    r"(?P<value>[^\"'<>]*+)(?P=quote)"
)
_SHORTEST = 3
"""Letters of a tag's name that says what it holds: shorter ones are those of pages (ours)."""
_LONGEST_RECORD = 2000
"""Characters of a record (ours)."""
_FLAG = re.compile(r"[A-Za-z][A-Za-z -]{2,30}")
"""A value of words."""


class _Part(NamedTuple):
    """A key with its value, or an element with its words: the places of its marks and its words."""

    name: str
    start: int
    """Where the key or tag begins."""
    colon: int
    """Where the label ends."""
    begin: int
    end: int
    """Where the words begin and end."""


class _Record(NamedTuple):
    """Parts that stand together, none of which holds others."""

    kind: str
    start: int
    end: int
    parts: Sequence[_Part]


def plain_markup(text: str) -> str:
    """The text with labels in place of keys and tags; as long as before."""
    first = text.lstrip()[:1]
    if first and first in "{[" and _many(_KEY, text):
        return _json(text)
    if first == "<" and sum(1 for one in _TAG.finditer(text) if not one["end"]) >= _LEAST:
        return _xml(text)
    return text


def _many(pattern: re.Pattern[str], text: str) -> bool:
    return sum(1 for _, _ in zip(range(_LEAST), pattern.finditer(text), strict=False)) == _LEAST


class _Open:
    """An object or a list that is open."""

    def __init__(self, at: int, sign: str, *, in_list: bool, key: _Part | None) -> None:
        """It begins at `at`; `key` is the one that it is the value of."""
        self.at, self.sign, self.in_list, self.key = at, sign, in_list, key
        self.flat = True
        self.keys = 0
        self.parts: list[_Part] = []


def _json(text: str) -> str:
    sheet, held, records = Sheet(text), [_Open(0, "[", in_list=False, key=None)], list[_Record]()
    key: _Part | None = None
    for one in _TOKEN.finditer(text):
        sign, at, inner = one.group(), one.start(), held[-1]
        if one["key"] is not None:
            key = _Part(one["words"], at, one.end() - 1, one.end(), one.end())
            inner.keys += 1
            sheet.blank(at, at + 1)
            sheet.blank(one.end("words"), one.end("words") + 1)
            _new_line(sheet, text, at, inner)
        elif sign in "{[":
            inner.flat = inner.flat and sign == "["
            held.append(_Open(at, sign, in_list=inner.sign == "[", key=key))
            sheet.blank(at, at + 1)
            key = None
        elif sign in "}]":
            sheet.blank(at, at + 1)
            if len(held) > 1:
                _close(sheet, held.pop(), at, records)
            key = None
        elif sign == ",":
            sheet.blank(at, at + 1)
            key = None
        else:
            quoted = one["words"] is not None
            begin, end = (at + 1, one.end() - 1) if quoted else one.span()
            if quoted:
                sheet.blank(at, begin)
                sheet.blank(end, end + 1)
            if key is not None:
                inner.parts.append(key._replace(begin=begin, end=end))
    _write_records(sheet, text, records)
    return sheet.text()


def _new_line(sheet: Sheet, text: str, at: int, inner: _Open) -> None:
    """Begin a line for a key that does not, in the place of the mark before it."""
    before = at - 1
    while before > 0 and text[before] in " \t":
        before -= 1
    if text[before : before + 1] in ",{" and inner.sign == "{":
        sheet.put(before, "\n")


def _close(sheet: Sheet, last: _Open, at: int, records: list[_Record]) -> None:
    if last.sign != "{" or not last.flat:
        return
    if last.in_list and last.parts:
        kind = " ".join(one.name for one in last.parts[:1])
        records.append(_Record(kind, last.at, at, last.parts))
    elif last.key is not None and len(last.parts) == last.keys == 1:
        # the only key of an object is named by the object's own
        only = last.parts[0]
        sheet.blank(last.key.colon + 1, only.begin)
        for place in range(last.key.colon + 1, only.begin):
            sheet.put(place, " ")


def _xml(text: str) -> str:
    sheet, tags = Sheet(text), [*_TAG.finditer(text)]
    names = Counter(one["name"] for one in tags if not one["end"])
    for one in tags:
        said = bool(text[one.end() : one.end() + 200].split("<")[0].strip())
        if one["end"] or len(one["name"]) < _SHORTEST:
            sheet.blank(*one.span())
        elif said:
            _label(sheet, one, named=names[one["name"]] >= _LEAST)
        else:
            _attributes(sheet, one)
    alone = [one for one in tags if not one["end"] and one["more"].endswith("/")]
    _write_records(sheet, text, [*_elements(text, tags), *map(_of_attributes, alone)])
    return sheet.text()


def _label(sheet: Sheet, one: re.Match[str], *, named: bool) -> None:
    """A tag before words: its name and a colon; words of an attribute beside it, or, where many
    tags are named so, in its place."""
    start, end = one.span()
    sheet.blank(start, end)
    sheet.put(start, "\n")
    words = [a for a in _ATTRIBUTE.finditer(one["more"]) if _FLAG.fullmatch(a["value"])]
    shift = one.start("more")
    spans = [(shift + a.start("value"), shift + a.end("value")) for a in words[:1]]
    if not (spans and named):
        sheet.keep(*one.span("name"))
    for begin, stop in spans:
        sheet.keep(begin, stop)
        if not named:
            sheet.put(begin - 1, "(")
            sheet.put(stop, ")")
    sheet.put(end - 1, ":")


def _attributes(sheet: Sheet, one: re.Match[str]) -> None:
    """A tag before other tags, or alone: its name and each of its attributes as a label."""
    shift = one.start("more")
    sheet.blank(*one.span())
    kept = [a for a in _ATTRIBUTE.finditer(one["more"])
            if not a["key"].lower().startswith("xmlns") and "://" not in a["value"]]  # fmt: skip
    if kept:
        sheet.keep(*one.span("name"))
        if one.end("name") + 1 == shift + kept[0].start("key"):
            # "Patient.allergy": a path of names
            sheet.put(one.end("name"), ".")
    for a in kept:
        sheet.keep(shift + a.start("key"), shift + a.end("key"))
        sheet.keep(shift + a.start("value"), shift + a.end("value"))
        sheet.put(shift + a.start("mark"), ":")


def _of_attributes(one: re.Match[str]) -> _Record:
    """An element that holds nothing but attributes."""
    shift = one.start("more")
    parts = [
        _Part(a["key"], shift + a.start("key"), shift + a.end("mark"), shift + a.start("value"),
              shift + a.end("value"))
        for a in _ATTRIBUTE.finditer(one["more"])
    ]  # fmt: skip
    keys = " ".join(part.name for part in parts)
    return _Record(f"{one['name']} {keys}", one.start(), one.end(), parts)


def _elements(text: str, tags: Sequence[re.Match[str]]) -> Iterator[_Record]:
    """Elements with others inside that hold nothing but words."""
    held: list[tuple[re.Match[str], list[_Part], bool]] = []
    for one in tags:
        if one["end"] == "/":
            while held and held[-1][0]["name"] != one["name"]:
                held.pop()
            if not held:
                continue
            opened, parts, deep = held.pop()
            if parts and not deep:
                yield _Record(one["name"], opened.start(), one.end(), parts)
            if held and (parts or deep):
                held[-1] = (held[-1][0], held[-1][1], True)
            elif held and text[opened.end() : one.start()].strip():
                held[-1][1].append(
                    _Part(
                        opened["name"], opened.start(), opened.end() - 1, opened.end(), one.start()
                    )
                )
        elif not one["end"] and not one["more"].endswith("/"):
            held.append((one, [], False))


def _write_records(sheet: Sheet, text: str, records: Sequence[_Record]) -> None:
    """Records of one kind: each in a line; a name and what is said of it as a label."""
    by_kind: dict[tuple[str, int], list[_Record]] = {}
    for one in records:
        if not one.parts:
            continue
        by_kind.setdefault((one.kind, len(one.parts)), []).append(one)
    for (_, count), every in by_kind.items():
        words = [[text[part.begin : part.end].strip() for part in one.parts] for one in every]
        pair = columns_of(words).pair if len(every) >= _LEAST and count > 1 else None
        results = len(every) > 1 and measured(words)
        for one in every:
            if pair is not None:
                _write_pair(sheet, text, one, *pair)
            elif results:
                _write_row(sheet, one)
            elif len(every) > 1 and one.end - one.start <= _LONGEST_RECORD:
                _one_line(sheet, text, one.start, one.end)


def _write_pair(sheet: Sheet, text: str, record: _Record, named: int, said: int) -> None:
    """The label that a record's name is, before what it says."""
    for at, one in enumerate(record.parts):
        if at not in (named, said):
            sheet.blank(one.start, one.end)
    name, value = record.parts[named], record.parts[said]
    for begin, end in ((record.start, name.begin), (name.end, value.begin)):
        for at in range(begin, end):
            sheet.put(at, " ")
    words = text[name.begin : name.end].rstrip()
    sheet.put(record.start, "\n")
    sheet.put(name.begin + len(words), ":")


def _write_row(sheet: Sheet, record: _Record) -> None:
    """A result as a row of a table: its values between bars."""
    at = record.start
    for one in record.parts:
        sheet.blank(at, one.begin)
        for place in range(at, one.begin):
            sheet.put(place, " ")
        sheet.put(one.begin - 1, "|" if at > record.start else " ")
        at = one.end
    for place in range(at, record.end):
        sheet.put(place, " ")
    sheet.put(record.start, "\n")


def _one_line(sheet: Sheet, text: str, start: int, end: int) -> None:
    """What stands between two places, in a line of its own."""
    for at in range(start, end):
        if text[at] == "\n" or sheet.sign(at) == "\n":
            sheet.put(at, " ")
    sheet.put(start, "\n")
