"""Files of PubMed are cut into payloads without a tree; what is cut or hostile is malformed."""

import gzip
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.fakes.pubmed_records import Citation, article_set
from tests.grid import grid
from workers.http.errors import Malformed
from workers.ingest.parsers.pubmed.bulk import MAX_RECORD_BYTES, slices
from workers.ingest.parsers.pubmed.records import parse

SHARED = Path(__file__).resolve().parents[4].parent / "shared"
BASELINE = SHARED / "data" / "pubmed_xml" / "titipata" / "medline16n0902.xml.gz"

FILE = article_set((Citation(pmid) for pmid in range(1, 11)), deleted=[98, 99])
ALL = [f"pmid:{pmid}" for pmid in range(1, 11)]


def _cut(data: bytes, size: int = 250) -> Iterator[tuple[bytes, int]]:
    return slices(io.BytesIO(data), size)


def _until_malformed(data: bytes, size: int = 250) -> tuple[list[str], str]:
    """The keys of the records that come before the error, and the error."""
    keys: list[str] = []
    stream = _cut(data, size)
    while True:
        try:
            payload, _ = next(stream)
        except Malformed as error:
            return keys, str(error)
        except StopIteration:
            pytest.fail("no error came")
        keys += [record.key for record in parse(payload).records]


@grid("pack", [bytes, gzip.compress])
@grid("size", [1, 3, 10, 11, 250])
def test_slices_hold_all_records_in_order_and_read_alone(pack: Any, size: int) -> None:
    found = list(_cut(pack(FILE), size))
    parsed = [parse(payload) for payload, _ in found]
    assert [record.key for page in parsed for record in page.records] == ALL
    assert [key for page in parsed for key in page.gone] == ["pmid:98", "pmid:99"]
    counts = [count for _, count in found]
    assert sum(counts) == 11  # the deletions count as one
    assert all(count == size for count in counts[:-1])


@pytest.mark.skipif(not BASELINE.is_file(), reason="needs the shared data beside the repository")
def test_a_real_file_gives_the_same_records_as_when_it_is_read_whole() -> None:
    whole = parse(gzip.decompress(BASELINE.read_bytes()))
    with BASELINE.open("rb") as stream:
        pages = [parse(payload) for payload, _ in slices(stream, 100)]
    assert [record for page in pages for record in page.records] == whole.records
    assert [key for page in pages for key in page.gone] == whole.gone
    assert len(pages) == 7


@pytest.mark.parametrize("chunk", [1, 7, 4096])
def test_tags_that_fall_between_two_reads_are_found(chunk: int) -> None:
    class Slow(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(chunk)

    found = [payload for payload, _ in slices(cast("BinaryIO", Slow(FILE)), 4)]
    assert [record.key for payload in found for record in parse(payload).records] == ALL


@grid("pack", [bytes, gzip.compress])
@grid("left_out", [1, 20, 60, 500])
def test_a_truncated_file_gives_its_whole_records_and_is_malformed(
    pack: Any, left_out: int
) -> None:
    data = pack(FILE.strip())
    left_out = left_out if pack is bytes else min(left_out, 60)
    keys, error = _until_malformed(data[:-left_out], 3)
    assert keys == ALL[: len(keys)]
    assert "truncated" in error


def test_several_gzip_members_are_one_file() -> None:
    half = len(FILE) // 2
    data = gzip.compress(FILE[:half]) + gzip.compress(FILE[half:]) + b"\0" * 512
    assert sum(count for _, count in _cut(data)) == 11


@grid(
    "data",
    [
        b"",
        b"no XML",
        b"<html/>",
        b"<PubmedArticleSet>",
        b"<PubmedArticleSet><PubmedArticle>",
        b"<PubmedArticleSet><Odd/></PubmedArticleSet>",
        b"<PubmedArticleSet>words</PubmedArticleSet>",
        b"<PubmedArticleSet></PubmedArticleSet>more",
        b"<PubmedArticleSet></MedlineCitationSet>",
        b'<!DOCTYPE x [<!ENTITY y "z">]><PubmedArticleSet/>',
        '<?xml version="1.0" encoding="UTF-16"?><PubmedArticleSet/>'.encode("utf-16"),
        b'<?xml version="1.0" encoding="ISO-8859-1"?><PubmedArticleSet/>',
        FILE.replace(b"Nothing", b"<![CDATA[</PubmedArticle>]]>"),
        FILE.replace(b"Nothing", b"<!-- </PubmedArticle> -->"),
        b"\x1f\x8b\x08\x00 no gzip behind its mark",
        gzip.compress(FILE)[:-4] + b"\0\0\0\0",
    ],
)
def test_what_cannot_be_cut_is_malformed(data: bytes) -> None:
    _, error = _until_malformed(data)
    assert "\n" not in error


def test_comments_and_instructions_between_records_are_passed() -> None:
    data = FILE.replace(b"<PubmedArticle>", b"<!-- <PubmedArticle> --><?x <a>?>\n<PubmedArticle>")
    assert sum(count for _, count in _cut(data)) == 11


def test_empty_sets_have_no_slices() -> None:
    assert list(_cut(b"<PubmedArticleSet/>")) == []
    assert list(_cut(b"<PubmedArticleSet>\n</PubmedArticleSet>\n")) == []


def test_an_empty_record_is_one_of_its_own() -> None:
    data = b"<PubmedArticleSet><PubmedArticle/><PubmedArticle></PubmedArticle></PubmedArticleSet>"
    assert [count for _, count in _cut(data)] == [2]


def test_a_gzip_bomb_is_refused() -> None:
    bomb = gzip.compress(b"<PubmedArticleSet>" + b" " * 100_000_000)
    assert "proportion" in _until_malformed(bomb)[1]


def test_a_record_without_end_is_refused_before_it_fills_the_memory() -> None:
    class Endless(io.RawIOBase):
        given = 0

        def read(self, size: int = -1) -> bytes:
            first = self.given == 0
            self.given += size
            return b"<PubmedArticleSet><PubmedArticle>" if first else b"x" * size

    stream = Endless()
    with pytest.raises(Malformed, match="larger than"):
        next(slices(cast("BinaryIO", stream)))
    assert stream.given < 2 * MAX_RECORD_BYTES


def test_a_slice_needs_a_size() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        next(_cut(FILE, 0))


@examples(200)
@given(
    st.lists(
        st.tuples(st.integers(0, len(FILE)), st.integers(0, 60), st.binary(max_size=10)), max_size=3
    ),
    st.integers(1, 12),
)
def test_mutated_files_give_slices_or_malformed(
    changes: list[tuple[int, int, bytes]], size: int
) -> None:
    data = FILE
    for at, length, new in changes:
        data = data[:at] + new + data[at + length :]
    _survives(data, size)


def _survives(data: bytes, size: int) -> None:
    stream = _cut(data, size)
    while True:
        try:
            payload, count = next(stream)
        except (StopIteration, Malformed):
            return
        assert 0 < count <= size
        assert re.match(rb"<\?xml [^>]*>\n<(PubmedArticleSet|MedlineCitationSet)>\n", payload)
