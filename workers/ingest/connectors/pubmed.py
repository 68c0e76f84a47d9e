"""PubMed: esearch lists what changed, efetch brings the records (WIRE 1).

A search lists at most some 9,999 records and cannot go on behind them. So every list that would be
longer is cut into ranges of days, each of which is listed whole: a count that changes meanwhile
loses nothing, because no list is continued by position.

Now and then efetch leaves out records that were just listed. They are asked for once more at once;
what does not come then is told, and asked for with every later refresh until it comes. A list of
which nothing comes is a failure.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from workers.http.client import SourceClient
from workers.http.errors import CursorExpired, InvalidQuery, Malformed
from workers.ingest.connectors.base import Ask, Connector, Continuation, Page, Payload
from workers.ingest.connectors.eutils import efetch, esearch, is_pmid
from workers.ingest.parsers import envelope
from workers.ingest.parsers.base import Parsed
from workers.ingest.parsers.json_payload import texts
from workers.ingest.parsers.pubmed import records as pubmed

MAX_QUERY = 4_000
MAX_LIST = 9_000
"""Longer lists are cut (WIRE 1, incremental recipe)."""
BATCH = 200
"""Records of one efetch (NBK25499)."""

MAX_NOT_GIVEN = BATCH
"""Ours: so many are asked for again by later refreshes."""

_GIVEN = re.compile(
    rb"<(?:MedlineCitation|BookDocument)\b[^<>]*>\s*<PMID\b[^<>]*>\s*([0-9]{1,9})\s*</PMID>"
)
_NOT_GIVEN = "not_given"
"""The mark that holds the PMIDs that were listed and did not come."""

_FIRST_DAY = date(1800, 1, 1)
_PAIRS = {"(": ")", "[": "]"}

# What a range of days is about: when revised, when entered, when published. A day with too many
# revisions is cut by the day of entry, and that by the day of publication.
_CUT_BY = {"mdat": ("mdat", "edat", "pdat"), "edat": ("edat", "pdat"), "": ("edat", "pdat")}

Range = list[list[str]]
"""Kind of date, first and last day (ISO), at most once for each kind; a record is in the range if
it is in all of them. What was asked for comes first."""


class PubMed:
    """See `workers.ingest.connectors.base.Connector`."""

    name = "pubmed"
    fetch_limit = BATCH

    def check_query(self, query: str) -> str:
        """A term in PubMed's own syntax, with single spaces.

        Raises InvalidQuery: empty, longer than MAX_QUERY, control characters, or quotation marks,
        brackets or parentheses that are not in pairs.
        """
        query = query.strip()
        if any(ord(letter) < 32 or 127 <= ord(letter) < 160 for letter in query):
            raise InvalidQuery("the query has a line break or another control character: remove it")
        query = " ".join(query.split())
        if not query:
            raise InvalidQuery("the query is empty: write a PubMed search term")
        if len(query) > MAX_QUERY:
            raise InvalidQuery(f"the query is longer than {MAX_QUERY:,} characters: split it")
        _check_pairs(query)
        return query

    def page(self, client: SourceClient, ask: Ask, continuation: Continuation | None) -> Page:
        """One esearch or one efetch of at most BATCH records.

        Without `since` all that matches is listed, else what was revised or entered from that day
        on; days count in full on both ends.
        """
        state = _first(ask) if continuation is None else _restored(continuation)
        if state["ids"] and (state["full"] or not state["todo"]):
            return _fetched(client, ask, state)
        if not state["todo"]:
            return Page(total=state["done"])
        return _listed(client, ask, state, first=continuation is None)

    def fetch(self, client: SourceClient, keys: Sequence[str]) -> Page:
        """The records with these keys, `pmid:…`.

        Raises ValueError: another kind of key, or more than BATCH of them.
        """
        pmids = [key.removeprefix("pmid:") for key in keys if key.startswith("pmid:")]
        if len(pmids) != len(keys) or not all(map(is_pmid, pmids)) or len(pmids) > BATCH:
            raise ValueError(f"PubMed has at most {BATCH} keys of the form pmid:123 at a time")
        return Page((_payload(client, pmids),)) if pmids else Page()

    def parse(self, payload: bytes) -> Parsed:
        """See `workers.ingest.parsers.pubmed.records.parse`; or a word on what did not come."""
        if payload[:1] != b"{":
            return pubmed.parse(payload)
        told = envelope.unwrap(payload)
        if not isinstance(told, Parsed):
            raise Malformed("not a set of PubMed records")
        return told


PUBMED: Connector = PubMed()


def _check_pairs(query: str) -> None:
    if query.count('"') % 2:
        raise InvalidQuery('the query has a quotation mark (") without its other half')
    opened: list[str] = []
    for words in query.split('"')[::2]:
        for letter in words:
            if letter in _PAIRS:
                opened.append(_PAIRS[letter])
            elif letter in ")]" and (not opened or opened.pop() != letter):
                raise InvalidQuery(f"the query has a {letter!r} without its other half")
    if opened:
        raise InvalidQuery(f"the query lacks a {opened[-1]!r}")


def _first(ask: Ask) -> dict[str, Any]:
    """Where a refresh begins. `todo`: ranges to list; `ids`: what is listed and not fetched;
    `full`: fetch before listing more; `done`: fetched so far; `total`: once it is known;
    `missing`: what was listed, fetched twice and not given."""
    late = [pmid for pmid in texts(ask.marks, _NOT_GIVEN) if is_pmid(pmid)]
    if ask.since is None:
        todo: list[Range] = [[]]
    else:
        days = [ask.since.date().isoformat(), ask.until.date().isoformat()]
        todo = [[["mdat", *days]], [["edat", *days]]]
    return {"todo": todo, "ids": late, "full": False, "done": 0, "total": None, "missing": []}


def _restored(continuation: Mapping[str, Any]) -> dict[str, Any]:
    """The state in `continuation`. Raises CursorExpired for one that this version cannot read."""
    state = {name: continuation.get(name) for name in ("todo", "ids", "full", "done", "total")}
    state["missing"] = texts(continuation, "missing")  # no version before this one has them
    if not (
        isinstance(state["todo"], list)
        and isinstance(state["ids"], list)
        and isinstance(state["done"], int)
        and all(map(is_pmid, state["ids"]))
        and all(map(_is_range, state["todo"]))
    ):
        raise CursorExpired("the place in PubMed's listing is of another version: begin again")
    return state


def _is_range(value: Any) -> bool:
    try:
        return all(
            kind in _CUT_BY["mdat"] and date.fromisoformat(start) <= date.fromisoformat(end)
            for kind, start, end in value
        )
    except (TypeError, ValueError):
        return False


def _listed(client: SourceClient, ask: Ask, state: dict[str, Any], *, first: bool) -> Page:
    """One esearch: takes over its list, or cuts the range if that is too long."""
    days: Range = state["todo"][0]
    term, dates = _search(ask.query, days)
    found = esearch(client, term, dates, strict=first)
    total = state["total"]
    if first and ask.since is None:
        total = found.count
    state = {**state, "total": total}
    if found.count > MAX_LIST or found.count > len(found.pmids):
        halves = _cut(days, ask, found.count)
        return Page(next={**state, "todo": [*halves, *state["todo"][1:]]}, total=total)
    if state["ids"] and len(state["ids"]) + found.count > MAX_LIST:
        return Page(next={**state, "full": True}, total=total)
    ids = list(dict.fromkeys([*state["ids"], *found.pmids]))
    todo = state["todo"][1:]
    if not todo:
        total = state["done"] + len(ids)
    if not (ids or todo):
        return Page(total=total)
    return Page(next={**state, "ids": ids, "todo": todo, "total": total}, total=total)


def _search(query: str, days: Range) -> tuple[str, list[str] | None]:
    """The term and the dates of a range: the first kind of date as parameters, others in the
    term."""
    if not days:
        return query, None
    (kind, *span), *others = [[part.replace("-", "/") for part in entry] for entry in days]
    term = f"({query})"
    for other, start, end in others:
        term += f' AND ("{start}"[{other}] : "{end}"[{other}])'
    return term, [kind, *span]


def _cut(days: Range, ask: Ask, count: int) -> list[Range]:
    """Two halves of a range with `count` records, the earlier first.

    Raises:
        InvalidQuery: too many have all their dates on the same days.
        Malformed: there are few, and yet they were not all listed.
    """
    known = {
        kind: (date.fromisoformat(start), date.fromisoformat(end)) for kind, start, end in days
    }
    for kind in _CUT_BY[days[0][0] if days else ""]:
        # PubMed's clock may be ahead of ours, and journals date their issues ahead
        ahead = timedelta(days=2 if kind == "edat" else 3 * 366)
        start, end = known.get(kind) or (_FIRST_DAY, ask.until.date() + ahead)
        if start < end:
            middle = start + (end - start) // 2
            others = [entry for entry in days if entry[0] != kind]
            # what was asked for stays in front
            place = next((at for at, entry in enumerate(days) if entry[0] == kind), len(others))
            return [
                [*others[:place], [kind, first.isoformat(), last.isoformat()], *others[place:]]
                for first, last in ((start, middle), (middle + timedelta(days=1), end))
            ]
    if count <= MAX_LIST:
        raise Malformed("PubMed's search counts more records than it lists")
    raise InvalidQuery(
        f"more than {MAX_LIST:,} matching records were revised, entered and published on the same "
        "days: narrow the query"
    )


def _fetched(client: SourceClient, ask: Ask, state: dict[str, Any]) -> Page:
    """One efetch, and a second one for what the first left out."""
    batch, rest = state["ids"][:BATCH], state["ids"][BATCH:]
    done = state["done"] + len(batch)
    payloads = [_payload(client, batch)]
    missing = _left_out(payloads[0], batch)
    if missing:
        payloads.append(_payload(client, missing))
        missing = _left_out(payloads[1], missing)
    late = set(texts(ask.marks, _NOT_GIVEN))
    if len(missing) == len(batch) and sum(pmid not in late for pmid in batch) > 1:
        raise Malformed(f"PubMed lists {len(batch)} records and gives none of them")
    if missing:
        reason = "PubMed lists the record and does not give it"
        keys = [f"pmid:{pmid}" for pmid in missing]
        payloads.append(Payload("not given", envelope.problems(keys, reason)))
    missing = [*state["missing"], *missing][-MAX_NOT_GIVEN:]
    if not (rest or state["todo"]):
        told = missing or texts(ask.marks, _NOT_GIVEN)  # an empty mark takes an old one away
        return Page(payloads, total=done, marks={_NOT_GIVEN: missing} if told else {})
    left = {**state, "ids": rest, "full": bool(rest) and state["full"], "done": done}
    return Page(payloads, next={**left, "missing": missing}, total=state["total"])


def _left_out(payload: Payload, pmids: Sequence[str]) -> list[str]:
    """Those of `pmids` of which the payload has no record."""
    given = {found.decode("ascii").lstrip("0") for found in _GIVEN.findall(payload.content)}
    return [pmid for pmid in pmids if pmid not in given]


def _payload(client: SourceClient, pmids: Sequence[str]) -> Payload:
    name = f"pubmed-{pmids[0]}-{len(pmids)}.xml"
    return Payload(name, efetch(client, pmids))
