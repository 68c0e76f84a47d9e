"""openFDA (WIRE 3): labels, approvals and recalls by search; adverse event reports as counts."""

import json
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlencode

from workers.http.client import Fetched, SourceClient
from workers.http.errors import (
    CursorExpired,
    InvalidQuery,
    Malformed,
    Refused,
    TooLarge,
    Unreachable,
)
from workers.ingest.connectors.base import Ask, Continuation, Page, Payload
from workers.ingest.connectors.openfda_query import check_search
from workers.ingest.parsers.base import Parsed
from workers.ingest.parsers.json_payload import load, number, text
from workers.ingest.parsers.openfda.drugsfda import parse_drugsfda
from workers.ingest.parsers.openfda.enforcement import parse_enforcement
from workers.ingest.parsers.openfda.event import COUNTS, TOP_REACTIONS, parse_event
from workers.ingest.parsers.openfda.label import parse_label

API = "https://api.fda.gov/drug"

PAGE_SIZE = 100
"""Records per page; halved if they are too large."""
WHOLE_DAYS = 7
"""Our interval: a record's date is that of its version, not of its listing at openFDA (WIRE 3),
which may be months later. So once a week everything that matches is listed again."""
MAX_SKIP = 25_000
"""The server refuses more; only used if it sends no link to the next page."""

_NEXT = re.compile(r'<([^<>]{1,8000})>; ?rel="?next"?')
_END_OF_TIME = "99991231"  # some labels come into effect in 3015 (WIRE 3)


class OpenFda:
    """A data set whose records are stored one by one. Queries are in openFDA's search syntax."""

    fetch_limit = 50

    def __init__(
        self,
        name: str,
        *,
        data_set: str,
        changed: str,
        key_prefix: str,
        key_field: str,
        parse: Callable[[bytes], Parsed],
    ) -> None:
        """`changed` is the field with the date of a record's version; `key_field` is the field with
        the part of a record's key after `key_prefix`."""
        self.name = name
        self._url = f"{API}/{data_set}.json"
        self._changed = changed
        self._key_prefix = key_prefix
        self._key_field = key_field
        self._parse = parse

    def check_query(self, query: str) -> str:
        """See `openfda_query.check_search`."""
        return check_search(query)

    def page(self, client: SourceClient, ask: Ask, continuation: Continuation | None) -> Page:
        """The next records that match, dated `ask.since` or later; all of them once a week.

        The first page is empty and the last if the data set is unchanged since the last refresh.
        Raises CursorExpired if the link to a page is no longer valid, InvalidQuery if openFDA does
        not understand the query.
        """
        known = continuation or {}
        whole_on = text(known, "whole_on") or _whole_on(ask, client.now())
        if text(known, "next"):
            answer = _follow(client, self._url, text(known, "next"))
        else:
            skip = number(known, "skip") or 0
            answer = _search(client, self._url, self._search_for(ask, whole_on), skip)
        if answer.status == 404:
            # no record at all, or the page after a full last page
            marks = _marks(text(known, "made"), client.now()) or ask.marks
            return Page(marks={**marks, "whole_on": whole_on})
        value = _results(answer)
        made = text(known, "made") or text(value, "meta", "last_updated")
        if continuation is None and ask.since and made and made == ask.marks.get("last_updated"):
            return Page(marks={**ask.marks, **_marks(made, client.now())})
        following, complete = _next(self._url, answer, value, known, made)
        if following is not None:
            following["whole_on"] = whole_on
        return Page(
            payloads=[Payload(self.name, answer.content)] if value["results"] else [],
            next=following,
            total=number(value, "meta", "results", "total"),
            marks={**_marks(made, client.now()), "whole_on": whole_on},
            complete=complete,
        )

    def fetch(self, client: SourceClient, keys: Sequence[str]) -> Page:
        """The records with these keys."""
        names = [
            key.removeprefix(self._key_prefix) for key in keys if key.startswith(self._key_prefix)
        ]
        return Page(self._named(client, [name for name in names if _is_name(name)]))

    def parse(self, payload: bytes) -> Parsed:
        """See the parser of the data set."""
        return self._parse(payload)

    def _search_for(self, ask: Ask, whole_on: str) -> str:
        listed_whole = text(ask.marks, "whole_on")
        if ask.since is None or (listed_whole and whole_on != listed_whole):
            return ask.query
        day = f"{ask.since.astimezone(UTC):%Y%m%d}"
        return f"({ask.query}) AND {self._changed}:[{day} TO {_END_OF_TIME}]"

    def _named(self, client: SourceClient, names: Sequence[str]) -> list[Payload]:
        if not names:
            return []
        search = " OR ".join(f'{self._key_field}:"{name}"' for name in names)
        try:
            answer = _ask(client, self._url, {"search": search, "limit": PAGE_SIZE})
        except TooLarge:
            if len(names) == 1:
                raise
            middle = len(names) // 2
            return self._named(client, names[:middle]) + self._named(client, names[middle:])
        if answer.status == 404:
            return []
        _results(answer)
        return [Payload(self.name, answer.content)]


