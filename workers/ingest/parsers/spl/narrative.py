"""The narrative blocks of SPL: converts a label's sections and titles to plain text."""

from collections import deque
from xml.etree.ElementTree import Element

from workers.ingest.parsers.html_text import Blocks

_FOOTNOTE_MARKS = "†‡§¶"


class Narrative:
    """Writes the text of an SPL section: paragraphs, lists, tables and footnotes."""

    def __init__(self, blocks: Blocks, text: Element) -> None:
        self._blocks = blocks
        self._text = text
        self._marks: dict[str, str] = {}
        self._footnotes: deque[tuple[str, Element]] = deque()
        self._tables = 0

    def write(self) -> None:
        """Write the whole text, then its footnotes."""
        self._inner(self._text)
        self._blocks.end_block()
        self._write_footnotes()

    def _inner(self, element: Element) -> None:
        self._blocks.words(element.text)
        for child in element:
            self._one(child, child.tag.rpartition("}")[2])
            self._blocks.words(child.tail)

    def _one(self, element: Element, name: str) -> None:
        blocks = self._blocks
        if name in ("paragraph", "caption"):
            blocks.end_block()
            self._inner(element)
            blocks.end_block()
        elif name == "br":
            blocks.line_break()
        elif name == "sup":
            self._raise(element)
        elif name == "list":
            self._list(element)
        elif name == "table":
            self._table(element)
        elif name == "tr":
            blocks.row()
            self._inner(element)
            blocks.end_row()
        elif name in ("td", "th"):
            blocks.cell(element.get("rowspan"), element.get("colspan"))
            self._inner(element)
            blocks.end_cell()
        elif name == "footnote":
            mark = self._mark(element.get("ID") or f"#{len(self._marks)}")
            blocks.words(mark)
            self._footnotes.append((mark, element))
        elif name == "footnoteRef":
            blocks.words(self._mark(element.get("IDREF") or ""))
        else:
            self._inner(element)

    def _raise(self, element: Element) -> None:
        if any(child.tag.endswith("}footnoteRef") for child in element.iter()):
            self._inner(element)
        else:
            self._blocks.raised("".join(element.itertext()))

    def _list(self, element: Element) -> None:
        self._blocks.end_block()
        ordered = element.get("listType") == "ordered"
        number = 0
        for child in element:
            if not child.tag.endswith("}item"):
                self._one(child, child.tag.rpartition("}")[2])
                continue
            number += 1
            self._blocks.item(f"{number}. " if ordered else "- ")
            self._inner(child)
            self._blocks.end_item()
        self._blocks.end_group()

    def _table(self, element: Element) -> None:
        self._blocks.end_block()
        self._tables += 1
        self._inner(element)
        self._tables -= 1
        self._blocks.end_group()
        if not self._tables:
            self._write_footnotes()

    def _mark(self, note: str) -> str:
        """The mark of a footnote: †, ‡, §, ¶, then doubled."""
        if note not in self._marks:
            times, which = divmod(len(self._marks), len(_FOOTNOTE_MARKS))
            self._marks[note] = _FOOTNOTE_MARKS[which] * (times % 8 + 1)
        return self._marks[note]

    def _write_footnotes(self) -> None:
        while self._footnotes:
            mark, element = self._footnotes.popleft()
            self._blocks.words(mark + " ")
            self._inner(element)
            self._blocks.end_block()


def lines(element: Element | None) -> list[str]:
    """The lines of a title, split at its line breaks."""
    blocks = Blocks()
    if element is not None:
        Narrative(blocks, element).write()
    return [line for line in blocks.text().split("\n") if line]


def one_line(element: Element | None) -> str:
    """The text of an element on one line."""
    return " ".join(lines(element))
