"""The units of an outline as a reader of acts sees them. Pure."""

import re
from dataclasses import replace

from store.core.spans import Span
from workers.summarize import note_reader
from workers.summarize.acts import Statement, read_acts
from workers.summarize.items import kind_of_unit
from workers.summarize.sections import NoteOutline

_FEW = 6  # units of a text in which their places say nothing (ours)
SPEAKER = re.compile(r"\A[^:\n]{1,40}:\s+")
_REACH = 80  # characters of a line above that are read (ours)


def statements_of(text: str, outline: NoteOutline) -> list[Statement]:
    """Each unit with its heading, the line above it, and its place in the note."""
    units, sections = outline.units, outline.sections
    found = []
    for n, unit in enumerate(units):
        part = sections[unit.section]
        above = units[unit.over] if unit.over is not None else None
        over = "" if above is None else text[above.start : above.end][:_REACH]
        place = n / len(units) if len(units) > _FEW else None
        words = text[unit.start : unit.end]
        if unit.aloud:
            words = SPEAKER.sub("", words)
        kind = kind_of_unit(text, unit, part)
        found.append(Statement(words, part.title, kind, over, unit.listed, place))
    return found


def as_read(text: str, outline: NoteOutline) -> NoteOutline:
    """The outline with what each unit does, and the problems that it names."""
    found = note_reader.load().read(text, [Span(one.start, one.end) for one in outline.units])
    acts = read_acts(statements_of(text, outline), found.acts)
    units = (
        replace(unit, act=act, problems=problems)
        for unit, act, problems in zip(outline.units, acts, found.problems, strict=True)
    )
    return replace(outline, units=tuple(units))
