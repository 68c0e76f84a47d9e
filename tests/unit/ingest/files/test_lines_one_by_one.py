"""JSON Lines: a bad line is told with its number in the file and holds no other line back."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.documents.records import SourceRecord
from tests.grid import grid
from workers.file_formats import UnreadableDocument, lines, read, read_each
from workers.file_formats.lines import MOST_UNREADABLE


def record(title: str) -> bytes:
    return json.dumps({"title": title, "text": f"The text of {title}."}).encode()


BAD = {
    b"{": "line {}, column 2: not valid JSON",
    b'{"title": "t"}': "line {}: field 'text' is missing",
    b'{"title": "\xff", "text": "x"}': "line {}: byte 11 (0xff) is not UTF-8",
    b'{"title": "t", "text": "x"} {}': "line {}: more than one JSON value",
    b"[]": "line {}: a record is a JSON object",
    b'{"title": "t\\u200b", "text": "\\u200b"}': "line {}: without invisible characters",
    b'{"title": "t", "text": "a\x00b"}': "line {}: character 25 is NUL",
}


@grid("bad", BAD)
@grid("at", [0, 1, 2])
def test_the_other_lines_are_read_and_the_bad_one_is_told(bad: bytes, at: int) -> None:
    given = [record("one"), record("two")]
    given.insert(at, bad)
    found = read_each(b"\n".join(given), filename="a.jsonl")
    assert [one.title for one in found.records] == ["one", "two"]
    [told] = found.unreadable
    assert told.line == at + 1
    assert told.reason.startswith(BAD[bad].format(at + 1))


def test_a_packet_counts_from_its_place_in_the_file() -> None:
    found = read_each(record("one") + b"\n\n{\n", filename="a.jsonl", first_line=65)
    [told] = found.unreadable
    assert told.line == 67
    assert told.reason.startswith("line 67, column 2: not valid JSON")


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_lines_end_as_any_system_ends_them(end: bytes) -> None:
    found = read_each(
        b"\xef\xbb\xbf" + end.join([record("a"), b"{", record("b")]), filename="a.jsonl"
    )
    assert [one.title for one in found.records] == ["a", "b"]
    assert [one.line for one in found.unreadable] == [2]


def test_a_file_of_bad_lines_only_is_unreadable_as_a_whole() -> None:
    three = read_each(b'{"title": "t"}\n' * 3, filename="a.jsonl")
    assert three.error == "line 1: field 'text' is missing (3 of 3 lines)"
    assert [one.line for one in three.unreadable] == [1, 2, 3]
    one = read_each(b'{"title": "t"}\n', filename="a.jsonl", first_line=7)
    assert one.error == "line 7: field 'text' is missing"
    assert read_each(record("one") + b"\n{", filename="a.jsonl").error is None


def test_a_file_with_too_many_bad_lines_is_given_up_and_says_so() -> None:
    """It is another kind of file: nobody reads a million complaints."""
    content = record("one") + b"\n" + b"{}\n" * (MOST_UNREADABLE + 1)
    with pytest.raises(UnreadableDocument, match=r"more than 1,000 lines .*nothing of it is kept"):
        read_each(content, filename="a.jsonl")
    kept = read_each(record("one") + b"\n" + b"{}\n" * MOST_UNREADABLE, filename="a.jsonl")
    assert (len(kept.records), len(kept.unreadable)) == (1, MOST_UNREADABLE)


def test_every_other_kind_is_read_whole_or_not_at_all() -> None:
    found = read_each(b"Some words.", filename="a.txt")
    assert ([one.text for one in found.records], found.unreadable) == (["Some words."], ())
    with pytest.raises(UnreadableDocument, match="line 2"):
        read_each(b'[{"title": "t", "text": "x"},\n{}]', filename="a.json")


def test_who_compares_with_a_file_still_gets_all_of_it_or_why_not() -> None:
    with pytest.raises(UnreadableDocument, match=r"^line 2: field 'text' is missing"):
        read(record("one") + b'\n{"title": "t"}', filename="a.jsonl")
    assert isinstance(read(record("one"), filename="a.jsonl")[0], SourceRecord)


def test_blank_lines_only_are_nothing_to_read() -> None:
    with pytest.raises(UnreadableDocument, match="nothing to read"):
        read_each(b"\n \n", filename="a.jsonl")
    assert lines.LineProblem(3, "why").body() == {"line": 3, "reason": "why"}


_GOOD = st.builds(record, st.text(st.characters(codec="utf-8"), min_size=1, max_size=20))
_BLANK = st.sampled_from([b"", b" ", b"\xc2\xa0", b"\xef\xbb\xbf"])
_ANY = st.one_of(_GOOD, _BLANK, st.binary(max_size=30), st.sampled_from(list(BAD)))


@given(st.lists(_ANY, max_size=8), st.sampled_from([b"\n", b"\r\n"]), st.integers(1, 10**6))
def test_each_line_is_a_record_or_told_and_what_reads_whole_reads_the_same(
    given_lines: list[bytes], end: bytes, first: int
) -> None:
    data = end.join(given_lines)
    try:
        found = read_each(data, filename="a.jsonl", first_line=first)
    except UnreadableDocument:
        assert (
            not data.decode(errors="replace").replace("\ufeff", "").strip()
        )  # marks of files joined
        return
    told = [one.line for one in found.unreadable]
    assert told == sorted(set(told))
    assert all(first <= one <= first + data.count(b"\n") + data.count(b"\r") for one in told)
    assert all("\n" not in one.reason for one in found.unreadable)
    try:
        whole = read(data, filename="a.jsonl")
    except UnreadableDocument:
        return
    assert (list(found.records), told) == (whole, [])


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.json", b"[" + b'{"":0},' * 500_001 + b"0]", "500,000 names and strings"),
        ("a.jsonl", b"[" + b"[]," * 1_000_001 + b"0]", "1,000,000 values"),
        ("a.jsonl", b"\n" * 1_000_001 + b"{}", "1,000,000 line ends"),
        ("a.json", b'{"facts":' + b"[" * 65 + b"]" * 65 + b"}", "nested too deeply"),
    ],
    ids=["names", "lists", "blank lines", "brackets in brackets"],
)
def test_json_that_would_fill_the_memory_is_refused_before_it_is_parsed(
    name: str, data: bytes, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.file_formats.read_json", pytest.fail)
    monkeypatch.setattr("workers.file_formats.read_each_line", pytest.fail)
    with pytest.raises(UnreadableDocument, match=said):
        read_each(data, filename=name)


def test_a_file_may_have_as_many_line_ends_as_the_limit_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("workers.file_formats.MOST_LINE_ENDS", 4)
    [one] = read_each(record("one") + b"\r\n\r\n", filename="a.jsonl").records
    assert one.title == "one"
    with pytest.raises(UnreadableDocument, match="more than 4 line ends"):
        read_each(record("one") + b"\r\n\r\n\n", filename="a.jsonl")
