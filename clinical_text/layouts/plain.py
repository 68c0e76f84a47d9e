"""A document without its layout: what is only marks of a program or a form gives way. Pure.

Every sign keeps its place, so that spans hold in the text as it was given: signs of the layout,
names and counts that it repeats, and spoken marks become spaces, line ends and the marks of labels.
Words of prose, tables and reports without such a layout stay as they are. Each layout is told by
its form: by marks that come again in line after line, never by the names that it uses. Time is
linear in the text.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from clinical_text.layouts.breaks import plain_breaks, plain_signs
from clinical_text.layouts.logs import plain_frames, plain_logs
from clinical_text.layouts.markup import plain_markup
from clinical_text.layouts.numbered import plain_numbers
from clinical_text.layouts.pairs import plain_pairs
from clinical_text.layouts.rows import plain_rows
from clinical_text.layouts.run_on import plain_run_on
from clinical_text.layouts.segments import plain_segments
from clinical_text.layouts.sheet import Named
from clinical_text.layouts.speech import plain_speech


class View(NamedTuple):
    """A document as all readers read it, as long as the document; and the names of values that
    stand in the head of their column, by the places of the values."""

    text: str
    named: Sequence[Named] = ()

    def part(self, start: int, end: int) -> "View":
        """The view of a part of the document."""
        inside = (one for one in self.named if start <= one.start and one.end <= end)
        moved = [one._replace(start=one.start - start, end=one.end - start) for one in inside]
        return View(self.text[start:end], moved)


@lru_cache(maxsize=4)  # the type, the parts and the evaluation ask for the same document
def plain_view(text: str) -> View:
    """The document as all readers read it."""
    for reader in (
        plain_frames,
        plain_segments,
        plain_breaks,
        plain_logs,
        plain_markup,
        plain_signs,
    ):
        text = reader(text)
    text, named = plain_rows(plain_run_on(text))
    for reader in (plain_pairs, plain_numbers, plain_speech):
        text = reader(text)
    return View(text, named)
