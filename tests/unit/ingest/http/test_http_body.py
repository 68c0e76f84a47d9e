"""Bodies: what comes out is what was sent, and never more than the limit."""

import contextlib
import gzip
import zlib
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.http.body import Oversized, Undecodable, read_body

LIMIT = 100_000


def chunks(data: bytes, size: int) -> Iterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


@given(
    st.lists(st.binary(max_size=3000), max_size=4),
    st.integers(1, 500),
    st.sampled_from(["", "identity", "gzip", "X-GZIP", " gzip ,"]),
)
def test_a_body_comes_out_as_it_was_however_it_is_cut_up(
    parts: list[bytes], size: int, encoding: str
) -> None:
    packed = "gzip" in encoding.lower()
    data = b"".join(gzip.compress(part) if packed else part for part in parts)
    assert read_body(chunks(data, size), encoding, LIMIT) == b"".join(parts)


@given(st.binary(min_size=1, max_size=2000), st.data())
def test_a_compressed_body_that_ends_early_is_noticed(body: bytes, data: st.DataObject) -> None:
    packed = gzip.compress(body)
    kept = data.draw(st.integers(1, len(packed) - 1))
    with pytest.raises(Undecodable):
        read_body([packed[:kept]], "gzip", LIMIT)


@given(st.binary(max_size=3000), st.integers(0, 400), st.binary(max_size=5))
def test_whatever_calls_itself_gzip_is_read_or_refused(body: bytes, at: int, other: bytes) -> None:
    packed = gzip.compress(body)
    broken = packed[:at] + other + packed[at + 1 :]
    with contextlib.suppress(Undecodable, Oversized):
        assert len(read_body(chunks(broken, 100), "gzip", LIMIT)) <= LIMIT


def test_the_limit_counts_before_and_after_decompression() -> None:
    assert len(read_body([bytes(10)], "", 10)) == 10
    for data, encoding in (
        (bytes(11), ""),
        (gzip.compress(bytes(11)), "gzip"),
        (gzip.compress(b"") * 2, "gzip"),
    ):
        with pytest.raises(Oversized):
            read_body(chunks(data, 3), encoding, 10)


def test_a_bomb_is_not_unpacked_beyond_the_limit() -> None:
    unpacked = 0

    def bomb() -> Iterator[bytes]:
        nonlocal unpacked
        maker = zlib.compressobj(9, wbits=31)
        for _ in range(1000):
            unpacked += 1_000_000
            yield maker.compress(bytes(1_000_000))

    with pytest.raises(Oversized):
        read_body(bomb(), "gzip", 5_000_000)
    assert unpacked < 60_000_000, "a raw chunk is 16 KiB of zeros' compression at most"


@pytest.mark.parametrize("encoding", ["br", "deflate", "gzip, gzip", "zstd", "\x00"])
def test_a_compression_that_was_not_asked_for_is_refused(encoding: str) -> None:
    with pytest.raises(Undecodable, match="not asked for"):
        read_body([b"a"], encoding, LIMIT)
