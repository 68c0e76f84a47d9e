"""What a query must be before any connector looks at it."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from knowledge.feeds.news import feeds
from knowledge.feeds.queries import EVERYTHING, MAX_QUERY_CHARS, QueryRefused, plain_query
from knowledge.feeds.sources import connector_policies
from tests.grid import grid

SOURCES = list(connector_policies())
SEARCHED = [
    name
    for name, policy in connector_policies().items()
    if policy.source_type is not None and name != "news"
]


@grid(
    ("source", "query"),
    [
        ("pubmed", '("circulating tumor DNA"[tiab] OR ctDNA[tiab]) AND 2026/01/01[edat]'),
        ("pubmed", "real-world data: a review"),
        ("pubmed", "Crohn's disease NOT 5'-nucleotidase"),
        ("clinicaltrials", 'AREA[Phase](PHASE2 OR PHASE3) AND "colon cancer"'),
        ("clinicaltrials", "NCT04264702 NCT04068103"),
        ("openfda-label", 'openfda.generic_name:"x" AND effective_time:[20260101 TO 20261231]'),
        ("openfda-event", "receiptdate:[20260101 TO 20270101}"),
        ("openfda-label", r'openfda.brand_name:"a \"b\" c"'),
        ("europepmc", '(TITLE_ABS:ctDNA) AND DOI:"10.1056/NEJMoa2200075"'),
        ("europepmc", r"TITLE:a\(b"),
        ("dailymed", "setid:1a550c33-456a-4833-814e-8591aea7c688"),
        ("guidelines", "nccn/*.pdf"),
        ("guidelines", "*"),
        ("cms", "L38779"),
        ("ema", "β-lactam / naïve (Σ)"),
        ("crossref", "*"),
        ("news", "fda-press"),
    ],
)
def test_queries_of_each_language_pass_as_they_are(source: str, query: str) -> None:
    assert plain_query(source, query) == query


def test_white_space_becomes_single_spaces_and_characters_are_composed() -> None:
    assert plain_query("pubmed", "  ctDNA \u00a0 AND\u2003MRD ") == "ctDNA AND MRD"
    assert plain_query("pubmed", "nai\u0308ve") == "na\u00efve"
    assert plain_query("news", " FDA-Press ") == "fda-press"


@pytest.mark.parametrize("query", ["", " ", "\t\n", "\u00a0"])
def test_a_blank_query_is_refused(query: str) -> None:
    with pytest.raises(QueryRefused, match="blank"):
        plain_query("pubmed", query)


def test_a_query_has_up_to_4000_characters() -> None:
    assert plain_query("pubmed", "x" * MAX_QUERY_CHARS)
    with pytest.raises(QueryRefused, match=r"4,001 characters and may have 4,000"):
        plain_query("pubmed", "x" * (MAX_QUERY_CHARS + 1))


@grid("sign", ["\x00", "\x07", "\n", "\t", "\x7f", "\x9f", "\ud800", "\u2028"])
def test_control_characters_inside_are_refused_with_their_place(sign: str) -> None:
    with pytest.raises(QueryRefused, match=rf"U\+{ord(sign):04X}\) at place 4"):
        plain_query("pubmed", f" MRD{sign}ctDNA ")


@pytest.mark.parametrize("sign", ["\u200b", "\u202e", "\u2066", "\ufeff", "\ue000"])
def test_characters_that_nobody_sees_are_refused(sign: str) -> None:
    with pytest.raises(QueryRefused, match="invisible"):
        plain_query("pubmed", f"ctDNA{sign}MRD")


@grid(
    ("query", "why"),
    [
        ('ctDNA "MRD', "quotation mark"),
        ('"a" "', "quotation mark"),
        ("(a OR (b)", r"opens a bracket \("),
        ("a)", r"closes a bracket \)"),
        (")(", r"closes a bracket \)"),
        ("(a]", r"closes a bracket \]"),
        ("[a)", r"closes a bracket \)"),
        ("ctDNA[tiab", r"opens a bracket \["),
        ("{a", r"opens a bracket \{"),
    ],
)
def test_quotation_marks_and_brackets_pair(query: str, why: str) -> None:
    with pytest.raises(QueryRefused, match=why):
        plain_query("pubmed", query)


def test_brackets_inside_quotation_marks_and_behind_backslashes_are_words() -> None:
    assert plain_query("pubmed", '"a) b" (c)')
    assert plain_query("openfda-label", r"a\) \" \( b")


@grid("source", SEARCHED)
@grid(
    "query",
    [
        "http://10.0.0.1/secret",
        "HTTPS://example.org",
        "https:example.org",
        "http:/\\example.org",
        "look at https://example.org/x",
        "file:///etc/passwd",
        "file:/etc/passwd",
        "ftp://host/x",
        "gopher://host",
        "custom+scheme://host",
        "javascript:alert",
        "data:text/html,x",
        "//host/share",
        r"\\host\share",
        r"C:\secret",
        "/etc/passwd",
        "~/secret",
        "./secret",
        "../secret",
        "localhost:5432",
        "127.0.0.1",
        "169.254.169.254/latest/meta-data",
    ],
)
def test_an_address_is_no_query_anywhere(source: str, query: str) -> None:
    with pytest.raises(QueryRefused, match="an address is no query"):
        plain_query(source, query)


def test_news_are_followed_by_the_name_of_a_feed() -> None:
    for name in feeds():
        assert plain_query("news", name) == name
    with pytest.raises(QueryRefused, match="name one of ema-news, "):
        plain_query("news", "some-feed")


@pytest.mark.parametrize("source", ["crossref", "openalex"])
def test_a_source_that_is_asked_about_held_works_takes_no_words(source: str) -> None:
    assert plain_query(source, EVERYTHING) == EVERYTHING
    with pytest.raises(QueryRefused, match=r"write \* for all of them"):
        plain_query(source, "ctDNA")


def test_an_unknown_source_is_a_lookup_error_that_lists_the_known_ones() -> None:
    with pytest.raises(LookupError, match="use one of clinicaltrials, cms, crossref"):
        plain_query("rumors", "ctDNA")


@settings(max_examples=200)
@given(source=st.sampled_from(SOURCES), query=st.text(max_size=80))
@example(source="pubmed", query="\\")
@example(source="pubmed", query='()[]{}""')
def test_any_text_is_refused_or_comes_out_in_one_spelling(source: str, query: str) -> None:
    try:
        plain = plain_query(source, query)
    except QueryRefused:
        return
    assert plain_query(source, plain) == plain
    assert plain.isprintable()
