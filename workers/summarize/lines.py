"""The lines of a note, and what can be told of one by itself. Pure."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from knowledge.documents.notes import section_policy
from store.core.spans import Span
from workers.summarize.names import MARKS, NUMBERING, kind_of, plain

RULE = re.compile(r"[=\-_*~—–]{3,}")
# Only what cannot belong to the words: "2.5 mg", "-3.0 D", "> 5 cm" and "2 tablets" keep theirs.
LIST_MARK = re.compile(
    r"(?:[•‣◦▪●·→][ \t\u00a0]*"
    r"|(?:[-*–—]|\(?\d{1,2}[.)]|#\d{1,2}[.)]?|#{1,6}|\(?[a-z]\)|\(?[ivx]{1,4}\))[ \t\u00a0]+)(?=\S)"
    r"|#{1,6}(?=[^\W\d_])"
)
NUMBERED = re.compile(r"\d{1,2}[ \t]{1,3}[A-Z]")
BARE_MARK = re.compile(r"[•‣◦▪●·→*–—-]|\(?\d{1,2}[.)]")
STOPS = ".!?;"
_LABEL = re.compile(
    r"(?:[-–—*•#]{1,200}+[ \t]{0,80}+)?\*{0,80}+"
    r"([^\W\d_][^:\n]{0,30}?)\*{0,9}[ \t]{0,20}:(?=[\s*]|\Z)"
)
_LAST_WORD = re.compile(r"(?:^|[\s(])([a-z]+)\Z")


class Line(NamedTuple):
    """A line that shows something, `[start, end)` without the white space around it."""

    start: int
    end: int
    gap: bool
    """Whether a blank line, or the beginning of the text, stands above it."""
    broken: bool
    """Whether the line above ends in two spaces: a hard break of Markdown."""


def lines_of(text: str) -> Iterator[Line]:
    """The lines that show something."""
    at, gap, broken = 0, True, False
    for raw in text.splitlines(keepends=True):
        visible = raw.strip()
        if visible:
            start = at + len(raw) - len(raw.lstrip())
            yield Line(start, start + len(visible), gap, broken)
            tail = raw[len(raw.rstrip()) :].rstrip("\r\n")
            broken, gap = len(tail) >= 2, "\x0c" in raw[-2:]
        elif raw.count("\n") + raw.count("\r") or "\x0c" in raw:
            gap = True
        at += len(raw)


def cut(text: str, lines: Iterator[Line], places: Sequence[int]) -> Iterator[Line]:
    """The lines, cut where a part without a heading begins within one."""
    for line in lines:
        start, end, gap, broken = line
        for place in places:
            if start < place < end:
                before = text[start:place]
                yield Line(start, start + len(before.rstrip()), gap, broken)
                start, gap, broken = place, True, False
        yield Line(start, end, gap, broken)


def paragraphs_of(own: Sequence[Line]) -> Iterator[Span]:
    """The stretches of lines without a blank one between them."""
    start = end = -1
    for line in own:
        if line.gap or start < 0:
            if start >= 0:
                yield Span(start, end)
            start = line.start
        end = line.end
    if start >= 0:
        yield Span(start, end)


def label_of(written: str) -> str | None:
    """The name before the colon that a line begins with, "" for one with none, None without."""
    found = _LABEL.match(written)
    return None if found is None else NUMBERING.sub("", found[1].strip(MARKS))


def is_foreign(written: str) -> bool:
    """Whether a line has a label that names no part of a note: `BP: 88/50`, `Neuro: sedated`."""
    name = label_of(written)
    if name is None or plain(name) in section_policy().identifiers:
        return False
    return kind_of(name) is None


def unfinished(written: str) -> bool:
    """Whether a line ends in a word that no statement ends with: `no history of`."""
    found = _LAST_WORD.search(written[-24:])
    return found is not None and found[1] in section_policy().unfinished


def column_of(text: str, line: Line) -> int:
    """How far a line is indented."""
    return line.start - (text.rfind("\n", 0, line.start) + 1)
