"""Converts tables of drug labels to rows of text."""

from collections.abc import Iterator

from lxml import etree, html  # type: ignore[import-untyped]

from clinical_text.grid import Cell, Grid, span

_CELLS = frozenset({"td", "th"})
_ENDS = frozenset({"tr", "caption"})
_GAPS = frozenset({"br", "p", "li", "paragraph", "item", "table"})  # words do not run together here


def table_rows(source: str) -> str:
    """The rows of an HTML table as lines `a | b`; white space in a cell becomes a single space.

    Each cell stands in its column, even after an empty cell. A table within a cell is written in
    its place. Text without HTML is returned with white space collapsed.
    """
    if "<" not in source:
        return " ".join(source.split())
    try:
        # a NUL ends the text for libxml2; nothing is fetched, and HTML declares no entities
        tree = html.fragment_fromstring(source.replace("\x00", " "), create_parent="div")
    except (etree.LxmlError, ValueError):
        return " ".join(source.split())
    return "\n".join(_lines(tree))


def _lines(tree: html.HtmlElement) -> Iterator[str]:
    grid = Grid()
    cells: list[Cell] = []
    words: list[str] = []
    ended = 0  # the number of cells that have ended
    ended_before: list[int] = []  # for each open cell, the value of `ended` when it began

    def take(rows: int = 1, columns: int = 1, *, empty: bool = False) -> None:
        line = " ".join("".join(words).split())
        words.clear()
        if line or empty:
            cells.append(Cell(line, rows, columns))

    for event, element in etree.iterwalk(tree, events=("start", "end", "comment", "pi")):
        if event in ("comment", "pi"):
            words.append(element.tail or "")
        elif event == "start":
            if element.tag in _CELLS:
                ended_before.append(ended)
            words.append(" " if element.tag in _GAPS else "")
            words.append(element.text or "")
        else:
            if element.tag in _CELLS:
                # the empty rest of a cell around a nested table is not a cell
                alone = ended_before.pop() == ended
                take(span(element.get("rowspan")), span(element.get("colspan")), empty=alone)
                ended += 1
            elif element.tag in _ENDS:
                take()
                row = grid.row(cells)
                cells.clear()
                if row:
                    yield " | ".join(row)
            words.append(element.tail or "")
    take()
    if row := grid.row(cells):
        yield " | ".join(row)
