"""XML of sources, read into trees: no entity is ever expanded, nothing outside is ever fetched.

Entities can only be declared before the root element. So `defusedxml` reads each document up to
there with its guards on and refuses any declaration; the rest, which by then has none but the five
entities of XML itself, goes to the faster parser of the standard library.
"""

from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from typing import Any
from xml.etree.ElementTree import Element, ParseError, XMLParser, XMLPullParser
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


class _Guard:
    """Reads a document up to its root element, with the guards of `defusedxml` on."""

    def __init__(self) -> None:
        self._parser = DefusedXMLParser(
            target=_Prologue(), forbid_dtd=False, forbid_entities=True, forbid_external=True
        )
        self._done = False

    def feed(self, content: bytes) -> None:
        """Look at the next bytes. Raises DefusedXmlException and ParseError."""
        for start in range(0, len(content), _PROLOGUE_CHUNK):
            if self._done:
                return
            try:
                self._parser.feed(content[start : start + _PROLOGUE_CHUNK])
            except _RootReached:
                self._done = True


def parse_xml(content: bytes) -> Element:
    """The tree of a whole document. Names with a namespace are `{uri}name`.

    Raises Malformed: not well-formed or truncated, declares entities, refers to something outside
    that it needs, or is nested deeper than MAX_DEPTH.
    """
    try:
        _Guard().feed(content)
        parser = XMLParser()  # noqa: S314 - behind the guard: see the head of the module
        parser.feed(content)
        root: Element = parser.close()
    except _ERRORS as error:
        raise Malformed(_why(error)) from None
    _check_depth(root)
    return root


def iter_xml(chunks: Iterable[bytes], tags: Collection[str]) -> Iterator[Element]:
    """Each element named in `tags` of a document that comes in pieces, once it is complete.

    Memory holds one such element at a time: it is emptied when the next one is asked for. One
    inside another of `tags` is not yielded by itself.

    Raises Malformed: as `parse_xml`, when the bad place is reached.
    """
    guard = _Guard()
    parser: XMLPullParser[Any] = XMLPullParser(("start", "end"))
    reader = _Reader(frozenset(tags))
    try:
        for chunk in chunks:
            guard.feed(chunk)
            parser.feed(chunk)
            yield from reader.complete(parser)
        parser.close()
        yield from reader.complete(parser)
    except Malformed:
        raise
    except _ERRORS as error:
        raise Malformed(_why(error)) from None


class _Reader:
    """Follows the open elements of a stream."""

    def __init__(self, tags: frozenset[str]) -> None:
        self._tags = tags
        self._open: list[Element] = []
        self._within = 0  # depth of the wanted element that is open; 0: none is

    def complete(self, parser: "XMLPullParser[Any]") -> Iterator[Element]:
        """Take in what `parser` has read; gives the wanted elements that ended."""
        opened = self._open
        events: Iterator[Any] = parser.read_events()
        for event, element in events:
            if event == "start":
                opened.append(element)
                if len(opened) > MAX_DEPTH:
                    raise Malformed(_TOO_DEEP)
                if not self._within and element.tag in self._tags:
                    self._within = len(opened)
                continue
            wanted = self._within == len(opened)
            opened.pop()
            if wanted:
                self._within = 0
                yield element
            if not self._within:
                element.clear()
                if opened:
                    opened[-1].remove(element)


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
