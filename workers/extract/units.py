"""What may state a field: labelled values, cells of the first lines, paragraphs without a label.
Pure."""

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

from workers.extract.evaluation.damage import meant
from workers.extract.field_reader import LEAST, Unit, stated
from workers.extract.parts import Parts, line_end
from workers.extract.rubrics import field_policies

_HEAD_LINES = 8
"""Lines of a document in which a name may stand alone (ours)."""
_CELL = re.compile(r"(?<![^\n\t|;])[ ]*(?P<cell>[^\s|;]++(?:[ ][^\s|;]++)*)")
_SET_WIDE = re.compile(
    r"[ \t]{0,80}+(?P<cell>[^\s:|;]{1,40}(?:[ ]{2}[^\s:|;]{1,40}){2,12})[ ]{0,80}+"
)
"""A line of which each word is set two spaces apart: one name, and no columns."""
_PARAGRAPH = re.compile(r"(?m)^(?:[ \t]*+\S[^\n]*+(?:\n|\Z))++")
_LEAST = 5
"""Words of a paragraph (ours)."""
_LONGEST_LINE = 400
"""Characters of a line that are read for cells (ours)."""
_MARKS = " \t\n*#:|-_="
_FIRST = 160
"""Characters of a value that are read (ours)."""
_PLACES = 4
_MARK = 4
"""Characters before a label that are marks (ours)."""


class Placed(NamedTuple):
    """A unit with where its value stands; of a label, the number of its section."""

    unit: Unit
    start: int
    end: int
    section: int | None = None


_held: "WeakKeyDictionary[Parts, Sequence[Placed]]" = WeakKeyDictionary()


_stated: "WeakKeyDictionary[Parts, Sequence[tuple[Placed, Mapping[str, float]]]]" = (
    WeakKeyDictionary()
)


def units(parts: Parts) -> Sequence[Placed]:
    """Every unit of a document: labels, cells, paragraphs, each in the order of the text."""
    if parts not in _held:
        _held[parts] = [*_labels(parts), *_cells(parts), *_paragraphs(parts)]
    return _held[parts]


def shares(parts: Parts) -> Sequence[tuple[Placed, Mapping[str, float]]]:
    """Every unit with how likely it states each field by the learned reader."""
    if parts not in _stated:
        _stated[parts] = [(one, stated(one.unit)) for one in units(parts)]
    return _stated[parts]


def told(parts: Parts, field: str, kind: str = "label") -> list[Placed]:
    """The units of a kind that state a field by the learned reader, the surest first."""
    own = field_policies()[field].labels if field in field_policies() else ()
    every = (
        (1.0 if one.unit.title in own else share.get(field, 0.0), one)
        for one, share in shares(parts)
        if one.unit.kind == kind
    )
    found = [(share, one) for share, one in every if share >= LEAST]
    return [one for _, one in sorted(found, key=lambda pair: -pair[0])]


def _labels(parts: Parts) -> list[Placed]:
    found = []
    for number, one in enumerate(parts.sections):
        words = parts.text[one.start : min(one.end, one.start + _FIRST)]
        value = words.strip(_MARKS)
        if value:
            start = one.start + words.index(value)
            title = " ".join(meant(word) or word for word in one.title.split())
            found.append(Placed(Unit(title, value), start, start + len(value), number))
    return found


def _cells(parts: Parts) -> list[Placed]:
    text = parts.text
    at = len(text) - len(text.lstrip())
    heads = [one.heading_start for one in parts.sections
             if ":" in text[one.heading_start : one.start]]  # fmt: skip
    found = []
    for number in range(_HEAD_LINES):
        stop = line_end(text, at, min(len(text), at + _LONGEST_LINE))
        first = bisect_left(heads, at)
        limit = min(stop, heads[first]) if first < len(heads) else stop
        wide = _SET_WIDE.fullmatch(text, at, limit)
        for one in [wide] if wide else _CELL.finditer(text, at, limit):
            words = one["cell"].strip(_MARKS)
            start = text.index(words, one.start("cell")) if words else 0
            if words:
                unit = Unit("", words, "cell", str(number if number < _PLACES else _PLACES))
                found.append(Placed(unit, start, start + len(words)))
        at = stop + 1
        if at >= len(text):
            break
    return found


def _paragraphs(parts: Parts) -> list[Placed]:
    text = parts.text
    heads = [one.heading_start for one in parts.sections]
    found = []
    for one in _PARAGRAPH.finditer(text):
        words = one.group().strip()
        start = text.index(words, one.start())
        first = bisect_left(heads, one.start())
        labelled = first < len(heads) and heads[first] <= start + _MARK
        if labelled or len(words.split(None, _LEAST)) < _LEAST:
            continue
        place = str(int(_PLACES * start / len(text)))
        unit = Unit("", words[:_FIRST], "paragraph", place)
        found.append(Placed(unit, start, start + len(words)))
    return found
