"""Items of news feeds (RSS 2.0, Atom, RSS 1.0), read by feedparser after the XML guard."""

import calendar
import html.entities
import io
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import feedparser  # type: ignore[import-untyped]

from knowledge.feeds.news import Feed, feed
from workers.http.errors import Malformed
from workers.ingest.parsers import json_payload as fields
from workers.ingest.parsers.base import Doubt, LeftOut, Parsed, Problem
from workers.ingest.parsers.envelope import unwrap
from workers.ingest.parsers.html_text import html_text
from workers.ingest.parsers.xml import parse_xml

_ROOTS = frozenset({"rss", "feed", "RDF"})
_MAX_KEY = 900
_AMPERSAND = re.compile(rb"&(?!#|(?:amp|lt|gt|quot|apos);)(?:([A-Za-z][A-Za-z0-9]{1,31});)?")

MAPPED = frozenset(
    {
        *("id", "guidislink", "link", "links", "title", "title_detail", "summary"),
        *("summary_detail", "content", "published", "published_parsed", "updated"),
        *("updated_parsed", "author", "author_detail", "authors", "tags"),
    }
)
LEFT_OUT: LeftOut = {
    "media_thumbnail": "pictures",
    "media_content": "pictures and recordings",
    "media_credit": "pictures",
    "credit": "pictures",
    "comments": "the address of comments",
    "slash_comments": "how many comments there are",
    "wfw_commentrss": "the feed of comments",
    "feedburner_origlink": "the address is kept",
}
"""Field names as feedparser gives them. `links` include enclosures; only the page's is kept."""


def parse_feed(payload: bytes) -> Parsed:
    """Read the items of a feed from an envelope that names it (`feed`).

    The text of an item is its content, else its summary, else its title, as plain text. Markup and
    scripts are dropped; white space is normalized within paragraphs. An address that is not on the
    publisher's hosts is left out and recorded as a doubt.

    Raises Malformed if there is no envelope, the feed is not followed or not well-formed, or the
    content is not a feed.
    """
    unwrapped = unwrap(payload)
    if isinstance(unwrapped, Parsed):
        return unwrapped
    facts, content = unwrapped
    name = fields.text(facts, "feed")
    try:
        source = feed(name)
    except LookupError:
        raise Malformed("a feed that is not followed") from None
    content = _AMPERSAND.sub(_reference, content)
    root = parse_xml(content)
    if root.tag.rpartition("}")[2] not in _ROOTS:
        raise Malformed("not a feed: its root element is none of rss, feed and RDF")
    parsed = Parsed()
    seen: set[str] = set()
    for entry in _entries(content):
        _add(parsed, name, source, entry, seen)
    return parsed


def _reference(written: re.Match[bytes]) -> bytes:
    """An entity of HTML, which XML does not declare, as character references; a bare "&" escaped.
    Many feeds have both, and every reader takes them."""
    name = (written[1] or b"").decode()
    named = html.entities.html5.get(f"{name};", "") if name else ""
    if not named:
        return b"&amp;" + written[0][1:]
    return "".join(f"&#{ord(character)};" for character in named).encode()


def _entries(content: bytes) -> list[Mapping[str, Any]]:
    """The entries that feedparser reads. It gets a stream: it would take bytes for a file name.

    Its own sanitizing is off: texts become plain text here, and its sanitizer takes quadratic time
    on unterminated comments.
    """
    try:
        document = feedparser.parse(
            io.BytesIO(content),
            response_headers={"content-type": "application/xml"},
            sanitize_html=False,
            resolve_relative_uris=False,
        )
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError):
        # feedparser's handlers do not check the values of some elements
        raise Malformed("a feed with elements that cannot be read") from None
    # plain mappings: feedparser's own substitute other fields for missing ones, with a warning
    return [dict(entry) for entry in document.entries]


def _add(parsed: Parsed, name: str, source: Feed, entry: Mapping[str, Any], seen: set[str]) -> None:
    for field in entry:
        if field not in MAPPED and field not in LEFT_OUT:
            known = len(field) <= 60 and field.isascii() and field.isprintable()
            parsed.unmapped[f"entries[].{field if known else '?'}"] += 1
    title = fields.one_line(html_text(fields.text(entry, "title")))
    named = fields.one_line(fields.text(entry, "id") or fields.text(entry, "link"))
    if not named or len(named) > _MAX_KEY:
        parsed.problems.append(Problem(None, "an item has neither a guid nor a link of use"))
        return
    key = f"{source.source_type}:{named}"
    if named in seen:
        parsed.problems.append(Problem(key, "the same guid names more than one item"))
        return
    seen.add(named)
    body = _body(entry)
    if not title and not body:
        parsed.problems.append(Problem(key, "the item has no words"))
        return
    author = fields.one_line(fields.text(entry, "author"))
    fields.add_record(
        parsed,
        key,
        source_type=source.source_type,
        source_key=named,
        title=title or fields.one_line(body[:200]),
        text=body or title,
        url=_url(parsed, key, source, fields.text(entry, "link")),
        published_at=_moment(entry, "published_parsed") or _moment(entry, "updated_parsed"),
        authors=(author,) if author else (),
        publisher=source.publisher,
        publication_type="News feed item",
        facts=fields.filled(
            {
                "feed": name,
                "categories": [
                    fields.text(tag, "term")
                    for tag in fields.rows(entry, "tags")
                    if fields.text(tag, "term")
                ],
            }
        ),
    )


def _body(entry: Mapping[str, Any]) -> str:
    for content in fields.rows(entry, "content"):
        text = html_text(fields.text(content, "value"))
        if text:
            return text
    return html_text(fields.text(entry, "summary"))


def _url(parsed: Parsed, key: str, source: Feed, link: str) -> str | None:
    try:
        parts = urlsplit(link)
        own_host = parts.scheme in ("http", "https") and parts.netloc.lower() in source.hosts
    except ValueError:
        own_host = False
    if own_host and len(link) <= 2000 and not any(map(str.isspace, link)):
        return link
    if link:
        parsed.doubts.append(Doubt(key, "url", link[:100]))
    return None


def _moment(entry: Mapping[str, Any], name: str) -> datetime | None:
    """The date in field `name` in UTC, or None if feedparser could not read it."""
    written = entry.get(name)
    try:
        return datetime.fromtimestamp(calendar.timegm(written), UTC) if written else None
    except (ValueError, OverflowError, OSError, TypeError):
        return None
