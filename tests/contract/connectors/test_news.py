"""News feeds by name, asked for again only where they changed."""

from collections.abc import Mapping
from typing import Any

import pytest

from knowledge.feeds.news import feed, feed_origins, feeds
from store.documents.records import SourceRecord
from tests.contract.connectors.conftest import MakeClient
from tests.fakes.news import NewsSite
from tests.fakes.web import Clock, FakeWeb, Reply
from workers.http.client import SourceClient
from workers.http.errors import InvalidQuery, Malformed, Refused
from workers.ingest.connectors.base import Ask, Page
from workers.ingest.connectors.news import NEWS


@pytest.fixture
def fda(clock: Clock) -> NewsSite:
    site = NewsSite(clock, "fda-press", "fda-medwatch")
    site.put("fda-press", "g-1", "A made-up approval", "<p>Nothing was <b>approved</b>.</p>")
    return site


def page(client: SourceClient, name: str, marks: Mapping[str, Any] | None = None) -> Page:
    return NEWS.page(client, Ask(NEWS.check_query(name), None, client.now(), marks or {}), None)


def records(found: Page) -> list[SourceRecord]:
    return [record for payload in found.payloads for record in NEWS.parse(payload.content).records]


def test_a_feed_gives_its_items(fda: NewsSite, clock: Clock, source_client: MakeClient) -> None:
    with FakeWeb(fda) as web:
        found = page(source_client("news", web, origins=feed_origins()), "FDA-press")
    (record,) = records(found)
    assert record.key == "regulator:g-1"
    assert record.text == "Nothing was approved."
    assert record.publisher == "U.S. Food and Drug Administration"
    assert record.published_at == clock()
    assert record.url == "https://www.fda.gov/news/g-1"


def test_an_unchanged_feed_is_not_sent_again(fda: NewsSite, source_client: MakeClient) -> None:
    with FakeWeb(fda) as web:
        client = source_client("news", web, origins=feed_origins())
        first = page(client, "fda-press")
        again = page(client, "fda-press", first.marks)
        assert (again.payloads, again.marks) == ((), first.marks)
        fda.change("fda-press", "g-1", "<p>Something was approved.</p>")
        (record,) = records(page(client, "fda-press", first.marks))
    assert record.text == "Something was approved."


def test_not_modified_is_no_answer_to_who_has_nothing(
    fda: NewsSite, source_client: MakeClient
) -> None:
    with FakeWeb(fda) as web:
        web.fault = lambda request: Reply(304, b"")
        with pytest.raises(Refused, match="304 Not Modified"):
            page(source_client("news", web, origins=feed_origins()), "fda-press")


def test_an_item_that_left_the_feed_is_no_word_on_it(
    fda: NewsSite, source_client: MakeClient
) -> None:
    with FakeWeb(fda) as web:
        client = source_client("news", web, origins=feed_origins())
        fda.delete("fda-press", "g-1")
        found = page(client, "fda-press")
        parsed = NEWS.parse(found.payloads[0].content)
        assert (parsed.records, parsed.gone) == ([], [])
        with pytest.raises(Refused):
            NEWS.fetch(client, ["regulator:g-1"])


def test_an_item_that_the_feed_shows_no_longer_is_told_without_a_word_on_why(
    fda: NewsSite, source_client: MakeClient
) -> None:
    fda.put("fda-press", "g-2", "Another", "Made up.")
    with FakeWeb(fda) as web:
        client = source_client("news", web, origins=feed_origins())
        marks = page(client, "fda-press").marks
        marks = page(client, "fda-press", marks).marks
        fda.delete("fda-press", "g-1")
        found = page(client, "fda-press", marks)
        told = [NEWS.parse(payload.content) for payload in found.payloads]
        assert [key for parsed in told for key in parsed.unseen] == ["regulator:g-1"]
        assert [parsed.problems for parsed in told] == [[], []]
        fda.put("fda-press", "g-3", "A third", "Made up.")
        (payload,) = page(client, "fda-press", found.marks).payloads
        assert NEWS.parse(payload.content).unseen == []


def test_a_page_in_place_of_the_feed_is_malformed(fda: NewsSite, source_client: MakeClient) -> None:
    with FakeWeb(fda) as web:
        web.fault = lambda request: Reply(200, b"<html><body><p>Access denied</p></body></html>")
        found = page(source_client("news", web, origins=feed_origins()), "fda-press")
    with pytest.raises(Malformed):
        NEWS.parse(found.payloads[0].content)


def test_a_feed_that_moved_is_refused(fda: NewsSite, source_client: MakeClient) -> None:
    with FakeWeb(fda) as web:
        web.fault = lambda request: Reply(404, b"gone")
        with pytest.raises(Refused):
            page(source_client("news", web, origins=feed_origins()), "fda-press")


def test_an_unknown_feed_is_refused_with_the_names_of_those_there_are() -> None:
    with pytest.raises(InvalidQuery, match="ema-news, fda-medwatch, fda-press"):
        NEWS.check_query("statnews")


def test_all_feeds_can_be_asked_for(clock: Clock, source_client: MakeClient) -> None:
    sites: dict[str, list[str]] = {}
    for name in feeds():
        sites.setdefault(feed(name).origin, []).append(name)
    assert set(sites) == set(feed_origins())
    with FakeWeb(*(NewsSite(clock, *names) for names in sites.values())) as web:
        client = source_client("news", web, origins=feed_origins())
        for name in feeds():
            assert len(page(client, name).payloads) == 1


def test_a_feed_that_the_file_has_not_is_named(clock: Clock) -> None:
    with pytest.raises(LookupError, match="use one of ema-news"):
        feed("x")
