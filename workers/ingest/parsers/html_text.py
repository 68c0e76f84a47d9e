"""HTML fragments as text: the visible words as paragraphs, list items and table rows.

White space within a paragraph is normalized to single spaces. Words are kept unchanged; raised
digits stay raised (10<sup>9</sup> is 10⁹, not 109).
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from lxml import etree  # type: ignore[import-untyped]

from clinical_text.grid import Cell, Grid, span, whole

_SPACES = re.compile(r"[ \t\n\r\f\u2028\u2029]+")
_RAISED = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
_RAISABLE = re.compile(r"[\d+\-−,–\s]{1,20}")
_BREAK = "\v"  # a line break; distinct from white space, which is collapsed
_UNPRINTABLE = {code: None for code in range(0x20) if chr(code) not in "\t\n\r\f\v"}

_DROPPED = frozenset({"script", "style", "noscript", "template", "iframe", "object", "select"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LISTS = frozenset({"ul", "ol"})
_BLOCKS = frozenset(
    {
        *{"address", "article", "aside", "blockquote", "center", "dd", "div", "dl", "dt"},
        *{"figcaption", "figure", "footer", "form", "header", "hr", "main", "p", "pre"},
        *{"section", "caption", "table", "tbody", "thead", "tfoot", "tr"},
    }
)


class Blocks:
    """Collects the words of a document in order and returns them as text.

    Blocks are separated by blank lines; list items and table rows by line ends. The content of a
    cell or a heading is written on one line.
    """

    def __init__(self) -> None:
        self._out: list[str] = []
        self._words: list[str] = []
        self._mark = ""
        self._row: list[Cell] | None = None
        self._reach = Cell("")  # the row and column spans of the open cell
        self._grid = Grid()
        self._in_cell = False
        self._tight = False  # whether the last block was an item or a row

    def words(self, text: str | None) -> None:
        """Add running text to the open block."""
        if text:
            self._words.append(text)

    def raised(self, text: str) -> None:
        """Add superscript text."""
        raisable = _RAISABLE.fullmatch(text)
        self.words(text.strip().translate(_RAISED) if raisable else text)

    def line_break(self) -> None:
        """Begin a new line in the open block."""
        self._words.append(" " if self._in_cell else _BREAK)

    def end_block(self, prefix: str = "") -> None:
        """End the open block; `prefix`, such as the marks of a heading, precedes its words."""
        if self._in_cell:
            self._words.append(" ")
            return
        block = self._take()
        if not block:
            return
        if prefix:
            block = prefix + " ".join(block.split("\n"))
        tight = bool(self._mark)
        self._add(self._mark + block, tight=tight)
        self._mark = ""

    def item(self, mark: str) -> None:
        """Begin an item of a list."""
        self.end_block()
        if not self._in_cell:
            self._mark = mark

    def end_item(self) -> None:
        """End a list item; an item without words leaves no mark."""
        self.end_block()
        self._mark = ""

    def cell(self, rows: str | None = None, columns: str | None = None) -> None:
        """Begin a cell in the open row, or in a new row if none is open.

        `rows` and `columns` are its `rowspan` and `colspan` attributes."""
        if self._in_cell:  # a table within a cell
            self._words.append(" ")
            return
        if self._row is None:
            self.row()
        self._in_cell = True
        self._reach = Cell("", span(rows), span(columns))

    def end_cell(self) -> None:
        """End the open cell."""
        if not self._in_cell:
            return
        self._in_cell = False
        content = self._take()
        if self._row is not None:
            self._row.append(replace(self._reach, text=" ".join(content.split())))

    def row(self) -> None:
        """Begin a row of a table; cells before the first row are one of their own."""
        self.end_block()
        self.end_row()
        if not self._in_cell:
            self._row = []

    def end_row(self) -> None:
        """End the open row; a row without words is left out."""
        if self._in_cell or self._row is None:
            return
        cells, self._row = self._row, None
        laid = self._grid.row(cells)
        if any(cell.text for cell in cells):
            self._add(" | ".join(laid).strip(" "), tight=True)

    def end_group(self) -> None:
        """End a list or a table, so that a blank line follows it."""
        self.end_block()
        if not self._in_cell:
            self._tight = False
            self._grid = Grid()

    def text(self) -> str:
        """All text collected so far."""
        self._in_cell = False
        self.end_row()
        self.end_block()
        return "".join(self._out)

    def _take(self) -> str:
        joined = "".join(self._words).translate(_UNPRINTABLE)
        self._words.clear()
        lines = _SPACES.sub(" ", joined).split(_BREAK)
        return "\n".join(filter(None, (line.strip(" ") for line in lines)))

    def _add(self, block: str, *, tight: bool) -> None:
        if self._out:
            self._out.append("\n" if tight and self._tight else "\n\n")
        self._out.append(block)
        self._tight = tight


TOP_HEADING = 3
"""The highest heading level in a fragment; levels above are the record's title and sections."""


