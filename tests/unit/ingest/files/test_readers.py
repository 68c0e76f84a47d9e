"""Files become source records, or say in one line why not."""

import json
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from store.documents.records import MAX_TEXT_CHARS, SourceRecord
from tests.fuzz.properties import a_file_is_read_or_refused_in_one_line
from tests.grid import grid
from workers import file_formats
from workers.file_formats import UnreadableDocument, read, sniff, web

DOCUMENTS = Path(__file__).parents[3] / "fixtures" / "documents"


def _read(name: str) -> list[SourceRecord]:
    return read((DOCUMENTS / name).read_bytes(), filename=name)


def _why(data: bytes, filename: str, media_type: str | None = None) -> str:
    with pytest.raises(UnreadableDocument) as caught:
        read(data, filename=filename, media_type=media_type)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_plain_text_is_kept_and_titled_by_its_name() -> None:
    (record,) = _read("note.txt")
    assert record.title == "note"
    assert record.text == (DOCUMENTS / "note.txt").read_text()


def test_a_byte_order_mark_is_dropped_and_line_ends_are_unified() -> None:
    (record,) = read(b"\xef\xbb\xbfOne\r\ntwo\rthree", filename="folder\\My note.txt")
    assert (record.title, record.text) == ("My note", "One\ntwo\nthree")


def test_markdown_front_matter_gives_title_and_well_formed_identifiers() -> None:
    (record,) = _read("position.md")
    assert record.title == "A position on testing"
    assert record.identifiers.pmid == "12345678"
    assert record.identifiers.doi is None
    assert record.text.startswith("# Testing after surgery\n")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Intro\n\n## **Second** level ##\n", "Second level"),
        ("Under\n=====\n\n# Other", "Under"),
        ("No heading", "file"),
        ("---\nRunning words\n---\n\n# Heading", "Heading"),
    ],
)
def test_markdown_is_titled_by_its_first_heading_else_by_its_name(text: str, title: str) -> None:
    (record,) = read(text.encode(), filename="file.md")
    assert record.title == title
    assert record.text == text


def test_html_becomes_headings_items_and_rows() -> None:
    (record,) = _read("page.html")
    assert record.title == "Counts & ratios"
    assert record.text == (
        "# Counts & ratios\n\n"
        "Platelets stayed above 50×10⁹/L in 5\xa0% of patients.¹\n\n"
        "## Results\n\n"
        "- first\n- second\n"
        "1. one\n2. two\n\n"
        "Arm | HR\nA | 0.60 (0.41-0.87)"
    )


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<p>OS was 12.5<sup><a>12</a>,<a>13</a></sup> months</p>", "OS was 12.5¹²,¹³ months"),
        ("<p>10<sup><b>-</b><i>5</i></sup> x<sup>a,<i>b</i></sup></p>", "10⁻⁵ xa,b"),
        ("<table>Before.<tr><td>a</td><td>b</td></tr></table>after", "Before.\n\na | b\n\nafter"),
        ("<table><p>Only words.</p></table>", "Only words."),
        (
            "<table><tr><th rowspan=2>Event</th><th colspan=2>Drug</th><th>Placebo</th></tr>"
            "<tr><th>all</th><th>severe</th><th>all</th></tr></table>",
            "Event | Drug |  | Placebo\nEvent | all | severe | all",
        ),
        ("<ol start=3><li>c<li>d<li value=9>i<li>j</ol>", "3. c\n4. d\n9. i\n10. j"),
    ],
)
def test_what_a_reader_of_the_page_sees_is_kept(source: str, text: str) -> None:
    (record,) = read(f"<html><body>{source}</body></html>".encode(), filename="a.html")
    assert record.text == text


@pytest.mark.parametrize(
    "code",
    ["```sh\n# install\n```", "~~~\n# no\n~~~", "````\n```\n# no\n````", "```\nno\n===\n```"],
)
def test_a_line_of_code_is_no_heading(code: str) -> None:
    (record,) = read(f"Words.\n\n{code}\n\n# Title\n".encode(), filename="file.md")
    assert record.title == "Title"
    (other,) = read(f"Words.\n\n{code}\n".encode(), filename="file.md")
    assert other.title == "file"