class OpenFdaEvents:
    """Adverse event reports: one document of counts per query (`parsers.openfda.event`)."""

    name = "openfda-event"
    # a document takes one request for each count
    fetch_limit = 4

    _url = f"{API}/event.json"
    _key_prefix = "regulator:faers:"
    _longest = 900  # the query is part of the key

    def check_query(self, query: str) -> str:
        """See `openfda_query.check_search`."""
        return check_search(query, self._longest)

    def page(self, client: SourceClient, ask: Ask, continuation: Continuation | None) -> Page:
        """The only page of a refresh: one payload with all counts, none if no report matches.

        Nothing is counted again if the data set is unchanged since the last refresh.
        """
        if continuation is not None:
            raise CursorExpired("openFDA counts have one page")
        reports = _ask(client, self._url, {"search": ask.query, "limit": 1})
        if reports.status == 404:
            return Page(total=0, marks=dict(ask.marks))
        made = text(_results(reports), "meta", "last_updated")
        if ask.since and made and made == ask.marks.get("last_updated"):
            return Page(marks=_marks(made, client.now()))
        payload = self._counted(client, ask.query, reports)
        return Page([payload], total=1, marks=_marks(made, client.now()))

    def fetch(self, client: SourceClient, keys: Sequence[str]) -> Page:
        """The counts of the queries in these keys, or the single reports."""
        payloads = []
        for key in keys:
            name = key.removeprefix(self._key_prefix)
            if not key.startswith(self._key_prefix) or not name:
                continue
            single = name.replace("-", "").isdigit()
            search = f'safetyreportid:"{name}"' if single else name
            reports = _ask(client, self._url, {"search": search, "limit": 1})
            if reports.status == 404:
                continue
            _results(reports)
            payloads.append(
                Payload(self.name, reports.content)
                if single
                else self._counted(client, name, reports)
            )
        return Page(payloads)

    def parse(self, payload: bytes) -> Parsed:
        """See `parsers.openfda.event.parse_event`."""
        return parse_event(payload)

    def _counted(self, client: SourceClient, query: str, reports: Fetched) -> Payload:
        """One payload with the unchanged answers to all counts, under their names."""
        parts = {"reports": reports.content}
        for part, field in COUNTS.items():
            params: dict[str, str | int] = {"search": query, "count": field}
            if part == "reactions":
                params["limit"] = TOP_REACTIONS
            answer = _ask(client, self._url, params)
            if answer.status == 200:  # "Nothing to count" is a 404
                _results(answer)
                parts[part] = answer.content
        body = b",".join(json.dumps(part).encode() + b":" + raw for part, raw in parts.items())
        head = json.dumps({"query": query}).encode().removesuffix(b"}")
        return Payload(self.name, b'{"faers":' + head + b"," + body + b"}}")


OPENFDA_LABEL = OpenFda(
    "openfda-label",
    data_set="label",
    changed="effective_time",
    key_prefix="set_id:",
    key_field="set_id",
    parse=parse_label,
)
OPENFDA_DRUGSFDA = OpenFda(
    "openfda-drugsfda",
    data_set="drugsfda",
    changed="submissions.submission_status_date",
    key_prefix="regulator:drugsfda:",
    key_field="application_number",
    parse=parse_drugsfda,
)
OPENFDA_ENFORCEMENT = OpenFda(
    "openfda-enforcement",
    data_set="enforcement",
    changed="report_date",
    key_prefix="regulator:recall:",
    key_field="recall_number",
    parse=parse_enforcement,
)
OPENFDA_EVENT = OpenFdaEvents()


