"""The entries of a `PubmedArticleSet`, one tree at a time.

A set of hundreds of records as one tree is many megabytes of small objects: walking them waits for
memory and keeps the garbage collector busy. So each record is read by itself where a set is written
as PubMed writes it; any other is read whole, which gives the same entries or the same error.
"""

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element, ParseError, XMLParser

_SPACE = re.compile(rb"[ \t\r\n]*+")
_HEAD = re.compile(
    rb'(?:<\?xml version="1\.0"(?: encoding="[Uu][Tt][Ff]-8")? ?\?>)?[ \t\r\n]*+'
    rb"(?:<!DOCTYPE (?:PubmedArticleSet|MedlineCitationSet)"
    rb'(?: PUBLIC "[\w ,./-]*+"[ \t\r\n]++"[\w:/.-]*+"| SYSTEM "[\w:/.-]*+")?>[ \t\r\n]*+)?'
    rb"<(PubmedArticleSet|MedlineCitationSet)>[ \t\r\n]*+",
    re.ASCII,
)
_TAG = re.compile(rb"<(PubmedArticle|PubmedBookArticle|MedlineCitation|DeleteCitation)(?=[\s>])")
_DEEP = 30
"""Records of PubMed are some 10 deep. What is deeper than this is read whole, and judged there."""


class NotCut(Exception):
    """The set is not written as PubMed writes it: read it whole."""


def entries(payload: bytes) -> Iterator[Element]:
    """The entries in their order. Raises NotCut, at any of them.

    Each is cut from its tag to the next end tag of that name, and read as a document. That this
    succeeds, with nothing but white space between them, shows that the cuts are right: a parser of
    the whole would find the same there. No entity can be declared in an element, so none is used.
    """
    head = _HEAD.match(payload)
    if head is None:
        raise NotCut
    root_end = b"</%s>" % head[1]
    at = head.end()
    while tag := _TAG.match(payload, at):
        end_tag = b"</%s>" % tag[1]
        end = payload.find(end_tag, at) + len(end_tag)
        if end < at:
            raise NotCut
        yield _read(payload[at:end])
        space = _SPACE.match(payload, end)
        at = space.end() if space else end
    if payload[at:].rstrip(b" \t\r\n") != root_end:
        raise NotCut


def _read(piece: bytes) -> Element:
    try:
        parser = XMLParser()  # noqa: S314 - nothing is declared in an element
        parser.feed(piece)
        entry: Element = parser.close()
    except (ParseError, ValueError):
        raise NotCut from None
    level = [entry]
    for _ in range(_DEEP):
        level = [child for element in level for child in element]
        if not level:
            return entry
    raise NotCut