def test_what_is_left_open_as_code_goes_on_to_the_end() -> None:
    (record,) = read(b"```\n# no\n", filename="file.md")
    assert record.title == "file"


@pytest.mark.parametrize(
    "subset",
    [
        "<!ELEMENT p (#PCDATA)>",
        '<!ENTITY drug "all > ] none">\n<!-- don\'t ] > -->\n<?x ]> ?>',
        "",
    ],
)
def test_the_grammar_within_an_xhtml_page_is_none_of_its_words(subset: str) -> None:
    head = '<?xml version="1.0"?>\n<!-- a page -->\n<!DOCTYPE html PUBLIC "-//W3C//DTD" "x.dtd" ['
    page = f"{head}{subset}] ><html><body><p>Words [a]&gt;.</p></body></html>"
    (record,) = read(page.encode(), filename="page.xhtml")
    assert record.text == "Words [a]>."


def test_html_without_h1_is_titled_by_its_title_element() -> None:
    (record,) = read(b"<title>The  page</title><p>Words<!-- hidden --></p>", filename="x.htm")
    assert (record.title, record.text) == ("The page", "Words")


@grid(
    "source",
    [
        "<div>" * 20_000 + "words",
        "<sup>" * 20_000 + "1",
        "<table><tr><td>" * 500 + "words",
        "<table><caption>" * 20_000 + "words",
        "<" * 20_000,
        "<ol>" + "<li>x" * 5_000,
        "<p>a&#0;b&#xD800;c</p>",
        "words &amp; no tags",
        "x.html",
    ],
)
def test_odd_html_is_read_without_warning(source: str) -> None:
    (record,) = read(source.encode(), filename="page.html")
    assert record.text.encode("utf-8")


def test_html_with_too_many_tags_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "MAX_TAGS", 3)
    assert "more than 3 tags" in _why(b"<p>a<p>b<p>c<p>d", "a.html")


def test_html_of_scripts_only_is_refused() -> None:
    assert "no text of its own" in _why(b"<script>alert(1)</script>", "a.html")


def test_json_is_one_record_or_a_list() -> None:
    (record,) = _read("record.json")
    assert record.source_type == "pubmed"
    assert record.identifiers.pmid == "12345678"
    data = b'[{"title": "a", "text": "b"}, {"title": "c", "text": "d"}]'
    assert [r.title for r in read(data, filename="x.json")] == ["a", "c"]


def test_json_lines_skip_blank_lines() -> None:
    assert [record.title for record in _read("records.jsonl")] == ["First", "Second"]


