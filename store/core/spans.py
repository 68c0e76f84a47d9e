"""Spans of a stored text: half-open ranges `[start, end)` of Unicode code points.

A version's structure is determined once, at ingest, and stored beside its text, so that chunks,
anchors and claims agree on where a sentence begins (ADR 0005).
"""

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field


class Span(NamedTuple):
    """A range `[start, end)` of code points in one text."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """The text of this span."""
        return text[self.start : self.end]


class Section(BaseModel):
    """A titled part of a text. `title` is `""` if the text has none there."""

    model_config = ConfigDict(frozen=True)

    title: str
    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]


class Structure(BaseModel):
    """Sections, paragraphs and sentences of one text.

    Sections follow each other without a gap and cover the whole text. Paragraphs lie inside one
    section, sentences inside one paragraph; both are trimmed of surrounding white space, do not
    overlap, are in order, and together cover every character that is not white space.
    """

    model_config = ConfigDict(frozen=True)

    sections: tuple[Section, ...]
    paragraphs: tuple[Span, ...]
    sentences: tuple[Span, ...]


def sentences_of(structure: Mapping[str, Any]) -> tuple[Span, ...]:
    """The sentences of a stored `Structure`, which was validated when it was written."""
    return tuple(map(Span._make, structure["sentences"]))


def citation(section: str, chunk_id: str, start: int, end: int) -> str:
    """`SECTION section, chunk_11:2192-2922` (clinical notes seed, "Citation Rules").

    Offsets are global. Text outside any titled section is cited as `BODY`, so that the form
    stays parsable.
    """
    return f"{section or 'BODY'} section, {chunk_id}:{start}-{end}"
