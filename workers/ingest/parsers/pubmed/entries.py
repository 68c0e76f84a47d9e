"""Reads the entries of a `PubmedArticleSet`, a few records per tree.

A set of hundreds of records as one tree is many megabytes of small objects: walking it is slow
because of memory access and garbage collection. One parser per record is no better: each parser
creates all element names anew. So a set in PubMed's own layout is read a few records at a time; any
other set is read whole, which gives the same entries or the same error.
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
"""Bytes of records after which a tree is closed: about fifteen records."""
_DEEP = 30
"""PubMed records are nested about 10 deep. A deeper set is read whole, and checked there."""


_PMID = re.compile(
    rb"<(?:MedlineCitation|BookDocument)\b[^<>]*>\s*<PMID\b[^<>]*>\s*([1-9][0-9]{0,8})\s*</PMID>"
)


class NotCut(Exception):
    """The set is not in PubMed's own layout and must be read whole."""


def entries(payload: bytes) -> Iterator[Element]:
    """The entries in order. Raises NotCut, possibly after some entries.

    The set is cut after end tags of records, and each piece is parsed as a document. If all pieces
    are well-formed, the cuts are right: each piece begins where only the root element is open, so
    parsing the whole set gives the same entries. An element cannot declare entities, so none are
    used.
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
    """The entries of a set that is not well-formed, each parsed by itself, or a Problem for an
    unreadable one, so that one broken record does not cost hundreds of others.

    Raises NotCut at once if the set is incomplete or none of its records is readable.
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
    records = [_alone(piece) for piece in pieces]
    if not any(isinstance(record, Element) for record in records):
        raise NotCut
    return iter(records)


def _behind(payload: bytes, tag: re.Match[bytes]) -> int:
    """The position after the record of this tag. Raises NotCut if the record does not end."""
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
