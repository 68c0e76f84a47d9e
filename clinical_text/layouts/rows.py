"""Rows of an export below their head: parted by pipes, tabs, semicolons, commas, or by place. Pure.

Where one column names what another says (a section and its text, a field and its value), each row
is a label and its value, and a name that comes again goes on. Other tables keep their cells between
bars. What each row repeats of the document (its place, its day) stands once, in lines of its own,
named by its head; what only counts the rows gives way, as does a letter that says the kind of each
row. Columns are told by what stands in them, and not by their names.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from clinical_text.layouts.columns import (
    LONGEST_NAME,
    MOST_WORDS,
    Columns,
    columns_of,
    is_day,
    tells,
)
from clinical_text.layouts.sheet import Named, Sheet, lines

_MARKS = "|\t;,~"
_QUOTED = re.compile(r'"(?:[^"\n]|"")*"')
_LEAST_ROWS, _LEAST_PAIRS, _LEAST_PLACES, _LEAST_WIDE = 2, 4, 3, 5
"""Rows below a head; of two columns; columns that are told by their places; columns above one row
(ours)."""
_PAIR = 2
_MOST_OF_ALL = 0.7
"""The share of a document's lines that rows of two cells are (ours)."""
_NO_NAME = re.compile(r"[:;.](?:\s|$)|\d\s?(?:mg|mm|cm)\b")
_AROUND = ' "\t'
_IN_NAMES = {"[": "(", "]": ")", "_": " "}
_GAP = re.compile(r"(?:^|(?<=[ ]{2}))\S+(?:[ ]\S+)*")
_KIND = re.compile(r"[A-Z]{1,2}\d?(?P<mark>[~^|;])(?=[^\n]*(?P=mark)[^\n]*(?P=mark))")
_LEAST_OF_KIND = 3
"""Rows of one kind from which letters before rows are their kinds (ours)."""


class _Cell(NamedTuple):
    """The place of a cell, and the words in it."""

    start: int
    end: int
    words: str
    at: int
    """Where the words begin."""


class _Block(NamedTuple):
    """A head and its rows, each with as many cells."""

    head: Sequence[_Cell]
    rows: Sequence[Sequence[_Cell]]
    mark: str


def plain_rows(text: str) -> tuple[str, Sequence[Named]]:
    """The text with labels in place of the rows of its exports, as long as before; and what the
    heads of columns name."""
    text = _without_kinds(text)
    every = [*lines(text)]
    sheet, at, marks, tried = Sheet(text), 0, set[str](), dict[str, int]()
    shown = sum(bool(text[start:end].strip()) for start, end in every)
    apart: list[tuple[int, int]] = []
    while at < len(every):
        block = _block(text, every, at, shown, tried)
        if block is not None:
            _write(sheet, text, block)
            marks.add(block.mark)
            at += len(block.rows)
        else:
            apart.append(every[at])
        at += 1
    for start, end in apart:
        _write_apart(sheet, text, start, end, marks)
    return sheet.text(), sheet.named


def _write_apart(sheet: Sheet, text: str, start: int, end: int, marks: set[str]) -> None:
    """A line of two cells beside the rows of an export: what it names of the document."""
    for mark in marks & set("|;,"):
        cells = _cells(text, start, end, mark)
        if len(cells) > _PAIR and cells[0].words and not any(one.words for one in cells[1:]):
            sheet.blank(cells[0].end, end)
        close = not text[start : cells[0].end].endswith(" ")
        if len(cells) == 2 and close and _is_head(cells[:1]) and cells[1].words:
            _tidy(sheet, text, cells[1], "")
            _write_pair(sheet, text, cells, (0, 1), "", kept=False)


def _without_kinds(text: str) -> str:
    """Rows that begin with a letter of their kind without it, their cells between bars; those of a
    kind of their own in lines."""
    every = [(start, end, one) for start, end in lines(text)
             if (one := _KIND.match(text, start, end)) is not None]  # fmt: skip
    kinds = Counter(one.group() for _, _, one in every)
    if max(kinds.values(), default=0) < _LEAST_OF_KIND:
        return text
    sheet = Sheet(text)
    for start, end, one in every:
        sheet.blank(start, one.end())
        alone = kinds[one.group()] == 1 and one.start() == every[0][0]
        for at in range(one.end(), end):
            if text[at] == one["mark"]:
                sheet.put(at, "\n" if alone else "|")
    return sheet.text()


def _block(
    text: str, every: Sequence[tuple[int, int]], at: int, shown: int, tried: dict[str, int]
) -> _Block | None:
    """The head that stands in a line, and the rows below it.

    Args:
        shown: the lines that show something.
        tried: up to which line rows of two cells are known to be too few, by their mark.
    """
    start, end = every[at]
    if not text[start:end].strip():
        return None
    for mark in _MARKS:
        head = _cells(text, start, end, mark)
        if len(head) < 2 or not _is_head(head):
            continue
        if len(head) == _PAIR and at < tried.get(mark, 0):
            continue
        rows = [*_rows(text, _behind(every, at), mark, len(head))]
        if len(head) == _PAIR and len(rows) < max(_LEAST_PAIRS, _MOST_OF_ALL * shown):
            tried[mark] = at + len(rows)
            continue
        if len(rows) >= (_LEAST_PAIRS if len(head) == _PAIR else _LEAST_ROWS):
            return _Block(head, rows, mark)
        wide = len(rows) == 1 and len(head) >= _LEAST_WIDE and f"{mark} " not in text[start:end]
        if wide and mark in "|\t;,":
            return _Block(head, rows, mark)
    return _placed(text, every, at)


