"""Reads HTML pages as Markdown-like text: the text that a reader of the page sees, in order."""

import codecs
import html
import re
from collections.abc import Iterator

from bs4 import BeautifulSoup, Tag
from bs4.dammit import EncodingDetector
from bs4.element import NavigableString

from clinical_text.grid import Cell, Grid, span, whole
from store.documents.records import SourceRecord
from workers.file_formats.errors import UnreadableDocument
from workers.file_formats.hidden import remove_hidden
from workers.file_formats.plain import clean_title, decode, file_title, record

MAX_TAGS = 150_000  # each tag of the tree takes about 30 microseconds and 1 kB
_DROPPED = [
    "script",
    "style",
    "nav",
    "noscript",
    "template",
    "svg",
    "iframe",
    "object",
    "audio",
    "video",
    "canvas",
    "datalist",
    "noembed",
    "noframes",
    "button",
    "select",
    "textarea",
    "head",
]
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_BLOCKS = {
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "caption",
    "center",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "header",
    "hr",
    "html",
    "legend",
    "li",
    "main",
    "ol",
    "p",
    "pre",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "tr",
    "ul",
} | _HEADINGS.keys()
_SPACES = re.compile(r"[ \t\n\r\f]+")
_DECLARATION = re.compile(r"<\?(?=xml)", re.IGNORECASE)
_COMMENT = r"<!--(?:(?!-->).)*+-->"
_INSTRUCTION = r"<\?(?:(?!\?>).)*+\?>"
_QUOTED = r'"[^"]*+"|\'[^\']*+\''
_GRAMMAR = re.compile(
    rf"\A(?P<before>(?:\s++|{_INSTRUCTION}|{_COMMENT})*+)<!doctype(?:[^\[>\"']|{_QUOTED})*+"
    rf"\[(?:[^\]<\"']|{_QUOTED}|{_COMMENT}|{_INSTRUCTION}|<(?!!--|\?))*+\]\s*+>",
    re.IGNORECASE | re.DOTALL,
)
"""A document type with an internal subset, which HTML does not have. It can only stand at the
beginning of a page, so it is sought once."""
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n)+")
_RAISED = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
_RAISABLE = re.compile(r"[\d+\-−,–\s]{1,20}")


_ASCII = rb"\x41 +AGE- <a>"


def _as_declared(data: bytes) -> bytes:
    """A page in UTF-8 that is written in the encoding that its head declares, as browsers read it;
    unchanged if it is UTF-8 already, or declares none whose ASCII is ASCII (as UTF-7's is not).

    ISO-8859-1 is read as windows-1252 (WHATWG Encoding Standard 4.2).
    """
    try:
        data.decode()
    except UnicodeDecodeError:
        declared = EncodingDetector.find_declared_encoding(data[:4096], is_html=True) or ""
        try:
            name = codecs.lookup(declared).name
            if _ASCII.decode(name).encode() == _ASCII:
                return data.decode("cp1252" if name == "iso8859-1" else name, "replace").encode()
        except (LookupError, ValueError):
            pass
    return data


def read_html(data: bytes, filename: str) -> SourceRecord:
    """An HTML page: `h1`..`h6` become `#` headings, list items `-` or numbers, table rows `a | b`.

    Scripts, styles, navigation, form controls and hidden parts (`hidden`) are left out, entities
    are decoded, and superscript digits are kept as such (10<sup>9</sup> is 10⁹, not 109). The title
    is the `h1`, else the `title`, else the file's name.
    A page that is not UTF-8 is read in the encoding that it declares.
    Raises UnreadableDocument as `decode` does, and if no text is left.
    """
    # The file is read as HTML, whatever it declares.
    decoded = decode(_as_declared(data))
    source = _DECLARATION.sub("<?no ", _GRAMMAR.sub(r"\g<before>", decoded, count=1))
    if source.count("<") > MAX_TAGS:
        raise UnreadableDocument(
            f"the page has more than {MAX_TAGS:,} tags; split it or save it as text"
        )
    if "<" not in source:
        return record(file_title(filename), html.unescape(source))
    # NUL references would give characters that cannot be stored
    soup = BeautifulSoup(re.sub(r"&#(?:0+|[xX]0+);", "\ufffd", source), "lxml")
    page_title = soup.title.get_text() if soup.title else ""
    remove_hidden(soup)
    for tag in soup.find_all(_DROPPED):
        tag.decompose()
    first = soup.find("h1")
    heading = _words(first) if first is not None else ""
    _raise_digits(soup)
    _flatten_tables(soup)
    text = "".join(_lines(soup))
    text = _BLANK_LINES.sub("\n\n", text).strip("\n")
    if not text.strip():
        raise UnreadableDocument("the page has no text of its own; save it as it is displayed")
    return record(clean_title(heading) or clean_title(page_title) or file_title(filename), text)


