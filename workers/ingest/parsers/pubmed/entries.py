"""The entries of a `PubmedArticleSet`, a few in a tree at a time.

A set of hundreds of records as one tree is many megabytes of small objects: walking them waits for
memory and keeps the garbage collector busy. A parser for each record is no better: it makes the
names of all elements anew. So a set written as PubMed writes it is read some records at a time; any
other is read whole, which gives the same entries or the same error.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from xml.etree.ElementTree import Element, ParseError, XMLParser

from workers.http.errors import Malformed
from workers.ingest.parsers.base import Problem
from workers.ingest.parsers.xml import parse_xml

_SPACE = re.compile(rb"[ \t\r\n]*+")
_HEAD = re.compile(
    rb'(?:<\?xml version="1\.0"(?: encoding="[Uu][Tt][Ff]-8")? ?\?>)?[ \t\r\n]*+'
    rb"(?:<!DOCTYPE (?:PubmedArticleSet|MedlineCitationSet)"
    rb'(?: PUBLIC "[\w ,./-]*+"[ \t\r\n]++"[\w:/.-]*+"| SYSTEM "[\w:/.-]*+")?>[ \t\r\n]*+)?'
    rb"<(PubmedArticleSet|MedlineCitationSet)>[ \t\r\n]*+",
    re.ASCII,
)
_TAG = re.compile(rb"<(PubmedArticle|PubmedBookArticle|MedlineCitation|DeleteCitation)(?=[\s>])")
_TOGETHER = 100_000
"""Bytes of records from which on a tree is closed: some fifteen."""
_DEEP = 30
"""Records of PubMed are some 10 deep. What is deeper than this is read whole, and judged there."""


_PMID = re.compile(
    rb"<(?:MedlineCitation|BookDocument)\b[^<>]*>\s*<PMID\b[^<>]*>\s*([1-9][0-9]{0,8})\s*</PMID>"
)


class NotCut(Exception):
    """The set is not written as PubMed writes it: read it whole."""


def entries(payload: bytes) -> Iterator[Element]:
    """The entries in their order. Raises NotCut, at any of them.

    The set is cut behind end tags of records, and each piece is read as a document. That all of
    them are well-formed shows that the cuts are right: each begins where no element but the root is
    open, so a parser of the whole would find the same there. No entity can be declared in an
    element, so none is used.
    """
    head = _HEAD.match(payload)
    if head is None:
        raise NotCut
    root_end = b"</%s>" % head[1]
    begin = at = head.end()
    while tag := _TAG.match(payload, at):
        at = _behind(payload, tag)
        if at - begin >= _TOGETHER:
            yield from _read(payload[begin:at])
            begin = at
    yield from _read(payload[begin:at])
    if payload[at:].rstrip(b" \t\r\n") != root_end:
        raise NotCut


def apart(payload: bytes) -> Iterator[Element | Problem]:
    """The entries of a set that is not well-formed, each read by itself, and a problem for each
    that cannot be: one broken record does not keep hundreds of others away.

    Raises NotCut at once: not a whole set of records, or none of them can be read.
    """
    head = _HEAD.match(payload)
    if head is None or not payload.rstrip(b" \t\r\n").endswith(b"</%s>" % head[1]):
        raise NotCut
    pieces: list[bytes] = []
    at = head.end()
    while tag := _TAG.match(payload, at):
        begin, at = at, _behind(payload, tag)
        pieces.append(payload[begin:at].rstrip(b" \t\r\n"))
    if payload[at:].rstrip(b" \t\r\n") != b"</%s>" % head[1]:
        raise NotCut
    found = [_alone(piece) for piece in pieces]
    if not any(isinstance(one, Element) for one in found):
        raise NotCut
    return iter(found)


def _behind(payload: bytes, tag: re.Match[bytes]) -> int:
    """Where what follows the record of this tag begins. Raises NotCut: the record does not end."""
    end_tag = b"</%s>" % tag[1]
    end = payload.find(end_tag, tag.end())
    if end < 0:
        raise NotCut
    space = _SPACE.match(payload, end + len(end_tag))
    return space.end() if space else end + len(end_tag)


def _alone(piece: bytes) -> Element | Problem:
    try:
        return parse_xml(piece)
    except Malformed as error:
        pmid = _PMID.search(piece)
        return Problem(f"pmid:{pmid[1].decode('ascii')}" if pmid else None, str(error))


def _read(piece: bytes) -> Iterable[Element]:
    try:
        parser = XMLParser()  # noqa: S314 - nothing is declared in an element
        parser.feed(b"<piece>%s</piece>" % piece)
        root: Element = parser.close()
    except (ParseError, ValueError):
        raise NotCut from None
    level: Iterable[Element] = root
    for _ in range(_DEEP):
        level = list(filter(len, chain.from_iterable(level)))  # those that have children
        if not level:
            return root
    raise NotCut