@grid(
    ("data", "filename", "message"),
    [
        (b"", "a.txt", "empty"),
        (b" \n", "a.txt", "empty"),
        (b"caf\xe9 au lait", "a.txt", "byte 3 (0xe9) is not UTF-8"),
        (b"\xef\xbb\xbfcaf\xe9", "a.md", "byte 6 (0xe9) is not UTF-8"),
        (b"\xff\xfea\x00", "a.txt", "UTF-16"),
        (b"a\x00b", "a.txt", "character 1 is NUL"),
        (b"%PDF-1.4", "a.txt", "name it .pdf"),
        (b"---\ntitle: x\n---\n", "a.md", "front matter only"),
        (b"PK\x03\x04", "a.docx", ".docx is not supported"),
        (b"\x00\x01", "a", "not supported"),
        (b'{"title": "t", "text": "x", "titel": "y"}', "a.json", "line 1: unknown field 'titel'"),
        (b'{"title": "t"}', "a.json", "line 1: field 'text' is missing"),
        (
            b'[{"title": "t", "text": "x"},\n{"title": 5, "text": "x"}]',
            "a.json",
            "line 2: field 't",
        ),
        (b'{"title": "t", "text": "x"}\n{"a": 1}', "a.jsonl", "line 2: field 'title' is missing"),
        (b'{"title": "t", "text": "x"}\n{"a" 1}', "a.jsonl", "line 2, column 6: not valid JSON"),
        (b'{"title": "t", "text": "x"} {}', "a.jsonl", "line 1: more than one JSON value"),
        (b'{"title": "t", "text": "x"}\n{}', "a.json", "line 2: more follows"),
        (b"[]", "a.json", "list is empty"),
        (b"[1]", "a.json", "line 1: a record is a JSON object"),
        (b'[{"title": "t", "text": "x"} 3]', "a.json", "expected ',' or ']'"),
        (b'[{"title": "t", "text": "x"}] 3', "a.json", "more follows the JSON list"),
        (b"[" * 200_000, "a.json", "nested too deeply"),
        (b'{"title": "t", "title": "u"}', "a.json", "'title' is given twice"),
        (b'{"title": NaN}', "a.json", "NaN is no JSON number"),
        (b'{"facts": {"a": 1e999}}', "a.json", "1e999 is too large for a number"),
        (b'{"title": ' + b"1" * 5000 + b"}", "a.json", "a number is too long"),
        (b'{"title": "t", "text": "\\u0000x"}', "a.json", "NUL"),
        (b'{"title": "t", "text": "\\ud800"}', "a.json", "field 'text'"),
        (b'{"title": "t", "text": "x", "facts": {"a": ["\\u0000"]}}', "a.json", "NUL"),
        (b'{"title": "t", "text": "x", "facts": {"a\\u0000": 1}}', "a.json", "'facts'"),
        (b'{"title": "t", "text": "x", "facts": {"a": "\\ud800"}}', "a.json", "'facts'"),
        (b'{"title": "t", "text": "x", "published_at": 2024}', "a.json", "'published_at' is a num"),
        (b'{"title": "t", "text": "x", "published_at": "2024-01-01"}', "a.json", "no time zone"),
        (b'{"title": "t", "text": "x", "authors": "A"}', "a.json", "'authors' should be a list"),
    ],
)
def test_what_cannot_be_read_says_so_in_one_line(data: bytes, filename: str, message: str) -> None:
    assert message in _why(data, filename)


def test_at_most_three_findings_are_told_and_no_value_is_repeated() -> None:
    secret = "Jane Doe, born 1950"  # stands for what a message must not repeat
    record = {"title": "t", "text": "x", "a" * 200: secret, "b": secret, "c": secret, "d": secret}
    message = _why(json.dumps(record).encode(), "a.json")
    assert "(and 1 more)" in message
    assert secret not in message
    assert "a" * 61 not in message


def test_files_and_texts_over_the_limits_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert f"{MAX_TEXT_CHARS:,}" in _why(b"x" * (MAX_TEXT_CHARS + 1), "a.txt")
    monkeypatch.setattr(file_formats, "MAX_FILE_BYTES", 10)
    assert "the limit is 10" in _why(b"x" * 11, "a.txt")


@pytest.mark.parametrize(
    ("data", "filename", "media_type", "kind"),
    [
        (b"x", "a.MD", "text/html", "markdown"),
        (b"x", "a", "text/html; charset=utf-8", "html"),
        (b"x", "a.unknown", "application/x-ndjson", "jsonl"),
        (b"%PDF-1.7", "a", "application/octet-stream", "pdf"),
        (b"\n<!DOCTYPE HTML><p>", "a", None, "html"),
        (b"words", "README", None, "text"),
    ],
)
def test_extension_goes_before_media_type_before_content(
    data: bytes, filename: str, media_type: str | None, kind: str
) -> None:
    assert sniff(data, filename=filename, media_type=media_type) == kind


@settings(max_examples=200, deadline=None)
@given(
    st.binary(max_size=200) | st.text(max_size=100).map(str.encode),
    st.sampled_from(["a.txt", "a.md", "a.html", "a.json", "a.jsonl", "a.pdf", "a"]),
)
@example(b"<?xml?><a>b", "a.html")
def test_any_bytes_give_records_or_one_line(data: bytes, filename: str) -> None:
    a_file_is_read_or_refused_in_one_line(data, filename)
