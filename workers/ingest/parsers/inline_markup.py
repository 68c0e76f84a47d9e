"""Converts the HTML-like markup in Europe PMC and Crossref titles and abstracts to plain text.

Only known tags are treated as tags: `<1 year` and `x <y and z> w` are words. Entities are decoded
first, because some titles come with their tags escaped.
"""

import html
import re

from workers.ingest.parsers.markup import raised, squeeze

_TAG = re.compile(
    r"<(/?)(?:(jats|mml):)?([A-Za-z][A-Za-z0-9-]*+)"
    r"(?:\s++[\w:.-]++\s*+=\s*+(?:\"[^\"<>]*+\"|'[^'<>]*+'))*+\s*+/?>"
)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_INLINE_TAGS = """
    a b bold em ext-link font i inf inline-formula ital italic label monospace named-content roman
    s sans-serif sc small span strike strong sub sup tt u underline xref
    math mfenced mfrac mi mn mo mover mrow ms mspace msqrt mstyle msub msubsup msup mtext munder
    semantics
"""
_BREAKING_TAGS = """
    abstract br disp-formula div li list list-item ol p sec section table tbody td th tr ul
"""
_INLINE = frozenset(_INLINE_TAGS.split())
_BREAKS = frozenset(_BREAKING_TAGS.split())
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "title"})
_MAX_HEADING = 300  # longer ones are running text: clinical_text.headings.MAX_HEADING


def words(markup: str) -> str:
    """The text on one line: tags dropped, entities decoded, white space collapsed."""
    return " ".join(text for _, text in _blocks(markup))


def paragraphs(markup: str) -> str:
    """The text as paragraphs; a heading (`<h4>Methods</h4>`) becomes a line `## Methods`.

    A heading directly above another heading is one level higher. White space within a paragraph is
    collapsed; raised digits stay raised (10<sup>9</sup> is 10⁹, not 109).
    """
    lines: list[str] = []
    before = False
    for heading, text in _blocks(markup):
        if heading and before:
            lines[-1] = lines[-1].removeprefix("#")
        lines.append(f"## {text}" if heading else text)
        before = heading
    return "\n\n".join(lines)


def _blocks(markup: str) -> list[tuple[bool, str]]:
    """The blocks of text in order, as pairs (is a heading, text)."""
    text = _ENTITY.sub(lambda match: html.unescape(match[0]), markup)
    blocks: list[tuple[bool, str]] = []
    parts: list[str] = []
    heading, sup, end = False, -1, 0

    def close() -> None:
        words = squeeze("".join(parts))
        if words:
            blocks.append((heading and len(words) <= _MAX_HEADING, words))
        parts.clear()

    for tag in _TAG.finditer(text):
        closing, prefix, name = tag[1] == "/", tag[2], tag[3].lower()
        block = name in _BREAKS or name in _HEADINGS
        if prefix != "mml" and not block and name not in _INLINE:
            continue
        parts.append(text[end : tag.start()])
        end = tag.end()
        if block and prefix != "mml":
            close()
            heading, sup = name in _HEADINGS and not closing, -1
        elif name == "sup" and not closing:
            sup = len(parts)
        elif name == "sup" and sup >= 0:
            parts[sup:] = [raised("".join(parts[sup:]))]
            sup = -1
    parts.append(text[end:])
    close()
    return blocks
