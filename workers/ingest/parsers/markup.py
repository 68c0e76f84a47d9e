"""Running text inside XML: inline markup, raised digits, formulas.

Text is kept as written, with two exceptions. XML white space (spaces, tabs, line ends) becomes one
space, because files are indented; other spaces, such as no-break and thin spaces, are kept. Raised
digits become Unicode superscripts: without its tags, 10<sup>9</sup> would read 109.
"""

import re
from collections.abc import Callable
from xml.etree.ElementTree import Element

_SPACE = re.compile(r"[ \t\n\r]+")
_RAISABLE = re.compile(r"[0-9+\-−,–\s]{1,20}")
_RAISED = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")

# Blocks inside a cell, caption or list item, all of which are written on one line. A space parts
# their words: otherwise 12.5 and (10.1) in one cell would read 12.5(10.1).
_PARTING = frozenset(
    {"p", "title", "list", "list-item", "def-list", "def-item", "term", "def", "fn", "break",
     "disp-formula", "disp-quote", "verse-line", "boxed-text", "statement", "preformat", "code",
     "sec", "caption", "fig", "table-wrap", "table", "tr", "td", "th"}
)  # fmt: skip

_NOT_RUNNING = frozenset({"alt-text", "long-desc", "index-term", "object-id", "graphic"})

MATHML = "{http://www.w3.org/1998/Math/MathML}"


def words(element: Element | None) -> str:
    """All text of `element` on one line; "" for None."""
    if element is None:
        return ""
    text = element.text
    if len(element):
        parts: list[str] = []
        _collect(element, parts)
        text = "".join(parts)
    if not text:
        return ""
    if text.isalnum():
        return text  # a single word, as in half of all fields
    # same as `squeeze`, without a function call for each of a record's hundred fields
    if "\n" in text or "  " in text or "\t" in text or "\r" in text:
        text = _SPACE.sub(" ", text)
    return text.strip(" ")


def squeeze(text: str) -> str:
    """`text` with XML white space collapsed to single spaces and stripped from both ends."""
    # four substring searches are far faster than one pattern search
    if "\n" in text or "  " in text or "\t" in text or "\r" in text:
        text = _SPACE.sub(" ", text)
    return text.strip(" ")


def add_inline(child: Element, parts: list[str]) -> None:
    """Append the text of `child`, an element within running text, without its tail.

    Of JATS `alternatives`, one is taken: MathML if present. Picture descriptions and index terms
    are not running text and are left out.
    """
    tag = child.tag
    if tag == "sup":
        inner: list[str] = []
        _collect(child, inner)
        parts.append(raised("".join(inner)))
    elif tag.startswith(MATHML):
        parts.append(formula(child))
    elif tag == "alternatives":
        chosen = child.find(f"{MATHML}math")
        for alternative in [chosen] if chosen is not None else child[:1]:
            add_inline(alternative, parts)
    elif tag in _PARTING:
        parts.append(" ")
        _collect(child, parts)
        parts.append(" ")
    elif tag == "tex-math":
        parts.append(_tex(child.text or ""))
    elif tag not in _NOT_RUNNING:
        _collect(child, parts)


def _tex(text: str) -> str:
    """A TeX formula without the LaTeX document that some publishers wrap around it."""
    _, begin, inner = text.partition("\\begin{document}")
    return inner.partition("\\end{document}")[0] if begin else text


def raised(text: str) -> str:
    """`text` in Unicode superscripts if it is only digits and signs; otherwise unchanged."""
    return text.strip().translate(_RAISED) if _RAISABLE.fullmatch(text) else text


def _collect(element: Element, parts: list[str]) -> None:
    if element.text:
        parts.append(element.text)
    for child in element:
        add_inline(child, parts)
        if child.tail:
            parts.append(child.tail)


def formula(element: Element) -> str:
    """A MathML element as a line of text: fractions with a slash, exponents raised or after `^`.

    White space between elements and annotations (the same formula in TeX) are left out.
    """
    name = element.tag.removeprefix(MATHML)
    if name in _SILENT:
        return ""
    if name == "mmultiscripts":
        return _multiscripts(element)
    inner = [formula(child) for child in element]
    if len(inner) >= 2 and name in _RENDERED:
        return _RENDERED[name](inner)
    if name in ("msqrt", "mroot"):
        return f"√{_grouped(''.join(inner))}"
    if not inner:
        return (
            _SPACE.sub(" ", element.text or "") if name == "mtext" else squeeze(element.text or "")
        )
    # text and tails hold indentation; words there, though not allowed in MathML, are kept
    tails = "".join(squeeze(child.tail) for child in element if child.tail)
    return squeeze(element.text or "") + "".join(inner) + tails


def _grouped(text: str) -> str:
    return text if len(text) == 1 or text.isalnum() else f"({text})"


def _power(base: str, exponent: str) -> str:
    if not exponent or _RAISABLE.fullmatch(exponent):
        return base + raised(exponent)
    return f"{base}^{_grouped(exponent)}"


def _multiscripts(element: Element) -> str:
    """Read a base, then pairs of sub- and superscripts after it, then those written before it."""
    base, before, behind = "", "", ""
    index, leading = -1, False
    for child in element:
        if child.tag == f"{MATHML}mprescripts":
            index, leading = 0, True
            continue
        script = formula(child)
        if index < 0:
            base = script
        elif leading:
            before = _power(before, script) if index % 2 else before + script
        else:
            behind = _power(behind, script) if index % 2 else behind + script
        index += 1
    return before + base + behind


_SILENT = frozenset({"annotation", "annotation-xml", "mprescripts", "none"})

_RENDERED: dict[str, Callable[[list[str]], str]] = {
    "msup": lambda parts: _power(parts[0], "".join(parts[1:])),
    "msubsup": lambda parts: _power(parts[0] + parts[1], "".join(parts[2:])),
    "mfrac": lambda parts: f"{_grouped(parts[0])}/{_grouped(''.join(parts[1:]))}",
}
