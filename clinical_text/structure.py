"""Finds the sections, paragraphs and sentences of a text, once, at ingest.

Offsets are exact and nothing is normalized: what is found are places in the text as stored. One
pass over the lines, one over the full stops; time is linear in the text whatever it holds.
"""

import re
from collections.abc import Iterator

from clinical_text.headings import BOLD_LEVEL, Heading, heading_line, label
from clinical_text.sentences.splitting import sentence_spans
from store.core.spans import Section, Span, Structure

_LINE_ENDS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"  # of str.splitlines
_LIST_MARK = re.compile(
    r"(?:[-*+•‣◦▪●·–—]|\(?\d{1,3}[.)]|\[\d{1,3}\]|\(?[a-z]\)|\(?[ivx]{1,5}\))[ \t\u00a0]+(?=\S)"
)
_NEIGHBOUR = 320  # characters of the next line that a heading test looks at


def segment(text: str) -> Structure:
    """The structure of `text`, by the invariants of `store.core.spans.Structure`; any string will
    do.

    Sections begin at Markdown headings (`#`, underlined, a line all in bold), lines in capitals,
    short lines that end in a colon, and known names of parts (alone on a line, or as a label with
    a colon before the words: `RESULTS: ...`). A heading is the first paragraph and sentence of its
    section; a label is so too, apart from the words behind it. The title is the heading without
    its marks and its colon. What stands before the first heading is a section titled "". A marked
    heading directly followed by a deeper one has nothing of its own: it opens the deeper one's
    section, whose title counts (`# Paper` + `## Abstract` make one section, "Abstract").

    Paragraphs end at blank lines and page breaks. Within one, a line end is white space, save
    before list items, around table rows (`a | b`) and after a Markdown hard break (two spaces at
    the end of a line) before a line that does not go on in lower case.
    """
    outline = _Outline(text)
    lines = _lines(text)
    current = next(lines, None)
    gap = True
    while current is not None:
        start, end = current
        current = next(lines, None)
        below, gap_above = "", gap
        if current is not None:
            gap = _has_gap(text, end, current[0])
            if not gap:
                below = text[current[0] : min(current[1], current[0] + _NEIGHBOUR)].rstrip()
        if outline.add_line(start, end, below, gap=gap_above) and current is not None:
            # the line below is the heading's underline
            outline.extend_heading(current[0] + len(below))
            current = next(lines, None)
    return outline.finish()


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """The lines that show something, each from its first visible character to its end."""
    at = 0
    for line in text.splitlines(keepends=True):
        visible = len(line.lstrip())
        end = at + len(line)
        if visible:
            yield end - visible, end - len(line) + len(line.rstrip(_LINE_ENDS))
        at = end


def _has_gap(text: str, start: int, end: int) -> bool:
    """Whether the white space between two lines holds a blank line or a page break."""
    if end - start == 1:
        return text[start] in "\x0c\u2029"
    return (
        text.count("\n", start, end) > 1
        or text.count("\r", start, end) > 1
        or text.find("\x0c", start, end) >= 0
        or text.find("\u2029", start, end) >= 0
    )


class _Outline:
    """Collects what the lines say, in order."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.paragraphs: list[Span] = []
        self.sentences: list[Span] = []
        self.headings: list[tuple[int, str]] = []  # where each section begins, and its title
        self._bare = 0  # level of the heading that nothing follows so far; 0 if there is none
        self._paragraph = -1  # start of the open paragraph; -1 if there is none
        self._unit = -1  # start of the open stretch of running text within it
        self._words = -1  # where that stretch's words begin, behind a list mark
        self._row = False  # whether the last line was a row of a table
        self._hard_break = False  # whether the last line ended in two spaces
        self._end = 0  # end of the last line, trimmed

    def add_line(self, start: int, end: int, below: str, *, gap: bool) -> bool:
        """Take in the line; true if it is a heading whose underline is the line below.

        `below` is the next line if no gap comes before it, `gap` whether one is above this line.
        """
        text = self.text
        fresh = gap or self._paragraph < 0
        line = text[start:end].rstrip()
        before = "" if fresh else text[self._end - 1 : self._end]
        heading = heading_line(start, line, fresh=fresh, before=before, following=below)
        if heading:
            self._add_heading(start, heading)
            return heading.underlined
        broken, self._hard_break = self._hard_break, end - start - len(line) >= 2
        end = start + len(line)
        found = label(text, start, end)
        if found:
            self._add_heading(start, found)
            rest = text[found.end : end]
            if not rest.strip():
                return False
            start = end - len(rest.lstrip())
            fresh = True
        self._add_words(start, end, fresh=fresh, broken=broken and not line[0].islower())
        return False

    def extend_heading(self, end: int) -> None:
        """Let the heading just added run to `end`."""
        self.paragraphs[-1] = self.sentences[-1] = Span(self.paragraphs[-1].start, end)

    def finish(self) -> Structure:
        """Everything found."""
        self._close()
        sections = []
        starts = self.headings
        if not starts or self.text[: starts[0][0]].strip():
            starts = [(0, ""), *starts]
        for index, (start, title) in enumerate(starts):
            end = starts[index + 1][0] if index + 1 < len(starts) else len(self.text)
            sections.append(Section(title=title, start=start if index else 0, end=end))
        # not validated once more: that would make each span anew, a quarter of all the work
        return Structure.model_construct(
            sections=tuple(sections),
            paragraphs=tuple(self.paragraphs),
            sentences=tuple(self.sentences),
        )

    def _add_heading(self, start: int, heading: Heading) -> None:
        self._close()
        if 0 < self._bare <= BOLD_LEVEL and heading.level > self._bare:
            self.headings[-1] = (self.headings[-1][0], heading.title)
        else:
            self.headings.append((start, heading.title))
        self._bare = heading.level
        self.paragraphs.append(Span(start, heading.end))
        self.sentences.append(Span(start, heading.end))

    def _add_words(self, start: int, end: int, *, fresh: bool, broken: bool) -> None:
        self._bare = 0
        if fresh:
            self._close()
            self._paragraph = start
        mark = _LIST_MARK.match(self.text, start, end)
        row = self.text[start] == "|" or self.text.find(" | ", start, end) >= 0
        if fresh or broken or mark or row or self._row:
            self._close_unit()
            self._unit = start
            self._words = mark.end() if mark else start
        self._row = row
        self._end = end

    def _close_unit(self) -> None:
        if self._unit >= 0:
            spans = sentence_spans(self.text, self._unit, self._end, label_from=self._words)
            self.sentences.extend(map(Span._make, spans))
            self._unit = -1

    def _close(self) -> None:
        self._close_unit()
        if self._paragraph >= 0:
            self.paragraphs.append(Span(self._paragraph, self._end))
            self._paragraph = -1
        self._row = False
