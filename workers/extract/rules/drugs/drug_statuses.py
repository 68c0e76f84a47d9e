"""Is it known that a drug is taken? What a status column or a heading says in words that nobody
knows leaves it open. Pure.

`medicines` knows words of refusal. A word that it lacks ("lapsed", "deprescribed") must not make a
stopped drug one that is taken: in a column of statuses what is not known to mean "taken now" says
nothing, nor does a heading over a list of drugs that has such a word.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from workers.extract.field_reader import LEAST, Unit, stated
from workers.extract.heads import SALUTATION, labels
from workers.extract.parts import Parts, Section, line_end
from workers.extract.patients import patients
from workers.extract.rubrics import alternatives, field_policies
from workers.extract.rules.drugs.drug_names import drugs_named
from workers.extract.rules.drugs.drugs import dose_of, told

_CELL = re.compile(r"[^|;\t\n ]++(?:[ ][^|;\t\n ]++)*")
_WORD = re.compile(r"[^\W\d_]+")
_MOST_WORDS = 6
"""Words of a status (ours)."""
_LEAST_CELLS = 2
_MOST_LABELS = 8
"""Labels of a drug's record (ours)."""
_MOST_LINES = 60
"""Lines of a table to each side (ours)."""
_ENTRY = 24
"""Characters of an entry of a list before its drug (ours)."""
_FIRST = 160
"""Characters of a value that are read (ours)."""
_HEAD_LINES = 1
"""Lines of a document that name where it comes from, and what it is (ours)."""
_MARKS = " \t-*•>|#\"'.,:;"


class _Column(NamedTuple):
    """What is said of a drug in one cell, and of others in those above and below it."""

    head: str
    own: str
    others: Sequence[str]


def status_unknown(parts: Parts, start: int) -> str | None:
    """The words by which it is open whether the drug that begins at a place is taken now; None
    where nothing is said, or it is known to be."""
    for one in (*_of_record(parts, start), *_of_row(parts.text, start)):
        if _says_status(one) and one.own and not (_taken_now(one.own) or _how_taken(one.own)):
            return one.own
        if _ends(one.head) and not _denied().fullmatch(one.own):
            return f"{one.head}: {one.own}"
    title = _heading_over(parts, start)
    value = parts.text[start : start + _FIRST]
    return title if title is not None and not _known_heading(title, value) else None


def _says_status(column: _Column) -> bool:
    """Whether a column is of statuses: its head says so, or another cell of it is a known one."""
    if _status_title().fullmatch(column.head):
        return True
    others = [one for one in column.others if not _how_taken(one)]
    return any(_known_status().fullmatch(one) for one in others) and not (
        drugs_named(column.own) or len(column.own.split()) > _MOST_WORDS
    )


def _how_taken(words: str) -> bool:
    """Whether a cell says nothing but a dose, times or a route."""
    if dose_of(words) is not None:
        return True
    often, route, end = told(words)
    return (often is not None or route is not None) and not words[end:].strip(_MARKS)


def _of_record(parts: Parts, start: int) -> Iterator[_Column]:
    """The labelled values of the record that a drug's label begins, or that stand in its line."""
    sections = parts.sections
    at = bisect_right(sections, start, key=lambda one: one.start) - 1
    if at < 0 or sections[at].alone or start >= sections[at].end:
        return
    mine = sections[at]
    begin = parts.text.rfind("\n", 0, start) + 1
    stop = line_end(parts.text, start, len(parts.text))
    first = bisect_left(sections, begin, key=lambda one: one.heading_start)
    beyond = bisect_left(sections, stop, key=lambda one: one.heading_start)
    in_line = [one for one in sections[first:beyond] if one is not mine]
    for one in in_line or sections[at + 1 : at + 1 + _MOST_LABELS]:
        between = parts.text[mine.start : one.heading_start]
        value = _value(parts, one)
        if one.title == mine.title or one.alone or "\n\n" in between or drugs_named(value):
            return
        others = [_value(parts, sections[same]) for same in parts.titled.get(one.title, ())]
        yield _Column(one.title, value, [other for other in others if other != value])


def _value(parts: Parts, one: Section) -> str:
    return parts.text[one.start : line_end(parts.text, one.start, one.end)].strip(_MARKS)


def _of_row(text: str, start: int) -> Iterator[_Column]:
    """The other cells of the row that a drug stands in, with those of the rows around it."""
    begin = text.rfind("\n", 0, start) + 1
    line = text[begin : line_end(text, begin, len(text))]
    mine = _cells(line)
    if len(mine) < _LEAST_CELLS:
        return
    above = text[:begin].split("\n")[-1 - _MOST_LINES : -1]
    below = text[begin + len(line) + 1 :].split("\n", _MOST_LINES)[:_MOST_LINES]
    before = [_cells(one) for one in _block(reversed(above))]
    after = [_cells(one) for one in _block(below)]
    rows = [one for one in (*before, *after) if len(one) > 1]
    head = next((one for one in reversed(before) if len(one) > 1), [])
    barred = "|" in line
    for number, cell in enumerate(mine):
        if cell[0] <= start - begin < cell[0] + len(cell[1]) or ":" in cell[1]:
            continue
        columns = [_under(row, number, cell[0], barred) for row in rows]
        title = _under(head, number, cell[0], barred).lower() if head else ""
        yield _Column(title, cell[1], columns)


