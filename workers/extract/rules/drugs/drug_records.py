"""Drugs whose name, dose, route and times stand in cells of their own: tables and records. Pure.

"Medicine: Rivaroxaban   Dose: 20 mg   Route: PO", the same line by line, and rows under a head of
columns. Of two columns of doses that counts which is no dose for each square metre or kilogram.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from workers.extract.fields import Found
from workers.extract.parts import Parts, Section, line_end
from workers.extract.rules.drugs.drug_names import drugs_named
from workers.extract.rules.drugs.drugs import dose_of, told
from workers.extract.values import Medication

_DOSE = re.compile(r"\b(?:dos(?:e|es|age)|strength|amount|quantity per dose)\b")
_WAY = re.compile(r"\b(?:route|freq(?:uency)?|times?|sig|directions?|how|when|instructions?)\b")
_NAME = re.compile(r"\b(?:drug|medicine|medication|generic|product|item|agent|preparation|brand)\b")
_PER = re.compile(r"/|\bper\b|\bprevious\b|\bold\b|\bmax")
_CELL = re.compile(r"[^\s|]++(?:[ ][^\s|]++)*")
_LONGEST_NAME = 6
"""Words of a drug's name in a cell (ours)."""
_LEAST_ROWS = 2
_APART = 3
"""Labels between the name of a drug and its dose (ours)."""


class _Cell(NamedTuple):
    words: str
    start: int
    end: int


def recorded(parts: Parts) -> list[Found]:
    """The drugs of records and of tables with several columns of doses."""
    return [*_records(parts), *_tables(parts.text)]


def _records(parts: Parts) -> Iterator[Found]:
    """Drugs under a label that names them, or that are known, whose dose stands under another
    behind it."""
    sections = parts.sections
    for index, one in enumerate(sections):
        name = _value(parts, one)
        if not 0 < len(name.words.split()) <= _LONGEST_NAME or not (
            _NAME.search(one.title) or drugs_named(name.words)
        ):
            continue
        behind: list[tuple[str, _Cell]] = []
        for other in sections[index + 1 : index + 2 + _APART]:
            if other.title == one.title or not (
                _DOSE.search(other.title) or _WAY.search(other.title)
            ):
                break
            behind.append((other.title, _value(parts, other)))
        doses = [cell for title, cell in behind if _DOSE.search(title)]
        if doses:
            yield _drug(name, doses[0], [cell for _, cell in behind if cell not in doses[:1]])


def _value(parts: Parts, one: Section) -> _Cell:
    stop = line_end(parts.text, one.start, one.end)
    words = parts.text[one.start : stop].strip(" \t|-")
    start = parts.text.index(words, one.start) if words else one.start
    return _Cell(words, start, start + len(words))


def _tables(text: str) -> Iterator[Found]:
    """Rows whose first cell is a drug, under a head, where two cells of a row are doses."""
    head: Sequence[_Cell] = ()
    at = 0
    for line in text.split("\n"):
        cells = [_Cell(one.group(), at + one.start(), at + one.end())
                 for one in _CELL.finditer(line)]  # fmt: skip
        at += len(line) + 1
        if sum(_DOSE.search(one.words.lower()) is not None for one in cells) >= _LEAST_ROWS:
            head = [one._replace(start=one.start - (at - len(line) - 1)) for one in cells]
            continue
        if not cells:
            head = head if not line else ()
        if not head or len(cells) < _LEAST_ROWS or not drugs_named(cells[0].words):
            continue
        begin = at - len(line) - 1
        titled = [(_over(head, one.start - begin, "|" in line, n), one)
                  for n, one in enumerate(cells)]  # fmt: skip
        doses = [
            (title, one) for title, one in titled if _DOSE.search(title) and dose_of(one.words)
        ]
        if doses:
            _, chosen = min(doses, key=lambda pair: _PER.search(pair[0]) is not None)
            yield _drug(cells[0], chosen, [one for _, one in titled[1:] if one != chosen])


def _over(head: Sequence[_Cell], column: int, barred: bool, number: int) -> str:
    """The head of a cell: of the same number between bars, else the nearest in place."""
    if barred:
        return head[number].words.lower() if number < len(head) else ""
    return min(head, key=lambda one: abs(one.start - column)).words.lower()


def _drug(name: _Cell, dose: _Cell, others: Sequence[_Cell]) -> Found:
    number, unit = dose_of(dose.words) or (None, None)
    frequency = route = None
    for one in others:
        often, way, _ = told(one.words)
        frequency, route = frequency or often, route or way
    value = Medication(
        name=name.words,
        dose=number,
        unit=unit,
        route=re.sub(r"[./]", "", route.lower()) if route else None,
        frequency=" ".join(frequency.lower().split()) if frequency else None,
    )
    return Found(value, name.start, max(one.end for one in (name, dose)))
