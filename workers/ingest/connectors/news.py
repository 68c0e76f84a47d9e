"""Press and news feeds: a watch's query is the name of a feed in `knowledge/feeds/news.yaml`."""

from collections.abc import Sequence

from knowledge.feeds.news import feed, feeds
from workers.http.client import SourceClient
from workers.http.errors import InvalidQuery, Malformed, Refused
from workers.ingest.connectors.base import Ask, Continuation, Page, Payload
from workers.ingest.parsers import envelope
from workers.ingest.parsers import json_payload as fields
from workers.ingest.parsers.base import Parsed
from workers.ingest.parsers.feeds import parse_feed

MAX_BYTES = 8 * 1024 * 1024


class News:
    """Marks: `etag`, `last_modified` and the items' `keys` of the feed when it was last read."""

    name = "news"
    fetch_limit = 1

    def check_query(self, query: str) -> str:
        """The name of a feed. Raises InvalidQuery, which lists the names."""
        name = query.strip().lower()
        if name not in feeds():
            raise InvalidQuery(f"name one of these feeds: {', '.join(sorted(feeds()))}")
        return name

    def page(self, client: SourceClient, ask: Ask, continuation: Continuation | None) -> Page:  # noqa: ARG002
        """If the feed changed: the whole feed, and an `unseen` payload for the items that it no
        longer shows: they made room for newer ones or were withdrawn."""
        try:
            source = feed(ask.query)
        except LookupError as error:
            raise InvalidQuery(str(error)) from None
        headers = {}
        if ask.marks.get("etag"):
            headers["If-None-Match"] = str(ask.marks["etag"])
        if ask.marks.get("last_modified"):
            headers["If-Modified-Since"] = str(ask.marks["last_modified"])
        accept = (200, 304) if headers else (200,)  # without a condition 304 is no answer
        reply = client.get(source.url, headers=headers or None, accept=accept, max_bytes=MAX_BYTES)
        if reply.status == 304:
            return Page(marks=ask.marks)
        marks = fields.filled(
            {
                "etag": reply.headers.get("etag"),
                "last_modified": reply.headers.get("last-modified"),
            }
        )
        content = envelope.wrap(reply.content, feed=ask.query)
        payloads = [Payload(f"{ask.query}.xml", content)]
        before = fields.texts(ask.marks, "keys")
        shown = _shown(content)
        if shown is None:  # the stage says why; the refresh ends without moving the marks
            return Page(tuple(payloads), marks={**marks, "keys": before})
        if unseen := [key for key in before if key not in shown]:
            payloads.append(Payload("no longer shown", envelope.unseen(unseen)))
        return Page(tuple(payloads), marks={**marks, "keys": list(shown)})

    def fetch(self, client: SourceClient, keys: Sequence[str]) -> Page:  # noqa: ARG002
        """Always raises Refused: a feed shows only its last items; a missing one says nothing."""
        raise Refused("news: a feed cannot be asked for a single item")

    def parse(self, payload: bytes) -> Parsed:
        """Raises Malformed."""
        return parse_feed(payload)


def _shown(content: bytes) -> dict[str, None] | None:
    """The keys of the feed's items; None if the feed cannot be read."""
    try:
        parsed = parse_feed(content)
    except Malformed:
        return None
    keys = [record.key for record in parsed.records]
    return dict.fromkeys(
        [*keys, *(problem.source_id for problem in parsed.problems if problem.source_id)]
    )


NEWS = News()
