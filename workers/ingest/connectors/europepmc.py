"""Europe PMC: articles, preprints and open full texts by query (WIRE 4)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from workers.http.client import Parameters, SourceClient
from workers.http.errors import InvalidQuery, Malformed, Refused, TooLarge
from workers.ingest.connectors.base import Ask, Continuation, Page, Payload, plain, time_is_up
from workers.ingest.parsers import envelope
from workers.ingest.parsers.base import Parsed
from workers.ingest.parsers.europepmc import search as europepmc
from workers.ingest.parsers.json_payload import Json, at, load, number, text

REST = "https://www.ebi.ac.uk/europepmc/webservices/rest"

PAGE_SIZE = 100
"""Core records have about 10 kB, those with many investigators 300 kB; 1,000 are allowed."""
FULL_TEXTS_A_STEP = 10
"""A full text has up to a few megabytes; ten take less than a minute."""
LONGEST_GET = 1500
"""Characters of a query; longer ones are sent by POST."""
_FIRST = "*"

_QUOTED_ID = re.compile(r"\bEXT_ID\s*:\s*\"", re.IGNORECASE)
_ORDER = re.compile(r"\bsort_(?:date|cited)\s*:", re.IGNORECASE)
_OPERATORS = frozenset({"AND", "OR", "NOT"})
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_FULL_TEXT = re.compile(r"(?:europepmc|preprint):fulltext:(PMC[1-9][0-9]{0,11})", re.IGNORECASE)


FullText = tuple[str, list[Json]]
"""A PMCID, and the notices on the article, which its full text does not contain."""


@dataclass(frozen=True)
class _Place:
    """The state of a refresh: the cursor of the next search page (None: there is none), the full
    texts of earlier pages that are still to fetch, the number of results so far, and whether the
    listing ended before its own count."""

    cursor: str | None = _FIRST
    full_texts: tuple[FullText, ...] = ()
    seen: int = 0
    short: bool = False

    def continuation(self) -> Continuation | None:
        if self.cursor is None and not self.full_texts:
            return None
        return {
            "cursor": self.cursor,
            "full_texts": [list(full_text) for full_text in self.full_texts],
            "seen": self.seen,
            "short": self.short,
        }


class EuropePmc:
    """Each page of a search is followed by the open full texts of its articles."""

    name = "europepmc"
    fetch_limit = 25  # queries of many DOIs are answered with 504 now and then

    def check_query(self, query: str) -> str:
        """The query in Europe PMC's own language, with single spaces. Raises InvalidQuery."""
        line = plain(self.name, query)
        if _QUOTED_ID.search(line):
            raise InvalidQuery("write EXT_ID:123 without quotes; with them nothing is ever found")
        if _ORDER.search(line):
            raise InvalidQuery("leave out sort_date: and sort_cited:; the order changes nothing")
        terms = line.split(" ")
        if terms[-1] in _OPERATORS or terms[0] in _OPERATORS - {"NOT"}:
            raise InvalidQuery(f"{terms[-1] if terms[-1] in _OPERATORS else terms[0]} needs a term")
        return line

    def page(self, client: SourceClient, ask: Ask, continuation: Continuation | None) -> Page:
        """A page of the search, or up to ten full texts of the previous page."""
        place = _place(continuation)
        if place.full_texts:
            return _full_texts(client, place)
        if place.cursor is None:
            return Page(complete=not place.short)
        content, answer = _search(client, _changed(ask), place.cursor)
        total = number(answer, "hitCount")
        if total is None:
            raise Malformed("no hitCount in the answer of Europe PMC")
        following = _following(answer, place.cursor)
        count = len(europepmc.results(answer))
        seen = place.seen + count
        if following is not None and seen > 2 * total + PAGE_SIZE:
            raise Malformed("Europe PMC's cursor goes in circles")
        here = _Place(
            following,
            _open(answer),
            seen,
            following is None and seen < total,
        )
        payloads = (Payload(f"results from {place.seen + 1}", content),) if count else ()
        return Page(payloads, here.continuation(), total, complete=not here.short)

    def fetch(self, client: SourceClient, keys: Sequence[str]) -> Page:
        """Documents by `pmid:`, `pmcid:`, `doi:`, `preprint:ppr:`, `europepmc:agr:` and the like,
        and `europepmc:fulltext:PMC…`."""
        began = client.now()
        payloads: list[Payload] = []
        terms: list[str] = []
        full_texts: list[str] = []
        for key in keys[: self.fetch_limit]:
            term, pmcid = _term(key), _full_text_of(key)
            if pmcid:
                full_texts.append(pmcid)
            elif term:
                terms.append(term)
            else:
                reason = "Europe PMC cannot be asked for a document with such a key"
                payloads.append(Payload("a key of another kind", envelope.problem(key, reason)))
        for content, _ in _all_results(client, terms):
            payloads.append(Payload("results", content))
        notices: dict[str, list[Json]] = {}
        for _, answer in _all_results(client, [f"PMCID:{pmcid}" for pmcid in full_texts]):
            notices |= europepmc.notices_by_pmcid(answer)
        wanted = [(pmcid, notices.get(pmcid, [])) for pmcid in full_texts]
        read, done = _read_some(client, wanted, began)
        late = set(full_texts[done:])
        left_over = [key for key in keys if (_full_text_of(key) or "") in late]
        return Page((*payloads, *read), left_over=left_over)

    def parse(self, payload: bytes) -> Parsed:
        """Raises Malformed."""
        return europepmc.parse(payload)