def _raise_digits(soup: BeautifulSoup) -> None:
    """Turn digits in `sup` into superscript characters, also where each is a link: 12.5 with the
    references 3,4 must not become 12.53,4."""
    inner: set[int] = set()  # thousands may be nested: each is visited once
    for tag in soup.find_all("sup"):
        if id(tag) in inner:
            continue
        inner.update(map(id, tag.find_all("sup")))
        words = tag.get_text()
        if _RAISABLE.fullmatch(words):
            tag.string = words.strip().translate(_RAISED)


def _flatten_tables(soup: BeautifulSoup) -> None:
    """Replace each data table by its rows as lines; layout tables are kept.

    Words of the table that are in none of its cells come first: browsers show them there.
    """
    layout = _around_tables_and_headings(soup)
    for table in soup.find_all("table"):
        if id(table) in layout:
            continue
        grid, rows = Grid(), []
        for row in table.find_all("tr"):
            cells = [
                Cell(
                    _words(cell), *(span(_attribute(cell, name)) for name in ("rowspan", "colspan"))
                )
                for cell in row.find_all(["td", "th"])
            ]
            laid = grid.row(cells)
            if any(cell.text for cell in cells):
                rows.append(" | ".join(laid))
        for cell in table.find_all(["td", "th"]):
            cell.decompose()
        rest = _words(table)  # the caption, and words in no cell
        if rest:
            rows.insert(0, f"{rest}\n" if rows else rest)
        block = soup.new_tag("pre")
        block.string = "\n".join(rows)
        table.replace_with(block)


def _around_tables_and_headings(soup: BeautifulSoup) -> set[int]:
    """The ids of all tags that hold a table or a heading. Each is visited once: a search in every
    table would be quadratic in the nesting."""
    around: set[int] = set()
    for inner in soup.find_all(["table", *_HEADINGS]):
        for tag in inner.parents:
            if id(tag) in around:
                break
            around.add(id(tag))
    return around


def _attribute(tag: Tag, name: str) -> str | None:
    value = tag.get(name)
    return value if isinstance(value, str) else None


def _words(tag: Tag) -> str:
    """The text of a cell or heading on one line; blocks and breaks within it separate words."""
    parts: list[str] = []
    for node in tag.descendants:
        if isinstance(node, Tag):
            if node.name == "br" or node.name in _BLOCKS:
                parts.append(" ")
        elif type(node) is NavigableString:
            parts.append(node)
    return _plain("".join(parts))


def _plain(text: str) -> str:
    return _SPACES.sub(" ", text).strip(" ")


def _lines(soup: BeautifulSoup) -> Iterator[str]:
    """The text of the blocks in order, with the white space between them."""
    blocks: dict[int, Tag | None] = {}
    current: Tag | None = None
    parts: list[str] = []
    marks = _ItemMarks()
    for node in soup.descendants:
        if isinstance(node, Tag):
            blocks[id(node)] = node if node.name in _BLOCKS else blocks.get(id(node.parent))
            if node.name == "br":
                parts.append("\v")  # distinct from white space, which is collapsed
            continue
        if type(node) is not NavigableString:
            continue  # comments, declarations
        block = blocks.get(id(node.parent))
        if block is not current:
            yield _block_text(current, parts, marks)
            current, parts = block, []
        parts.append(str(node))
    yield _block_text(current, parts, marks)


def _block_text(block: Tag | None, parts: list[str], marks: "_ItemMarks") -> str:
    joined = "".join(parts)
    if block is not None and block.name == "pre":
        return f"\n\n{joined.strip()}\n\n" if joined.strip() else ""
    text = "\n".join(_plain(line) for line in _plain(joined).split("\v")).strip()
    if not text:
        return ""
    if block is None:
        return f"\n\n{text}\n\n"
    if block.name in _HEADINGS:
        return f"\n\n{_HEADINGS[block.name]}{' '.join(text.split())}\n\n"
    mark = marks.of(block)
    return f"\n{mark}{text}" if mark else f"\n\n{text}\n\n"


class _ItemMarks:
    """Gives each list item its mark once: a dash, or its number in an ordered list."""

    def __init__(self) -> None:
        self._given: set[int] = set()
        self._count: dict[int, int] = {}

    def of(self, block: Tag) -> str:
        """The mark for the first text of the list item that `block` is, or is a child of."""
        item = block if block.name == "li" else block.parent
        if item is None or item.name != "li" or id(item) in self._given:
            return ""
        self._given.add(id(item))
        if item.parent is None or item.parent.name != "ol":
            return "- "
        before = self._count.get(id(item.parent))
        if before is None:
            before = (whole(_attribute(item.parent, "start")) or 1) - 1
        number = whole(_attribute(item, "value")) or before + 1
        self._count[id(item.parent)] = number
        return f"{number}. "
