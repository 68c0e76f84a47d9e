"""Tables of drug labels as rows of text."""

from collections.abc import Iterator

from lxml import etree, html  # type: ignore[import-untyped]

_CELLS = frozenset({"td", "th"})
_ENDS = frozenset({"tr", "caption"})
_GAPS = frozenset({"br", "p", "li", "paragraph", "item", "table"})  # words do not run together here


def table_rows(source: str) -> str:
    """The rows of an HTML table as lines `a | b`; white space in a cell is a single space.

    A table within a cell is written in its place. What is no HTML at all comes back as its words.
    """
    if "<" not in source:
        return " ".join(source.split())
    try:
        # a NUL ends the text for libxml2; nothing is fetched and there are no entities of one's own
        tree = html.fragment_fromstring(source.replace("\x00", " "), create_parent="div")
    except (etree.LxmlError, ValueError):
        return " ".join(source.split())
    return "\n".join(_lines(tree))


def _lines(tree: html.HtmlElement) -> Iterator[str]:
    cells: list[str] = []
    words: list[str] = []

    def cell() -> None:
        line = " ".join("".join(words).split())
        words.clear()
        if line:
            cells.append(line)

    for event, element in etree.iterwalk(tree, events=("start", "end", "comment", "pi")):
        if event in ("comment", "pi"):
            words.append(element.tail or "")
        elif event == "start":
            words.append(" " if element.tag in _GAPS else "")
            words.append(element.text or "")
        else:
            if element.tag in _CELLS or element.tag in _ENDS:
                cell()
            if element.tag in _ENDS and cells:
                yield " | ".join(cells)
                cells.clear()
            words.append(element.tail or "")
    cell()
    if cells:
        yield " | ".join(cells)