def _is_name(name: str) -> bool:
    """True if a name can be used in a search; openFDA has no identifiers of another form."""
    return name.isascii() and name.replace("-", "").isalnum()


def _whole_on(ask: Ask, now: datetime) -> str:
    """The day of the last full listing, which is today if this refresh is one."""
    last = text(ask.marks, "whole_on")
    due = (now - timedelta(days=WHOLE_DAYS)).date().isoformat()
    return last if ask.since is not None and last > due else now.date().isoformat()


def _marks(made: str, now: datetime) -> dict[str, Any]:
    """The day on which the data set was made, once that day is over everywhere: until then it may
    be made again with the same date."""
    over = (now - timedelta(days=1)).date().isoformat()
    return {"last_updated": made} if made and made < over else {}


def _ask(client: SourceClient, url: str, params: dict[str, str | int]) -> Fetched:
    """An answer with results, or a 404 if there are none. Raises as `_checked`."""
    if client.key:
        params = {**params, "api_key": client.key}
    return _checked(client.get(url, params, accept=(200, 400, 404)), "")


def _search(client: SourceClient, url: str, search: str, skip: int) -> Fetched:
    size = PAGE_SIZE
    while True:
        params: dict[str, str | int] = {"search": search, "limit": size}
        if skip:
            params["skip"] = skip
        try:
            return _ask(client, url, params)
        except TooLarge:
            if size == 1:
                raise
            size //= 2


def _follow(client: SourceClient, url: str, link: str) -> Fetched:
    """The page at a link given by openFDA, with the link's parameters (WIRE 0) and the key."""
    pairs = dict(parse_qsl(_query_of(url, link)))
    while True:
        key = {"api_key": client.key} if client.key else {}
        try:
            answer = client.get(f"{url}?{urlencode(pairs | key)}", accept=(200, 400, 404))
        except TooLarge:
            size = number(pairs, "limit") or 1
            if size == 1:
                raise
            pairs["limit"] = str(size // 2)
            continue
        return _checked(answer, link)


def _checked(answer: Fetched, link: str) -> Fetched:
    """The answer, if its status is 200 or a 404 with code NOT_FOUND.

    Raises Refused for another 404; for a 400 InvalidQuery, or CursorExpired for a link; Unreachable
    for a 400 without a reason, which does not come from openFDA itself.
    """
    if answer.status == 200:
        return answer
    try:
        error = load(answer.content)
    except Malformed:
        error = {}
    code, message = text(error, "error", "code"), text(error, "error", "message")
    if answer.status == 404:
        if code != "NOT_FOUND":
            raise Refused("openFDA has no such data set (404)")
        return answer
    reason = " ".join(message.split())[:200]
    if not reason:
        raise Unreachable("openFDA is in trouble: status 400, no reason")
    if link:
        raise CursorExpired("openFDA no longer takes the link to the next page")
    raise InvalidQuery(f"openFDA does not take the query: {reason}")


def _results(answer: Fetched) -> dict[str, Any]:
    body = load(answer.content)
    if not isinstance(body, dict) or not isinstance(body.get("results"), list):
        raise Malformed("openFDA: an answer without results")
    return body


def _query_of(url: str, link: str) -> str:
    """The query string of a link. Raises Malformed if the link leads anywhere but to `url`."""
    place, _, query = link.partition("?")
    if place != url or not query:
        raise Malformed("openFDA: the link to the next page leads elsewhere")
    return query


def _next(
    url: str, answer: Fetched, value: dict[str, Any], known: Continuation, made: str
) -> tuple[dict[str, Any] | None, bool]:
    """Where the next page begins (None: no more), and False if openFDA withholds further pages."""
    match = _NEXT.search(answer.headers.get("link", ""))
    if match:
        pairs = [pair for pair in parse_qsl(_query_of(url, match[1])) if pair[0] != "api_key"]
        link = f"{url}?{urlencode(pairs)}"
        if link == known.get("next"):
            raise Malformed("openFDA: the link to the next page repeats itself")
        return {"next": link, "made": made}, True
    if known.get("next"):
        return None, True
    total = number(value, "meta", "results", "total") or 0
    skip = (number(known, "skip") or 0) + len(value["results"])
    if skip >= total or not value["results"]:
        return None, True
    if skip > MAX_SKIP:
        return None, False
    return {"skip": skip, "made": made}, True
