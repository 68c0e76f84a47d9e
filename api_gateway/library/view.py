"""Views of the library: documents, passages, what is followed, and ways to begin. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from api_gateway.documents.versions_view import STATUS as VERSION
from api_gateway.pages.clocks import Moment, moment, published, span_of_hours
from api_gateway.pages.links import evidence_link
from api_gateway.pages.wording import Badge, badge
from knowledge.feeds.sources import connector_policies, source_policies, source_policy
from knowledge.feeds.watches import Suggestion, suggestions
from knowledge.scenarios import scenarios
from store.documents.library import UPLOADED, Found, Held
from store.models import Refresh
from store.sources.packs import WorkState
from store.sources.refreshes import ACTIVE

_HEADING = re.compile(r"#{1,6}[ \t][^\n]*\n\s*")

FOLLOWED = Badge("Followed", "good", "check", "It is asked again and again")
STOPPED = Badge("Stopped", "quiet", "question", "It is asked no longer; what it brought stays")
FETCHING = Badge("Being fetched", "quiet", "clock", "What it brings is read and indexed")
FAILED = Badge("Failing", "bad", "cross", "Its last refresh failed")


@dataclass(frozen=True)
class LineView:
    """A document or a passage in the list; `words` are those of the passage."""

    href: str | None
    title: str
    meta: Sequence[str]
    published: Moment | None
    badge: Badge | None
    words: str


def held_line(one: Held) -> LineView:
    """A document; its state is told where it is not current."""
    told = (one.publication_type, one.publisher, source_policy(one.source_type).name)
    return LineView(
        href=evidence_link(str(one.document_id), one.n),
        title=one.title,
        meta=[*dict.fromkeys(filter(None, told)), f"version {one.n}"],
        published=published(one.published_at, one.published_precision),
        badge=None if one.status == "current" else badge(VERSION, one.status),
        words="",
    )


def found_line(one: Found) -> LineView:
    """A passage, with the link to its place. Its heading is told beside it."""
    heading = _HEADING.match(one.text)
    start = heading.end() if heading and heading.end() < len(one.text) else 0
    return LineView(
        href=evidence_link(str(one.document_id), one.n, one.start + start, one.end),
        title=one.title,
        meta=[source_policy(one.source_type).name, *filter(None, [one.section])],
        published=published(one.published_at, one.published_precision),
        badge=None,
        words=one.text[start:],
    )


@dataclass(frozen=True)
class Choice:
    """An option of a filter."""

    value: str
    words: str


def choices(facets: Mapping[str, Sequence[tuple[str, int]]]) -> dict[str, list[Choice]]:
    """The options of the filters, with the number of documents."""
    kinds = {name: policy.name for name, policy in source_policies().items()}
    sources = {name: policy.name for name, policy in connector_policies().items()}
    sources[UPLOADED] = "Added here"
    names = {"kinds": kinds, "sources": sources, "diseases": dict[str, str]()}
    return {
        kind: [
            Choice(value, f"{names[kind].get(value, value.replace('_', ' '))} ({many:,})")
            for value, many in counted
        ]
        for kind, counted in facets.items()
    }


def page_address(fields: Mapping[str, str], cursor: str | None) -> str:
    """The address of a page of the list; empty if there is none."""
    given = {name: value for name, value in fields.items() if value}
    return f"/library?{urlencode({**given, 'cursor': cursor})}" if cursor else ""


@dataclass(frozen=True)
class WatchView:
    """A query that is followed, or was. `query` is empty to those who may not read it."""

    id: str
    source: str
    query: str
    badge: Badge
    active: bool
    age: str
    told: str
    next_run: Moment | None
    awaited: str


def watch_view(body: Mapping[str, Any], run: Refresh | None) -> WatchView:
    """The view of a watch.

    Args:
        body: as `/v1/watches` gives it to this caller.
        run: its latest refresh, if that is under way.
    """
    fetching = run is not None and run.status in ACTIVE
    state = FETCHING if fetching else FAILED if body["status"] == "failed" else FOLLOWED
    age = body["age_hours"]
    return WatchView(
        id=str(body["id"]),
        source=body["title"],
        query=body["query"] or "",
        badge=state if body["active"] or fetching else STOPPED,
        active=body["active"],
        age="never" if age is None else f"{span_of_hours(age)} ago",
        told=_progress(run) if run is not None and fetching else body["last_error"] or "",
        next_run=moment(body["next_run_at"]) if body["active"] else None,
        awaited=f"/v1/refreshes/{run.id}" if run is not None and fetching else "",
    )


def _progress(run: Refresh) -> str:
    of = f" of {run.total:,}" if run.total is not None else ""
    return f"records read: {run.records:,}{of}; {run.fresh:,} new and searchable soon"


@dataclass(frozen=True)
class PackView:
    """A list of works that matter for a decision, and how many of them are held."""

    name: str
    label: str
    works: int
    held: int


def pack_views(states: Mapping[str, Sequence[WorkState]]) -> list[PackView]:
    """The packs, by label, with the works that a source has."""
    counted = [
        (pack, [one.state for one in states[pack.name] if one.source]) for pack in scenarios()
    ]
    views = [
        PackView(pack.name, pack.label, len(works), works.count("held")) for pack, works in counted
    ]
    return sorted(views, key=lambda one: one.label)


def suggested(followed: Iterable[tuple[str, str]]) -> list[tuple[Suggestion, str]]:
    """The suggestions that are not followed yet, with the names of their sources."""
    known = set(followed)
    return [
        (one, connector_policies()[one.source].name)
        for one in suggestions()
        if (one.source, one.query) not in known
    ]