def _changed(ask: Ask) -> str:
    """The query, limited to records that changed; Europe PMC counts days, both ends included."""
    if ask.since is None:
        return ask.query
    since, until = ask.since.date().isoformat(), ask.until.date().isoformat()
    return f"({ask.query}) AND UPDATE_DATE:[{since} TO {until}]"


def _search(client: SourceClient, query: str, cursor: str) -> tuple[bytes, Any]:
    """A page of results, as bytes and as parsed JSON."""
    parameters: Parameters = {
        "query": query,
        "format": "json",
        "resultType": "core",
        "pageSize": PAGE_SIZE,
        "cursorMark": cursor,
    }
    if len(query) > LONGEST_GET:
        content = client.post(f"{REST}/searchPOST", parameters).content
    else:
        content = client.get(f"{REST}/search", parameters).content
    answer = load(content)
    code, message = at(answer, "errCode"), text(answer, "errMsg")
    if code is not None:
        if "search criteria" in message.lower() or "query" in message.lower():
            raise InvalidQuery(
                f"Europe PMC cannot read the query: {' '.join(message.split())[:200]}"
            )
        raise Refused(f"Europe PMC answers with error {str(code)[:10]} in place of results")
    europepmc.results(answer)
    return content, answer


def _following(answer: Any, cursor: str) -> str | None:
    """The cursor of the next page. The last page repeats its own, has none, or is empty."""
    mark = text(answer, "nextCursorMark")
    return mark if mark and mark != cursor and europepmc.results(answer) else None


def _open(answer: Any) -> tuple[FullText, ...]:
    notices = europepmc.notices_by_pmcid(answer)
    pmcids = dict.fromkeys(europepmc.open_full_texts(answer))
    return tuple((pmcid, notices.get(pmcid, [])) for pmcid in pmcids)


def _all_results(client: SourceClient, terms: Sequence[str]) -> Iterator[tuple[bytes, Any]]:
    """All pages of results that match one of the terms; nothing for no terms."""
    query = " OR ".join(f"({term})" for term in terms)
    cursor: str | None = _FIRST if terms else None
    seen = 0
    while cursor is not None:
        try:
            content, answer = _search(client, query, cursor)
        except InvalidQuery:  # our own query, not a user's
            raise Refused("Europe PMC cannot read a query for documents by id") from None
        count, total = len(europepmc.results(answer)), number(answer, "hitCount") or 0
        if total > PAGE_SIZE * 10:
            raise Malformed("Europe PMC answers a query for documents by id with too many")
        cursor = _following(answer, cursor)
        seen += count
        if count:
            yield content, answer
        if seen >= total:
            return


def _full_texts(client: SourceClient, place: _Place) -> Page:
    payloads, done = _read_some(client, place.full_texts[:FULL_TEXTS_A_STEP], client.now())
    following = _Place(place.cursor, place.full_texts[done:], place.seen, place.short)
    return Page(tuple(payloads), following.continuation(), complete=not place.short)


def _read_some(
    client: SourceClient, wanted: Sequence[FullText], began: datetime
) -> tuple[list[Payload], int]:
    """As many of these full texts as there is time for, at least one, and their number."""
    payloads: list[Payload] = []
    for done, full_text in enumerate(wanted):
        if done and time_is_up(client, began):
            return payloads, done
        payloads += _full_text(client, full_text)
    return payloads, len(wanted)


def _full_text(client: SourceClient, wanted: FullText) -> list[Payload]:
    """The full text; empty if there is none, for which Europe PMC only answers 404."""
    pmcid, notices = wanted
    try:
        reply = client.get(f"{REST}/{pmcid}/fullTextXML", accept=(200, 404))
    except TooLarge:
        reason = "the full text is larger than is read"
        key = f"europepmc:fulltext:{pmcid}"
        return [Payload(f"{pmcid} too large", envelope.problem(key, reason))]
    if reply.status == 404 or not reply.content.strip():
        return []
    return [Payload(f"{pmcid} full text", europepmc.full_text(reply.content, notices, pmcid))]


def _full_text_of(key: str) -> str | None:
    """The PMCID of a full text's key."""
    match = _FULL_TEXT.fullmatch(key)
    return match[1].upper() if match else None


def _term(key: str) -> str | None:
    """The search term that finds the document with this key; None if there is none."""
    kind, _, name = key.partition(":")
    if kind == "doi":
        return f'DOI:"{name}"' if '"' not in name and "\\" not in name else None
    if kind in ("preprint", "europepmc"):
        kind, _, name = name.partition(":")
    else:
        kind = {"pmid": "med", "pmcid": "pmcid"}.get(kind, "")
    if kind in ("", "title") or not kind.isalpha() or not _ID.fullmatch(name):
        return None
    if kind == "pmcid":
        return f"PMCID:{name.upper()}"
    return f"EXT_ID:{name} AND SRC:{kind.upper()}"  # quoted, EXT_ID finds nothing


def _place(continuation: Continuation | None) -> _Place:
    if continuation is None:
        return _Place()
    cursor, seen = continuation.get("cursor"), continuation.get("seen")
    full_texts = continuation.get("full_texts")
    if (
        not (cursor is None or isinstance(cursor, str))
        or not isinstance(seen, int)
        or not isinstance(full_texts, list)
    ):
        raise Malformed("the continuation of this refresh is not one of Europe PMC's")
    wanted = tuple((str(pmcid), list(notices)) for pmcid, notices in full_texts)
    return _Place(cursor, wanted, seen, continuation.get("short") is True)


EUROPEPMC = EuropePmc()
