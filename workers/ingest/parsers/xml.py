"""XML of sources, read into trees: no entity is ever expanded, nothing outside is ever fetched.

Entities can only be declared before the root element. So `defusedxml` reads each document up to
there with its guards on and refuses any declaration; the rest, which by then has none but the five
entities of XML itself, goes to the faster parser of the standard library.
"""

from contextlib import suppress
from itertools import chain
from xml.etree.ElementTree import Element, ParseError, XMLParser
from xml.parsers.expat import ErrorString, ExpatError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from workers.http.errors import Malformed

MAX_DEPTH = 200
"""Elements inside each other. JATS tables and formulas reach about 30."""

_PROLOGUE_CHUNK = 1024

# an encoding that Python does not know is a LookupError, one that does not fit a ValueError
_ERRORS = (ParseError, ExpatError, DefusedXmlException, RecursionError, LookupError, ValueError)


class _RootReached(Exception):
    """The guard has seen all that stands before the root element."""


class _Prologue:
    """Where the guard's parser sends elements: it needs none."""

    def start(self, *_: object) -> None:
        raise _RootReached


def _guard(content: bytes) -> None:
    """Read a document up to its root element, with the guards of `defusedxml` on.

    Raises DefusedXmlException and ParseError.
    """
    parser = DefusedXMLParser(
        target=_Prologue(), forbid_dtd=False, forbid_entities=True, forbid_external=True
    )
    with suppress(_RootReached):
        for start in range(0, len(content), _PROLOGUE_CHUNK):
            parser.feed(content[start : start + _PROLOGUE_CHUNK])


def parse_xml(content: bytes) -> Element:
    """The tree of a whole document. Names with a namespace are `{uri}name`.

    Raises Malformed: not well-formed or truncated, declares entities, refers to something outside
    that it needs, or is nested deeper than MAX_DEPTH.
    """
    try:
        _guard(content)
        parser = XMLParser()  # noqa: S314 - behind the guard: see the head of the module
        parser.feed(content)
        root: Element = parser.close()
    except _ERRORS as error:
        raise Malformed(_why(error)) from None
    _check_depth(root)
    return root


_TOO_DEEP = f"the XML is nested more than {MAX_DEPTH} elements deep"


def _check_depth(root: Element) -> None:
    level = [root]
    for _ in range(MAX_DEPTH - 1):
        # of all children of the level above, those that have children themselves
        level = list(filter(len, chain.from_iterable(level)))
        if not level:
            return
    raise Malformed(_TOO_DEEP)


def _why(error: Exception) -> str:
    """One line on what is wrong, without words of the document."""
    if isinstance(error, DefusedXmlException):
        return "the XML declares entities or refers to something outside: refused"
    if isinstance(error, ParseError | ExpatError):
        line, column = getattr(error, "position", (error.lineno, error.offset))
        return f"not well-formed XML: {ErrorString(error.code)}, line {line}, column {column}"
    if isinstance(error, RecursionError):
        return _TOO_DEEP
    return "not XML: its encoding is unknown or does not fit"
