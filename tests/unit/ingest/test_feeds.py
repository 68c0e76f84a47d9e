"""Feeds in three forms, plain text of their items, and what is no feed."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from knowledge.feeds.news import Feed
from store.documents.records import SourceRecord
from tests.grid import grid
from workers.http.errors import Malformed
from workers.ingest.parsers.base import Parsed
from workers.ingest.parsers.envelope import wrap
from workers.ingest.parsers.feeds import parse_feed
from workers.ingest.parsers.html_text import html_text

RSS = """<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><title>Made up</title>
<link>https://www.fda.gov/</link>{items}</channel></rss>"""

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Made up</title><id>u</id>
<updated>2026-01-02T03:04:05Z</updated><entry><title type="html">Cats &amp;amp; dogs</title>
<id>tag:1</id><link href="https://www.fda.gov/z"/><updated>2026-01-02T03:04:05+02:00</updated>
<author><name>A. Placeholder</name></author>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>One.</p><p>Two.</p></div>
</content></entry></feed>"""

RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel rdf:about="https://www.fda.gov/"><title>Made up</title></channel>
<item rdf:about="https://www.fda.gov/i1"><title>One</title><link>https://www.fda.gov/i1</link>
<description>Words.</description><dc:date>2026-02-03</dc:date></item></rdf:RDF>"""


def parse(source: str | bytes, name: str = "fda-press") -> Parsed:
    return parse_feed(wrap(source.encode() if isinstance(source, str) else source, feed=name))


def rss(*items: str) -> Parsed:
    return parse(RSS.format(items="".join(f"<item>{item}</item>" for item in items)))


def only(item: str) -> SourceRecord:
    (record,) = rss(item).records
    return record


def test_rss() -> None:
    parsed = rss(
        "<title>A title</title><link>http://www.fda.gov/a</link><guid>g-1</guid>"
        "<description>&lt;p&gt;Words &lt;b&gt;of it&lt;/b&gt;.&lt;/p&gt;</description>"
        "<pubDate>Tue, 05 Dec 2023 16:59:37 EST</pubDate><dc:creator>FDA</dc:creator>"
        "<category>Drugs</category>"
    )
    (record,) = parsed.records
    assert record.key == "regulator:g-1"
    assert (record.title, record.text) == ("A title", "Words of it.")
    assert record.url == "http://www.fda.gov/a"
    assert record.published_at == datetime(2023, 12, 5, 21, 59, 37, tzinfo=UTC)
    assert record.authors == ("FDA",)
    assert record.facts == {"feed": "fda-press", "categories": ["Drugs"]}
    assert (parsed.problems, parsed.doubts, dict(parsed.unmapped)) == ([], [], {})


def test_atom() -> None:
    (record,) = parse(ATOM).records
    assert (record.key, record.title, record.text) == (
        "regulator:tag:1",
        "Cats & dogs",
        "One.\n\nTwo.",
    )
    assert record.published_at == datetime(2026, 1, 2, 1, 4, 5, tzinfo=UTC)
    assert record.authors == ("A. Placeholder",)


def test_rss_1() -> None:
    (record,) = parse(RDF).records
    assert record.key == "regulator:https://www.fda.gov/i1"
    assert (record.text, record.published_at) == ("Words.", datetime(2026, 2, 3, tzinfo=UTC))


def test_the_feed_says_whose_words_its_items_are() -> None:
    source = RSS.format(items="<item><guid>g</guid><title>t</title></item>")
    (record,) = parse(source, "nih-news").records
    assert (record.source_type, record.publisher) == ("news", "National Institutes of Health")


def test_content_goes_before_summary_before_title() -> None:
    full = "<title>T</title><guid>g</guid><description>D</description>"
    assert only(f"{full}<content:encoded>&lt;p&gt;C&lt;/p&gt;</content:encoded>").text == "C"
    assert only(full).text == "D"
    assert only("<title>T</title><guid>g</guid>").text == "T"
    assert only("<guid>g</guid><description>Only words</description>").title == "Only words"


def test_scripts_and_markup_never_reach_the_text() -> None:
    evil = (
        "&lt;script&gt;steal()&lt;/script&gt;&lt;p onclick='x()'&gt;Words&lt;/p&gt;"
        "&lt;style&gt;p{}&lt;/style&gt;&lt;img src=x onerror=y&gt;"
    )
    record = only(f"<title>&lt;i&gt;T&lt;/i&gt;</title><guid>g</guid><description>{evil}"
                  "</description>")  # fmt: skip
    assert (record.title, record.text) == ("T", "Words")


@pytest.mark.parametrize(
    "link",
    [
        "https://evil.example/x", "javascript:alert(1)", "ftp://www.fda.gov/x",
        "https://www.fda.gov@evil.example/", "https://www.fda.gov:444/x",
        "http://[", "https://www.fda.gov.evil.example/x",
    ],
)  # fmt: skip
def test_an_address_elsewhere_is_left_out_as_a_doubt(link: str) -> None:
    parsed = rss(f"<title>t</title><guid>g</guid><link>{link}</link>")
    assert parsed.records[0].url is None
    assert all(doubt.kind == "url" for doubt in parsed.doubts)