def html_text(source: str) -> str:
    """The text of an HTML fragment, or "". Accepts any string; takes time linear in its length.

    `h1` becomes a heading of level `TOP_HEADING`, `h2` one level deeper. Scripts and styles are
    left out; links keep their words.
    """
    if "<" not in source and "&" not in source:
        blocks = Blocks()
        blocks.words(source)
        return blocks.text()
    # lxml gets UTF-8, which cannot encode lone surrogates
    collector = _Collector()
    parser = etree.HTMLParser(
        target=collector, huge_tree=True, remove_comments=True, remove_pis=True, encoding="utf-8"
    )
    try:
        parser.feed(source.encode("utf-8", "replace"))
        parser.close()
    except etree.LxmlError:
        # lxml raises this for an empty document
        pass
    return collector.blocks.text()


class _Collector:
    """The parser target: lxml calls it at each tag and text."""

    def __init__(self) -> None:
        self.blocks = Blocks()
        self._lists: list[int] = []  # the number of the last item; -1 in a list without numbers
        self._dropped = 0
        self._raised: list[str] = []
        self._sups = 0  # the number of open `sup` elements; nested ones count as one superscript

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag in _DROPPED:
            self._dropped += 1
        elif tag == "br":
            self.blocks.line_break()
        elif tag == "li":
            self.blocks.item(self._next_mark(attributes.get("value")))
        elif tag in _LISTS:
            self.blocks.end_block()
            first = whole(attributes.get("start")) or 1
            self._lists.append(first - 1 if tag == "ol" else -1)
        elif tag in ("td", "th"):
            self.blocks.cell(attributes.get("rowspan"), attributes.get("colspan"))
        elif tag == "tr":
            self.blocks.row()
        elif tag == "sup":
            self._sups += 1
        elif tag in _BLOCKS or tag in _HEADINGS:
            self.blocks.end_block()

    def end(self, tag: str) -> None:
        if tag in _DROPPED:
            self._dropped -= 1
        elif tag == "li":
            self.blocks.end_item()
        elif tag in _LISTS:
            if self._lists:
                self._lists.pop()
            self.blocks.end_group()
        elif tag in ("td", "th"):
            self.blocks.end_cell()
        elif tag == "tr":
            self.blocks.end_row()
        elif tag == "table":
            self.blocks.end_group()
        elif tag == "sup":
            self._sups -= 1
            if not self._sups:
                self.blocks.raised("".join(self._raised))
                self._raised.clear()
        elif tag in _HEADINGS:
            level = min(6, TOP_HEADING + _HEADINGS[tag] - 1)
            self.blocks.end_block("#" * level + " ")
        elif tag in _BLOCKS:
            self.blocks.end_block()

    def data(self, text: str) -> None:
        if self._dropped:
            return
        if self._sups:
            self._raised.append(text)
        else:
            self.blocks.words(text)

    def close(self) -> None:
        """Called by lxml at the end; nothing to do."""

    def _next_mark(self, stated: str | None) -> str:
        if not self._lists or self._lists[-1] < 0:
            return "- "
        self._lists[-1] = whole(stated) or self._lists[-1] + 1
        return f"{self._lists[-1]}. "
