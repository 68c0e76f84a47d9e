"""The text of a JATS article: sections, paragraphs, lists, tables, captions, formulas.

Section titles become `##` headings by depth, table rows `a | b`, list items `-` or numbered lines.
The reference list is left out, because its words belong to other works.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from xml.etree.ElementTree import Element

from clinical_text.grid import Cell, Grid, span
from workers.ingest.parsers.markup import add_inline, squeeze, words

_DEEPEST = 6

_SILENT = frozenset(
    {"title", "label", "ref-list", "graphic", "inline-graphic", "object-id", "alt-text",
     "long-desc", "sec-meta", "permissions", "bio", "sig-block", "attrib", "kwd-group",
     "subtitle", "fn-type", "x", "hr", "processing-meta", "alternatives"}
)  # fmt: skip
_GROUPS = frozenset(
    {"body", "fig-group", "table-wrap-group", "floats-group", "abstract", "trans-abstract",
     "statement", "disp-quote", "verse-group", "speech", "app-group", "fn-group", "license",
     "table-wrap-foot", "disp-formula-group", "chem-struct-wrap", "array-group",
     "question-wrap", "question", "answer-set", "answer", "explanation"}
)  # fmt: skip
_SECTIONS = frozenset({"sec", "app", "ack", "notes", "glossary", "boxed-text"})
_UNTITLED = {"ack": "Acknowledgements", "glossary": "Glossary", "app": "Appendix"}
_BLOCKS = (
    _GROUPS
    | _SECTIONS
    | {"p", "list", "def-list", "table-wrap", "fig", "disp-formula", "supplementary-material",
       "preformat", "code", "array", "table", "fn-group", "ref-list"}
)  # fmt: skip


class Text:
    """Collects the blocks of an article, in order."""

    def __init__(self) -> None:
        self._blocks: list[tuple[int, str]] = []  # level of the heading or 0, and the text
        self.unmapped: Counter[str] = Counter()

    def __str__(self) -> str:
        """All blocks, separated by blank lines; headings without content are left out."""
        kept: list[str] = []
        below = 1
        for level, block in reversed(self._blocks):
            if level and 0 < below <= level:
                continue
            kept.append(f"{'#' * level} {block}" if level else block)
            below = level
        return "\n\n".join(reversed(kept))

    def add_heading(self, title: str, level: int) -> None:
        """Add a heading of `level` (2 is a section of the article)."""
        if title:
            self._blocks.append((min(level, _DEEPEST), title))

    def add_section(self, section: Element, level: int) -> None:
        """Add a section with its heading and content."""
        title = _title(section) or _UNTITLED.get(section.tag, "")
        self.add_heading(title, level)
        self.add_all(section, level + 1 if title else level)

    def add_all(self, elements: Iterable[Element], level: int) -> None:
        """Add the blocks in `elements`; sections among them get `level`."""
        for element in elements:
            self.add(element, level)

    def add(self, element: Element, level: int) -> None:
        """Add one block of any kind; a block of an unknown kind without words is counted."""
        tag = element.tag
        if tag in _SILENT:
            return
        if tag == "p":
            self._add_paragraph(element, level)
        elif tag in _SECTIONS:
            self.add_section(element, level)
        elif tag == "list":
            self._add_words("\n".join(_items(element, "")))
        elif tag == "def-list":
            self._add_words("\n".join(_definitions(element)))
        elif tag in ("table-wrap", "fig", "supplementary-material", "media"):
            self._add_float(element, level)
        elif tag in ("table", "array"):
            self._add_words("\n".join(_rows(element)))
        elif tag == "disp-formula":
            label = words(element.find("label"))
            self._add_words(f"{_formula(element)} {label}".strip())
        elif tag == "fn":
            notes = (words(child) for child in element)
            self._add_words(" ".join(filter(None, notes)))
        elif tag in _GROUPS:
            self.add_heading(_title(element), level)
            self.add_all(element, level)
        elif not self._add_words(words(element)):
            self.unmapped[tag] += 1

    def _add_words(self, text: str) -> bool:
        if text:
            self._blocks.append((0, text))
        return bool(text)

    def _add_paragraph(self, paragraph: Element, level: int) -> None:
        """Add a paragraph; blocks within it split it into parts."""
        parts = [paragraph.text or ""]
        for child in paragraph:
            if child.tag in _BLOCKS:
                self._add_words(squeeze("".join(parts)))
                parts = []
                self.add(child, level)
            else:
                add_inline(child, parts)
            parts.append(child.tail or "")
        self._add_words(squeeze("".join(parts)))

    def _add_float(self, element: Element, level: int) -> None:
        """Add a table or figure: label and caption, then rows, then notes."""
        caption = element.find("caption")
        caption_parts = [words(part) for part in caption] if caption is not None else []
        lead = " ".join(filter(None, caption_parts))
        label = words(element.find("label"))
        joint = " " if label.endswith((".", ":")) else ". "
        self._add_words(joint.join(filter(None, (label, lead))))
        for child in element:
            if child.tag == "alternatives":
                self.add_all(child.findall("table"), level)
            elif child.tag == "media":
                self._add_float(child, level)
            elif child.tag != "caption":
                self.add(child, level)


def _title(element: Element) -> str:
    title, label = words(element.find("title")), words(element.find("label"))
    return " ".join(filter(None, (label, title))) if title else ""


def _formula(element: Element) -> str:
    parts: list[str] = [element.text or ""]
    for child in element:
        if child.tag != "label":
            add_inline(child, parts)
        parts.append(child.tail or "")
    return squeeze("".join(parts))


def _items(element: Element, indent: str) -> Iterator[str]:
    """The items of a list, one per line; a nested list is indented below its item."""
    ordered = element.get("list-type") in ("order", "ordered", "decimal")
    for number, item in enumerate(element.findall("list-item"), 1):
        mark = words(item.find("label")) or (f"{number}." if ordered else "-")
        inner = [child for child in item if child.tag not in ("label", "title", "list")]
        line = " ".join(filter(None, (words(child) for child in inner)))
        if line:
            yield f"{indent}{mark} {line}"
        for below in item.findall("list"):
            yield from _items(below, f"{indent}  ")


def _definitions(element: Element) -> Iterator[str]:
    for item in element.findall("def-item"):
        term, meaning = words(item.find("term")), words(item.find("def"))
        if term or meaning:
            yield ": ".join(filter(None, (term, meaning)))


def _rows(table: Element) -> Iterator[str]:
    """The rows of a table as `a | b`, each cell in its column."""
    grid = Grid()
    for row in table.iter("tr"):
        cells = grid.row(
            Cell(words(cell), span(cell.get("rowspan")), span(cell.get("colspan")))
            for cell in row
            if cell.tag in ("td", "th")
        )
        if cells:
            yield " | ".join(cells)