def test_items_that_cannot_be_named_or_say_nothing_are_problems() -> None:
    parsed = rss(
        "<title>no name</title>",
        "<guid>g-1</guid>",
        "<guid>g-2</guid><title>t</title>",
        "<guid>g-2</guid><title>u</title>",
        f"<guid>{'g' * 2000}</guid><title>t</title>",
    )
    assert [record.key for record in parsed.records] == ["regulator:g-2"]
    assert [problem.source_id for problem in parsed.problems] == [
        None,
        "regulator:g-1",
        "regulator:g-2",
        None,
    ]


@pytest.mark.parametrize("day", ["", "soon", "99/99/9999", "Mon, 99 Foo 0000 00:00:00 GMT"])
def test_a_date_that_is_none_is_left_out(day: str) -> None:
    assert only(f"<guid>g</guid><title>t</title><pubDate>{day}</pubDate>").published_at is None


def test_unknown_fields_are_counted() -> None:
    parsed = rss("<guid>g</guid><title>t</title><novelty>x</novelty>")
    assert parsed.unmapped == {"entries[].novelty": 1}


@pytest.mark.parametrize(
    "source",
    [
        "",
        "not xml",
        "<html><body>Access denied</body></html>",
        RSS[:200],
        '<!DOCTYPE r [<!ENTITY a "b">]><rss><channel>&a;</channel></rss>',
        '<!DOCTYPE r SYSTEM "file:///etc/passwd" [<!ENTITY x SYSTEM "file:///etc/passwd">]><rss/>',
    ],
)
def test_what_is_no_feed_is_malformed(source: str) -> None:
    with pytest.raises(Malformed):
        parse(source)


def test_bytes_are_never_taken_for_the_name_of_a_file(tmp_path: Path) -> None:
    secret = tmp_path / "secret.xml"
    secret.write_text(RSS.format(items="<item><guid>g</guid><title>secret</title></item>"))
    with pytest.raises(Malformed):
        parse(str(secret))


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"{}",
        json.dumps({"feed": "fda-press"}).encode(),
        json.dumps({"feed": "fda-press", "content": "***"}).encode(),
        wrap(RSS.format(items="").encode(), feed="nowhere"),
        RSS.format(items="").encode(),
    ],
)
def test_a_payload_without_its_envelope_is_malformed(payload: bytes) -> None:
    with pytest.raises(Malformed):
        parse_feed(payload)


def test_a_feed_must_stand_at_its_publisher() -> None:
    good = yaml.safe_load(
        "{title: t, url: 'https://a.test/x', publisher: p, hosts: [a.test], source_type: news, "
        "basis: b}"
    )
    assert Feed.model_validate(good).origin == "https://a.test"
    for change in ({"hosts": ["b.test"]}, {"url": "http://a.test/x"}, {"source_type": "pubmed"}):
        with pytest.raises(ValidationError):
            Feed.model_validate(good | change)


# --- HTML -----------------------------------------------------------------------------------------


@grid(
    ("source", "expected"),
    [
        ("<p>a < 5 and b</p><p>c</p>", "a < 5 and b\n\nc"),
        ("one<br>two", "one\ntwo"),
        ("<h2>Title<br>more</h2>text", "#### Title more\n\ntext"),
        ("<ul><li>a<li>b<p>more</p></ul>after", "- a\n- b\n\nmore\n\nafter"),
        ("<ol><li>a</li><li>b</li></ol>", "1. a\n2. b"),
        ("<table><tr><td><p>1</p><p>2</p></td><td>x<br>y</td></tr></table>", "1 2 | x y"),
        ("x<table><td>a<td>b<tr><td>c</table>", "x\n\na | b\nc"),
        ("10<sup>9</sup>, x<sup>a</sup>", "10⁹, xa"),
        ("12.5<sup>a<sup>2</sup>b</sup> c", "12.5a2b c"),
        ("10<sup>-<sup>3</sup></sup>", "10⁻³"),
        ('<ol start="4"><li>a</li><li value="7">b</li><li>c</li></ol>', "4. a\n7. b\n8. c"),
        (
            "<table><tr><td rowspan=2>P</td><td></td><td>2</td></tr><tr><td>3</td><td>4</td></tr>"
            "</table>",
            "P |  | 2\nP | 3 | 4",
        ),
        ("<div>" * 5000 + "deep", "deep"),
        ("a\x00b\x01c<i></i>", "a\ufffdbc"),
        ("half \ud800 & more", "half ? & more"),
        ("<p>", ""),
        ("  words\n  only ", "words only"),
        ("x<!-- hidden --><script>y</script>z", "xz"),
    ],
)
def test_html_as_text(source: str, expected: str) -> None:
    assert html_text(source) == expected
