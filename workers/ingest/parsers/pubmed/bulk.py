"""Cuts PubMed's yearly and daily files into payloads that `pubmed.parse` reads.

The files hold 30,000 records in about 200 MB to 1 GB. They are never parsed into a tree: the bytes
are searched for the tags of records, and memory holds one slice and one chunk.
"""

import re
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from workers.http.errors import Malformed

CHUNK = 256 * 1024
MAX_RECORD_BYTES = 32 * 1024 * 1024
"""Our own limit. The longest records, of collaborations with thousands of authors, have about 2 MB.
A slice also ends when it exceeds this size."""
MAX_RATIO = 200
"""Decompressed bytes per compressed byte. PubMed's files have 6 to 12."""
_RATIO_FREE = 16 * 1024 * 1024  # bytes before the ratio counts
_MEMBERS = 1000  # gzip members allowed; PubMed's files have one

_RECORDS = frozenset(
    {b"PubmedArticle", b"PubmedBookArticle", b"MedlineCitation", b"DeleteCitation"}
)
_ROOTS = frozenset({b"PubmedArticleSet", b"MedlineCitationSet"})
_TAG = re.compile(rb"<([A-Za-z]{1,40})(?=[\s/>])")
_ENCODING = re.compile(rb"""encoding\s*=\s*["']([^"']{1,40})["']""")
_SPACE = re.compile(rb"[ \t\r\n]*+")


def slices(stream: BinaryIO, records_per_slice: int = 250) -> Iterator[tuple[bytes, int]]:
    """Yield well-formed sets of at most `records_per_slice` records, in file order, each with its
    number of records; a `DeleteCitation` counts as one.

    `stream` is XML or gzipped XML, recognized by its first bytes. Records are copied byte for byte;
    the DOCTYPE is dropped, so its entities cannot be used.

    Raises Malformed if the file is truncated, not a set of PubMed records or not UTF-8, has markup
    that PubMed does not write (CDATA, comments within a record), has a record larger than
    MAX_RECORD_BYTES, or is compressed more than MAX_RATIO times. All good records before the error
    are yielded first.
    """
    if records_per_slice < 1:
        raise ValueError("records_per_slice must be at least 1")
    cutter = _Cutter(_chunks(stream))
    root = b""
    held: list[bytes] = []
    size = 0
    problem: Malformed | None = None
    try:
        root = cutter.root()
        while (entry := cutter.record()) is not None:
            held.append(entry)
            size += len(entry)
            if len(held) == records_per_slice or size > MAX_RECORD_BYTES:
                yield _payload(root, held), len(held)
                held, size = [], 0
        cutter.finish(root)
    except Malformed as error:
        problem = error
    if held:
        yield _payload(root, held), len(held)
    if problem:
        raise problem


def _payload(root: bytes, records: list[bytes]) -> bytes:
    return b'<?xml version="1.0" encoding="UTF-8"?>\n<%s>\n%s\n</%s>\n' % (
        root,
        b"\n".join(records),
        root,
    )


def _chunks(stream: BinaryIO) -> Iterator[bytes]:
    """The XML in pieces of at most CHUNK bytes."""
    first = stream.read(CHUNK)
    if first[:2] != b"\x1f\x8b":
        while first:
            yield first
            first = stream.read(CHUNK)
        return
    yield from _unzipped(stream, first)


def _unzipped(stream: BinaryIO, data: bytes) -> Iterator[bytes]:
    """Decompress a gzip file of one or more members. Raises Malformed."""
    unzip = zlib.decompressobj(31)
    read = produced = members = 0
    while data:
        read += len(data)
        while True:
            if unzip.eof:
                if not data.strip(b"\0"):
                    break  # padding
                members += 1
                unzip = zlib.decompressobj(31)
            try:
                out = unzip.decompress(data, CHUNK)
            except zlib.error:
                raise Malformed("the gzip file is damaged") from None
            produced += len(out)
            if members > _MEMBERS or (produced > _RATIO_FREE and produced > read * MAX_RATIO):
                raise Malformed("the gzip file grows out of all proportion: refused")
            if out:
                yield out
            data = unzip.unused_data if unzip.eof else unzip.unconsumed_tail
            # a full piece may leave more output pending although all input is used
            if not data and (unzip.eof or len(out) < CHUNK):
                break
        data = stream.read(CHUNK)
    if not unzip.eof:
        raise Malformed("the gzip file is truncated")


