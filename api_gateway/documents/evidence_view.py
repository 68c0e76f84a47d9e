"""The exact text of a version with a span marked in it. Pure.

The pieces of all blocks, joined, are the stored text; the marked ones are `text[start:end]`.
Offsets are Unicode code points, as everywhere.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from markupsafe import Markup, escape

from store.core.spans import Section, Span, Structure

Kind = Literal["heading", "paragraph", "gap"]
_MARKS_OF_A_HEADING = 16
"""How many characters longer than its title a heading may be: `#`, underlines, a colon."""
_SIGN = re.compile(r"#{1,6}[ \t]+")


class SpanOutside(ValueError):
    """The span is not inside the text."""


@dataclass(frozen=True)
class Piece:
    """A run of characters. `first`: the marked span begins here; `sign`: a heading's `#` mark."""

    text: str
    marked: bool
    first: bool
    sign: bool = False


@dataclass(frozen=True)
class Block:
    """A heading, a paragraph, or the white space between them."""

    kind: Kind
    pieces: Sequence[Piece]


@dataclass(frozen=True)
class Part:
    """A section of the text; `holds` says whether the span begins in it."""

    anchor: str
    title: str
    blocks: Sequence[Block]
    holds: bool


def parts(text: str, structure: Structure | None, span: Span | None) -> list[Part]:
    """The text by sections, with the span marked.

    Raises:
        SpanOutside: the span is empty or reaches beyond the text.
    """
    if span is not None and not 0 <= span.start < span.end <= len(text):
        raise SpanOutside(f"the span is not inside the text, which has {len(text)} code points")
    usable = structure if structure is not None and _covers(structure, text) else _plain(text)
    starts = [paragraph.start for paragraph in usable.paragraphs]
    return [
        Part(
            anchor=f"section-{n}",
            title=section.title,
            blocks=[
                Block(kind, _signed(kind, list(_pieces(text, start, end, span))))
                for kind, start, end in _blocks(text, section, _within(section, usable, starts))
            ],
            holds=span is not None and section.start <= span.start < section.end,
        )
        for n, section in enumerate(usable.sections, start=1)
    ]


def structure_of(stored: Any) -> Structure | None:
    """The structure stored with a version's text; None if there is no readable one."""
    try:
        return Structure.model_validate(stored)
    except ValueError:
        return None


def _covers(structure: Structure, text: str) -> bool:
    at = 0
    for section in structure.sections:
        if section.start != at or section.end < at:
            return False
        at = section.end
    return at == len(text) and bool(structure.sections)


def _plain(text: str) -> Structure:
    """A structure of one section, with a paragraph for each line that is not blank."""
    paragraphs, at = [], 0
    for line in text.splitlines(keepends=True):
        if line.strip():
            lead = len(line) - len(line.lstrip())
            paragraphs.append(Span(at + lead, at + len(line.rstrip())))
        at += len(line)
    whole = Section(title="", start=0, end=len(text))
    return Structure(sections=(whole,), paragraphs=tuple(paragraphs), sentences=tuple(paragraphs))


def _within(section: Section, structure: Structure, starts: Sequence[int]) -> Sequence[Span]:
    """The paragraphs of a section, given the sorted starts of all paragraphs of the text."""
    first = bisect_left(starts, section.start)
    return structure.paragraphs[first : bisect_left(starts, section.end)]


def _blocks(
    text: str, section: Section, paragraphs: Sequence[Span]
) -> Iterator[tuple[Kind, int, int]]:
    at, is_first = section.start, True
    for start, end in paragraphs:
        if start < at or end > section.end:
            continue
        if start > at:
            yield "gap", at, start
        is_heading = (
            is_first
            and section.title != ""
            and end - start <= len(section.title) + _MARKS_OF_A_HEADING
            and section.title in text[start:end]
        )
        yield ("heading" if is_heading else "paragraph"), start, end
        at, is_first = end, False
    if at < section.end:
        yield "gap", at, section.end


def _signed(kind: Kind, pieces: list[Piece]) -> list[Piece]:
    """The pieces, with the `#` of a heading as a piece of its own."""
    match = _SIGN.match(pieces[0].text) if kind == "heading" and not pieces[0].marked else None
    if match is None:
        return pieces
    rest = replace(pieces[0], text=pieces[0].text[match.end() :])
    sign = Piece(match[0], marked=False, first=False, sign=True)
    return [sign, *([rest] if rest.text else []), *pieces[1:]]


def _pieces(text: str, start: int, end: int, span: Span | None) -> Iterator[Piece]:
    if span is None or span.end <= start or end <= span.start:
        yield Piece(text[start:end], marked=False, first=False)
        return
    begin, stop = max(start, span.start), min(end, span.end)
    if start < begin:
        yield Piece(text[start:begin], marked=False, first=False)
    yield Piece(text[begin:stop], marked=True, first=begin == span.start)
    if stop < end:
        yield Piece(text[stop:end], marked=False, first=False)


def exact(words: str) -> Markup:
    """`words` escaped for HTML so that a browser keeps them exactly: it would read a bare carriage
    return as a line feed."""
    return Markup(str(escape(words)).replace("\r", "&#13;"))  # noqa: S704  escaped just before
