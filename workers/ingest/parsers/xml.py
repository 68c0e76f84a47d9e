"""Reads XML of sources into trees, without expanding entities or fetching anything external.

Entities can only be declared before the root element. So `defusedxml` reads each document up to
there with its guards on and refuses any declaration. The document then has only the five predefined
entities of XML, and the faster parser of the standard library reads it.
"""

from contextlib import suppress
from itertools import chain
from xml.etree.ElementTree import Element, ParseError, XMLParser
from xml.parsers.expat import ErrorString, ExpatError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from workers.http.errors import Malformed

MAX_DEPTH = 200
"""The deepest nesting of elements allowed. JATS tables and formulas reach about 30."""

_PROLOGUE_CHUNK = 1024

# an unknown encoding raises LookupError, bytes that do not match the encoding ValueError
_ERRORS = (ParseError, ExpatError, DefusedXmlException, RecursionError, LookupError, ValueError)


class _RootReached(Exception):
    """The guard has read everything before the root element."""


class _Prologue:
    """The target of the guard's parser, which stops at the first element."""

    def start(self, *_: object) -> None:
        raise _RootReached


def _guard(content: bytes) -> None:
    """Read a document up to its root element with the guards of `defusedxml` on.

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

    Raises Malformed if the document is truncated or not well-formed, declares entities, needs
    external content, or is nested deeper than MAX_DEPTH.
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
        # all children of the level above that have children themselves
        level = list(filter(len, chain.from_iterable(level)))
        if not level:
            return
    raise Malformed(_TOO_DEEP)


def _why(error: Exception) -> str:
    """A one-line description of the error, without words of the document."""
    if isinstance(error, DefusedXmlException):
        return "the XML declares entities or refers to something outside: refused"
    if isinstance(error, ParseError | ExpatError):
        line, column = getattr(error, "position", (error.lineno, error.offset))
        return f"not well-formed XML: {ErrorString(error.code)}, line {line}, column {column}"
    if isinstance(error, RecursionError):
        return _TOO_DEEP
    return "not XML: its encoding is unknown or does not fit"
