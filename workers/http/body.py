"""Reads a response body up to a limit, which applies before and after decompression."""

import zlib
from collections.abc import Iterable, Iterator

_GZIP = 16 + zlib.MAX_WBITS
_STEP = 1024 * 1024


class Oversized(Exception):
    """The body exceeds the limit; the rest was not read."""


class Undecodable(Exception):
    """The body does not match its Content-Encoding, or is truncated."""


def read_body(chunks: Iterable[bytes], encoding: str, limit: int) -> bytes:
    """The body whose raw bytes come in `chunks`; `encoding` is its Content-Encoding.

    Bytes are decompressed in steps of 1 MiB, so a decompression bomb is noticed in time.

    Raises:
        Oversized: the raw or the decoded body is larger than `limit` bytes.
        Undecodable: it does not match its Content-Encoding, or is truncated.
    """
    encodings = [name for part in encoding.lower().split(",") if (name := part.strip())]
    raw = _limited(chunks, limit)
    if encodings in ([], ["identity"]):
        return b"".join(raw)
    if encodings in (["gzip"], ["x-gzip"]):
        return b"".join(_limited(_gunzip(raw), limit))
    raise Undecodable("it is compressed in a way that was not asked for")


def _limited(chunks: Iterable[bytes], limit: int) -> Iterator[bytes]:
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > limit:
            raise Oversized
        yield chunk


def _gunzip(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Decompress gzip members one after the other (RFC 1952, 2.2)."""
    member = None
    for chunk in chunks:
        rest = chunk
        while rest:
            member = member or zlib.decompressobj(_GZIP)
            try:
                yield member.decompress(rest, _STEP)
            except zlib.error:
                raise Undecodable("its compression is broken") from None
            if member.eof:
                rest, member = member.unused_data, None
            else:
                rest = member.unconsumed_tail
    if member is not None:
        raise Undecodable("it ends in the middle")