class _Cutter:
    """Cuts a document into its parts, reading one chunk at a time."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._buffer = bytearray()
        self._at = 0
        self._closed = False  # True if the root element is empty and closes itself

    def root(self) -> bytes:
        """Skip everything before the records and return the name of the root element."""
        self._skip_space()
        if self._starts(b"\xef\xbb\xbf"):
            self._at += 3
        if self._starts(b"<?xml"):
            declaration = self._through(b"?>")
            encoding = _ENCODING.search(declaration)
            if encoding and encoding[1].lower() not in (b"utf-8", b"us-ascii", b"ascii"):
                raise Malformed("the file is not in UTF-8")
        while True:
            self._skip_misc()
            if not self._starts(b"<!DOCTYPE"):
                break
            if b"[" in self._through(b">"):
                raise Malformed("the document type declares something: refused")
        tag = self._tag()
        if tag not in _ROOTS:
            raise Malformed("not a file of PubMed records: the root element is another")
        opening = self._through(b">")
        self._closed = opening.endswith(b"/>")
        return tag

    def record(self) -> bytes | None:
        """The next record as written, or None at the end of the root element."""
        if self._closed:
            return None
        self._skip_misc()
        if self._starts(b"</"):
            return None
        tag = self._tag()
        if tag not in _RECORDS:
            raise Malformed("an element among the records is none")
        self._drop_read()
        entry = self._through(b">")
        if not entry.endswith(b"/>"):
            entry += self._through(b"</%s>" % tag)
        if b"<!" in entry or b"<?" in entry:
            raise Malformed("a record holds a comment, CDATA or an instruction: not cut")
        return entry

    def finish(self, root: bytes) -> None:
        """Check that the root element is closed and nothing follows."""
        if not self._closed and self._through(b">").split(b">")[0].rstrip() != b"</%s" % root:
            raise Malformed("the file does not end where its records do")
        self._skip_misc(at_end=True)
        if self._at < len(self._buffer):
            raise Malformed("more follows the last record")

    def _skip_misc(self, *, at_end: bool = False) -> None:
        """Skip white space, comments and processing instructions."""
        while True:
            self._skip_space(at_end=at_end)
            if self._starts(b"<!--"):
                self._through(b"-->")
            elif self._starts(b"<?"):
                self._through(b"?>")
            else:
                return

    def _skip_space(self, *, at_end: bool = False) -> None:
        while True:
            space = _SPACE.match(self._buffer, self._at)
            self._at = space.end() if space else self._at
            if self._at < len(self._buffer):
                return
            self._buffer.clear()
            self._at = 0
            if not self._more():
                if at_end:
                    return
                raise Malformed("the file is truncated")

    def _starts(self, mark: bytes) -> bool:
        while len(self._buffer) - self._at < len(mark) and self._more():
            pass
        return self._buffer.startswith(mark, self._at)

    def _tag(self) -> bytes:
        """The name of the element that begins here."""
        self._starts(b"<" + b" " * 45)
        tag = _TAG.match(self._buffer, self._at)
        if tag is None:
            raise Malformed("not XML: no element stands where one should")
        return tag[1]

    def _through(self, mark: bytes) -> bytes:
        """Consume and return everything up to the end of the next `mark`."""
        look = self._at
        while (end := self._buffer.find(mark, look)) < 0:
            look = max(self._at, len(self._buffer) - len(mark) + 1)
            if len(self._buffer) - self._at > MAX_RECORD_BYTES:
                raise Malformed(f"a record is larger than {MAX_RECORD_BYTES:,} bytes")
            if not self._more():
                raise Malformed("the file is truncated")
        start, self._at = self._at, end + len(mark)
        return bytes(self._buffer[start : self._at])

    def _drop_read(self) -> None:
        if self._at > CHUNK:
            del self._buffer[: self._at]
            self._at = 0

    def _more(self) -> bool:
        chunk = next(self._chunks, b"")
        self._buffer += chunk
        return bool(chunk)