def _behind(every: Sequence[tuple[int, int]], at: int) -> Iterator[tuple[int, int]]:
    return (every[number] for number in range(at + 1, len(every)))


def _rows(
    text: str, every: Iterable[tuple[int, int]], mark: str, most: int
) -> Iterator[list[_Cell]]:
    for begin, stop in every:
        row = _cells(text, begin, stop, mark, most)
        if len(row) != most or (most == _PAIR and _parted(text, mark, row[1].start, stop) >= 0):
            return
        yield row


def _cells(text: str, start: int, end: int, mark: str, most: int = 0) -> list[_Cell]:
    """The cells of a line; what is more than `most` belongs to the last."""
    found: list[_Cell] = []
    at = start
    while at <= end:
        quoted = _QUOTED.match(text, at, end)
        stop = _parted(text, mark, quoted.end() if quoted else at, end)
        if stop < 0 or (most and len(found) == most - 1 and not quoted):
            stop = end
        found.append(_cell(text, at, stop))
        at = stop + 1
    return found


def _parted(text: str, mark: str, at: int, end: int) -> int:
    """Where the next mark parts cells: a comma before a space parts words."""
    stop = text.find(mark, at, end)
    while mark == "," and stop >= 0 and text[stop + 1 : stop + 2] == " ":
        stop = text.find(mark, stop + 1, end)
    return stop


def _cell(text: str, start: int, end: int) -> _Cell:
    words = text[start:end].strip(_AROUND)
    return _Cell(start, end, words, text.index(words, start) if words else start)


def _placed(text: str, every: Sequence[tuple[int, int]], at: int) -> _Block | None:
    """Rows whose cells begin in the places where those of their head do."""
    start, end = every[at]
    places = [one.start() for one in _GAP.finditer(text[start:end])]
    if len(places) < _LEAST_PLACES or places[0] > 0:
        return None
    bounds = [start + one for one in places]
    head = [_cell(text, a, b) for a, b in zip(bounds, [*bounds[1:], end], strict=True)]
    if not _is_head(head):
        return None
    rows = []
    for begin, stop in _behind(every, at):
        bounds = [begin + one for one in places]
        if stop <= bounds[-1] or any(
            text[one].isspace() or not text[one - 1].isspace() for one in bounds[1:]
        ):
            break
        rows.append([_cell(text, a, b) for a, b in zip(bounds, [*bounds[1:], stop], strict=True)])
    return _Block(head, rows, " ") if len(rows) >= _LEAST_PAIRS else None


def _is_head(cells: Sequence[_Cell]) -> bool:
    """Whether a row holds nothing but different short names."""
    words = [one.words for one in cells]
    if len({one.casefold() for one in words}) < len(words):
        return False
    return all(
        (any(map(str.isalpha, one)) or is_day(one))
        and len(one) <= LONGEST_NAME
        and len(one.split()) <= MOST_WORDS
        and _NO_NAME.search(one) is None
        for one in words
    )


def _write(sheet: Sheet, text: str, block: _Block) -> None:
    """Write a block."""
    told = columns_of([[one.words for one in row] for row in block.rows])
    aside = told.same | told.counts
    rows = block.rows
    if told.pair is not None and len(block.head) == 2:
        rows = [block.head, *rows]  # two columns need no head
    else:
        for at, one in enumerate(block.head):
            if told.pair is not None or at in aside:
                sheet.blank(one.start, one.end)
            _tidy(sheet, text, one, "_")
            if at + 1 < len(block.head) and block.mark != " ":
                sheet.put(one.end, _parting(block.mark, at, told, gone=at in aside))
    above, alone = "", len(block.rows) == 1
    for number, row in enumerate(rows):
        kept = False
        for at, one in enumerate(row):
            named = at in told.same and not number and (alone or tells(one.words))
            gone = at in aside and not named
            if gone:
                sheet.blank(one.start, one.end)
            elif named:
                end = one.at + len(one.words)
                sheet.named.append(Named(one.at, end, block.head[at].words))
            _tidy(sheet, text, one, "")
            if told.pair is not None and at < told.pair[0]:
                kept = kept or (not gone and bool(one.words))
            if at + 1 < len(row) and block.mark != " ":
                sheet.put(one.end, "\n" if named else _parting(block.mark, at, told, gone=gone))
        if told.pair is not None:
            above = _write_pair(sheet, text, row, told.pair, above, kept=kept)


def _parting(mark: str, at: int, told: Columns, *, gone: bool) -> str:
    """What parts a cell of a row from the next."""
    if gone or told.pair is not None or at + 1 in told.amounts:
        return " "
    return mark if mark == "\t" else "|"


def _tidy(sheet: Sheet, text: str, one: _Cell, marks: str) -> None:
    """A cell without its quotation marks, and with spaces for some signs."""
    for at in (*range(one.start, one.at), *range(one.at + len(one.words), one.end)):
        if text[at] in _AROUND:
            sheet.blank(at, at + 1)
    for at in range(one.at, one.at + len(one.words)):
        if text[at] in marks:
            sheet.blank(at, at + 1)


def _write_pair(
    sheet: Sheet, text: str, row: Sequence[_Cell], pair: tuple[int, int], above: str, *, kept: bool
) -> str:
    """A row as a label and its value; a name that comes again goes on."""
    named = row[pair[0]]
    if not named.words or named.words == above:
        sheet.blank(named.start, named.end)
        return above
    for at in range(named.at, named.at + len(named.words)):
        if text[at] in _IN_NAMES:
            sheet.put(at, _IN_NAMES[text[at]])
    if kept:
        sheet.put(named.start - 1, "\n")
    sheet.put(named.at + len(named.words), ":")
    return named.words