def _block(lines: Iterator[str] | Sequence[str]) -> Iterator[str]:
    """The lines up to a blank one."""
    for one in lines:
        if not one.strip():
            return
        yield one


def _cells(line: str) -> list[tuple[int, str]]:
    """Where the cells of a line begin, and their words."""
    found = []
    for one in _CELL.finditer(line):
        words = one.group().strip(_MARKS)
        if words:
            found.append((one.start(), words))
    return found


def _under(row: Sequence[tuple[int, str]], number: int, column: int, barred: bool) -> str:
    """The cell of another row in the same column: of the same number, else the nearest."""
    if barred:
        return row[number][1] if number < len(row) else ""
    return min(row, key=lambda one: abs(one[0] - column))[1] if row else ""


def _heading_over(parts: Parts, start: int) -> str | None:
    """The heading of the list that a drug is an entry of, or the label that it begins behind."""
    begin = parts.text.rfind("\n", 0, start) + 1
    sections = parts.sections
    at = bisect_right(sections, start, key=lambda one: one.start) - 1
    if at < 0:
        return None
    own = sections[at]
    if not own.alone and own.heading_start >= begin:
        label = parts.text[own.start : start].strip(_MARKS)
        return None if label or own.title in _names_drugs() or drugs_named(own.title) else own.title
    if start - begin > _ENTRY:
        return None
    while at >= 0 and not sections[at].alone:
        if sections[at].heading_start < begin and not drugs_named(sections[at].title):
            return None  # another label stands between a heading and the drug
        at -= 1
    head = parts.text[: sections[at].heading_start].strip() if at >= 0 else ""
    return sections[at].title if head.count("\n") >= _HEAD_LINES else None


@cache
def _names_drugs() -> frozenset[str]:
    return frozenset(patients().medicines.drug_labels)


def _known_heading(title: str, value: str) -> bool:
    """Whether a heading is known to be one of drugs that are taken, or to speak of no list: all its
    words are of such headings, or the learned reader takes it for one of medicines and none of its
    words for one of ending, or for one of something else."""
    if title in labels() or title in patients().medicines.taken_headings:
        return True
    if title in patients().medicines.stay_headings or title in patients().family_headings:
        return True
    if title == SALUTATION or set(_WORD.findall(title)) <= _words_of_headings():
        return True
    shares = stated(Unit(title, value))
    if max(share for name, share in shares.items() if name not in _OF_DRUGS) >= LEAST:
        return True
    return shares["medications"] >= LEAST and stated(Unit(title, ""))["stopped"] < _SAYS_ENDED


_OF_DRUGS = ("medications", "stopped", "nothing", "allergies")
_SAYS_ENDED = 0.15
"""Likelihood from which a heading alone may be one of drugs that ended (ours)."""


@cache
def _words_of_headings() -> frozenset[str]:
    """The words of headings over drugs that are taken."""
    words = patients().medicines
    titles = (*field_policies()["medications"].labels, *words.taken_headings, *words.taken_cells,
              *words.heading_words)  # fmt: skip
    return frozenset(one for title in titles for one in _WORD.findall(title))


@cache
def _status_title() -> re.Pattern[str]:
    words = alternatives(patients().medicines.status_titles)
    return re.compile(rf"(?i)(?:[a-z]{{2,20}}+[ ])?(?:{words})\W{{0,3}}")


@cache
def _known_status() -> re.Pattern[str]:
    words = patients().medicines
    every = alternatives((*words.ended, *words.ended_cells, *words.taken_cells))
    return re.compile(rf"(?i){every}")


@cache
def _taken() -> re.Pattern[str]:
    return re.compile(
        rf"(?i)(?:dose[ ])?(?:{alternatives(patients().medicines.taken_cells)})(?![\w-])"
    )


def _taken_now(words: str) -> bool:
    """Whether a status is known to mean that the drug is taken."""
    said = _taken().match(words)
    return said is not None and _refuses().search(words, said.end()) is None


@cache
def _refuses() -> re.Pattern[str]:
    words = patients().medicines
    return re.compile(rf"(?i)\b(?:{alternatives((*words.refused, *words.ended))})\b")


def _ends(head: str) -> bool:
    """Whether a column's head asks whether, or when, the drug ended."""
    return _ended_title().match(head) is not None


@cache
def _ended_title() -> re.Pattern[str]:
    return re.compile(
        rf"(?i)(?:{alternatives(patients().medicines.ended)})(?:[ ](?:on|date|at|by))?\W{{0,3}}$"
    )


@cache
def _denied() -> re.Pattern[str]:
    return re.compile(r"(?i)no?|false|0|n/?a|not?\b.*|none|nil|never|-*|")
