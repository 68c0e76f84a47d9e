"""A publisher's site with news feeds: RSS 2.0 with conditional requests, only the last items."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime
from urllib.parse import urlsplit
from xml.sax.saxutils import escape

from knowledge.feeds.news import feed
from tests.fakes.web import Clock, Reply, Request


@dataclass(frozen=True)
class Item:
    """An item; `description` is HTML."""

    guid: str
    title: str
    description: str
    link: str
    published: datetime


class NewsSite:
    """Serves the named feeds, which must be of one publisher. `keeps` items stay in a feed."""

    def __init__(self, clock: Clock, *names: str) -> None:
        (self.origin,) = {feed(name).origin for name in names}
        self.items: dict[str, list[Item]] = {name: [] for name in names}
        self.keeps = 20
        self._clock = clock

    def put(self, name: str, guid: str, title: str, description: str, link: str = "") -> None:
        """A new item, published now."""
        link = link or f"{self.origin}/news/{guid}"
        item = Item(guid, title, description, link, self._clock())
        self.items[name] = [item, *self.items[name]][: self.keeps]

    def change(self, name: str, guid: str, description: str) -> None:
        """The item says something else now."""
        self.items[name] = [
            Item(one.guid, one.title, description, one.link, one.published)
            if one.guid == guid
            else one
            for one in self.items[name]
        ]

    def delete(self, name: str, guid: str) -> None:
        """The item leaves the feed."""
        self.items[name] = [one for one in self.items[name] if one.guid != guid]

    def answer(self, request: Request) -> Reply:
        """The feed at the path, or 304 where the asker has it."""
        for name, items in self.items.items():
            if urlsplit(feed(name).url).path == request.path:
                body = rss(feed(name).title, items)
                tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
                headers = {"Content-Type": "application/rss+xml; charset=utf-8", "ETag": tag}
                if request.headers.get("if-none-match") == tag:
                    return Reply(304, b"", headers)
                return Reply(200, body, headers)
        return Reply(404, b"<html>not found</html>", {"Content-Type": "text/html"})


def rss(title: str, items: list[Item]) -> bytes:
    """A feed in RSS 2.0."""
    listed = "".join(
        f"<item><title>{escape(item.title)}</title><link>{escape(item.link)}</link>"
        f"<description>{escape(item.description)}</description>"
        f"<pubDate>{format_datetime(item.published)}</pubDate>"
        f'<guid isPermaLink="false">{escape(item.guid)}</guid></item>\n'
        for item in items
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<rss version="2.0"><channel>'
        f"<title>{escape(title)}</title><link>https://example.test/</link>"
        f"<description>Made up</description>\n{listed}</channel></rss>"
    ).encode()
