"""Reading a set of PubMed record by record gives what reading it as one tree gives."""

import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.examples import examples
from tests.fakes.pubmed_records import Citation, article_set
from workers.http.errors import Malformed
from workers.ingest.parsers.pubmed import entries as pubmed_entries
from workers.ingest.parsers.pubmed import records as pubmed
from workers.ingest.parsers.pubmed.entries import NotCut, entries
from workers.ingest.parsers.pubmed.records import parse

SHARED = Path(__file__).resolve().parents[4].parent / "shared"
BASELINE = SHARED / "data" / "pubmed_xml" / "titipata" / "medline16n0902.xml.gz"
SET = article_set([Citation(n, title="A <i>made-up</i> &amp; short one.") for n in (1, 2)], [9])


def _whole(payload: bytes, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What `parse` gives when nothing can be cut."""

    def refuse(_: bytes) -> Any:
        raise NotCut

    with monkeypatch.context() as patch:
        patch.setattr(pubmed, "entries", refuse)
        return _result(payload)


def _result(payload: bytes) -> Any:
    try:
        return parse(payload)
    except Malformed as error:
        return str(error)


def test_a_set_as_pubmed_writes_it_is_read_record_by_record() -> None:
    assert [entry.tag for entry in entries(SET)] == [
        "PubmedArticle",
        "PubmedArticle",
        "DeleteCitation",
    ]
    assert list(entries(b"<PubmedArticleSet></PubmedArticleSet>")) == []


@pytest.mark.parametrize("together", [1, 1500, 10**6])
def test_however_many_are_read_together(together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pubmed_entries, "_TOGETHER", together)
    payload = article_set([Citation(n, title=f"Made up {n}.") for n in range(1, 8)], [9])
    assert [entry.tag for entry in entries(payload)] == ["PubmedArticle"] * 7 + ["DeleteCitation"]
    assert parse(payload) == _whole(payload, monkeypatch)


@pytest.mark.skipif(not BASELINE.is_file(), reason="needs the shared data beside the repository")
def test_so_is_a_real_file(monkeypatch: pytest.MonkeyPatch) -> None:
    payload = gzip.decompress(BASELINE.read_bytes())
    assert len(list(entries(payload))) > 600
    assert parse(payload) == _whole(payload, monkeypatch)


@pytest.mark.parametrize(
    "payload",
    [
        SET.replace(b"<PubmedArticle>", b"<!-- x --><PubmedArticle>"),
        SET.replace(b"Nothing", b"<![CDATA[</PubmedArticle>]]>"),
        SET.replace(b"Nothing", b"<!-- </PubmedArticle> -->"),
        SET.replace(b"<PubmedArticleSet>", b'<PubmedArticleSet xmlns:m="urn:m">'),
        SET.replace(b'.dtd">', b".dtd>"),
        SET.replace(b"Nothing", b"&nothing;"),
        SET.replace(b"Nothing", b"<i>" * 40 + b"</i>" * 40),
        SET.replace(b"Nothing", b"<i>" * 400 + b"</i>" * 400),
        SET.replace(b"<PubmedArticle>", b"<PubmedArticle/><PubmedArticle>"),
        SET.replace(b"<PubmedArticle>", b"words<PubmedArticle>"),
        SET.replace(b"<PubmedArticle>", b"<Odd/><PubmedArticle>"),
        SET.replace(b"</PubmedArticleSet>", b"</MedlineCitationSet>"),
        SET.replace(b"</PubmedArticleSet>", b"</PubmedArticleSet>more"),
        b" " + SET,
        b"\xef\xbb\xbf" + SET,
        SET.decode().encode("utf-16"),
        SET[:-30],
        b"<PubmedArticleSet>\n<PubmedBookArticle>\n</PubmedArticleSet>",  # not closed
        b"",
    ],
)
def test_any_other_is_read_whole(payload: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotCut):
        list(entries(payload))
    assert _result(payload) == _whole(payload, monkeypatch)


_PLACES = sorted({at for at, byte in enumerate(SET) if byte in b"<>&\"'"})
_PIECES = [b"", b"<", b">", b"&", b"<!-- ", b" -->", b"<i>", b"</i>", b"</PubmedArticle>", b"\xff"]


@examples(200)
@example(changes=[(0, 0, b" ")], together=1)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(_PLACES) | st.integers(0, len(SET)),
            st.integers(0, 40),
            st.sampled_from(_PIECES) | st.binary(max_size=6),
        ),
        max_size=3,
    ),
    st.sampled_from([1, 2000, 100_000]),
)
def test_mutated_sets_give_the_same_either_way(
    changes: list[tuple[int, int, bytes]], together: int
) -> None:
    payload = SET
    for at, length, new in changes:
        payload = payload[:at] + new + payload[at + length :]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pubmed_entries, "_TOGETHER", together)
        assert _result(payload) == _whole(payload, patch)


@pytest.mark.parametrize("broken", [b"&#1;", b"\x02", b"a & b", b"<i>open", b"\xff"])
def test_one_record_that_is_not_well_formed_keeps_no_other_from_being_read(broken: bytes) -> None:
    payload = article_set([Citation(n, title=f"Made up {n}.") for n in range(1, 4)], [9])
    parsed = parse(payload.replace(b"Made up 2.", broken))
    assert [record.key for record in parsed.records] == ["pmid:1", "pmid:3"]
    assert parsed.gone == ["pmid:9"]
    (problem,) = parsed.problems
    assert problem.source_id == "pmid:2"
    assert problem.reason.startswith("not well-formed XML")


def test_a_record_whose_number_cannot_be_told_is_a_problem_of_nobody() -> None:
    payload = article_set([Citation(n, title=f"Made up {n}.") for n in (1, 2)], [])
    parsed = parse(payload.replace(b">2</PMID>", b">&2</PMID>"))
    assert [record.key for record in parsed.records] == ["pmid:1"]
    assert [problem.source_id for problem in parsed.problems] == [None]


@pytest.mark.parametrize(
    "payload", [SET[:-30], SET.replace(b">1</PMID>", b">&</PMID>")[:-40], SET[:-10] + b"&" + SET]
)
def test_a_set_that_is_cut_or_goes_on_is_malformed_all_the_same(payload: bytes) -> None:
    with pytest.raises(Malformed):
        parse(payload)
