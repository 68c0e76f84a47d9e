"""PubMed: esearch lists the changed records, efetch fetches them (WIRE 1).

A search lists at most 9,999 records and cannot continue after them. So a longer list is cut into
ranges of days, each of which is listed whole: a count that changes meanwhile loses nothing, because
no list is continued by position.

Sometimes efetch leaves out records that were just listed. They are fetched once more at once. Those
still missing are reported as problems and fetched with every later refresh until they come. A batch
of which nothing comes is a failure.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from workers.http.client import SourceClient
from workers.http.errors import CursorExpired, InvalidQuery, Malformed
from workers.ingest.connectors.base import Ask, Connector, Continuation, Page, Payload, plain
from workers.ingest.connectors.eutils import efetch, esearch, is_pmid
from workers.ingest.parsers import envelope
from workers.ingest.parsers.base import Parsed
from workers.ingest.parsers.json_payload import texts
from workers.ingest.parsers.pubmed import records as pubmed

MAX_LIST = 9_000
"""Longer lists are cut into ranges of days (WIRE 1, incremental recipe)."""
BATCH = 200
"""Records of one efetch (NBK25499)."""

MAX_NOT_GIVEN = BATCH
"""Our limit for the missing records that later refreshes fetch again."""

_GIVEN = re.compile(
    rb"<(?:MedlineCitation|BookDocument)\b[^<>]*>\s*<PMID\b[^<>]*>\s*([0-9]{1,9})\s*</PMID>"
)
_PMID = re.compile(r"([1-9][0-9]{0,8})\[uid\]", re.IGNORECASE)
_PMIDS = re.compile(rf"{_PMID.pattern}(?: OR {_PMID.pattern})*+", re.IGNORECASE)
_NOT_GIVEN = "not_given"
"""The mark with the PMIDs that were listed but not returned."""

_FIRST_DAY = date(1800, 1, 1)

# Kinds of date: mdat (revised), edat (entered), pdat (published). A day with too many revisions is
# cut by the day of entry, and that by the day of publication.
_CUT_BY = {"mdat": ("mdat", "edat", "pdat"), "edat": ("edat", "pdat"), "": ("edat", "pdat")}

Range = list[list[str]]
"""Kind of date, first and last day (ISO), at most once for each kind; a record is in the range if
it is in all of them. The requested kind comes first."""


class PubMed:
    """See `workers.ingest.connectors.base.Connector`."""

    name = "pubmed"
    fetch_limit = BATCH

    def check_query(self, query: str) -> str:
        """A term in PubMed's own syntax, with single spaces. Raises InvalidQuery."""
        return plain(self.name, query)

    def page(self, client: SourceClient, ask: Ask, continuation: Continuation | None) -> Page:
        """Do one esearch, or one efetch of at most BATCH records.

        Without `since` all matching records are listed, else those revised or entered on that day
        or later; both the first and the last day count in full.
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
        """See `workers.ingest.parsers.pubmed.records.parse`; also reads problem payloads."""
        if payload[:1] != b"{":
            return pubmed.parse(payload)
        parsed = envelope.unwrap(payload)
        if not isinstance(parsed, Parsed):
            raise Malformed("not a set of PubMed records")
        return parsed


PUBMED: Connector = PubMed()


def _named(query: str) -> list[str]:
    """The PMIDs of a query that only names records: `123[uid] OR 456[uid]`."""
    return _PMID.findall(query) if _PMIDS.fullmatch(query) else []


def _first(ask: Ask) -> dict[str, Any]:
    """The state at the start of a refresh. `todo`: ranges to list; `ids`: PMIDs listed but not yet
    fetched; `full`: fetch before listing more; `done`: number fetched so far; `total`: once known;
    `missing`: PMIDs listed and fetched twice, but not returned."""
    late = [pmid for pmid in texts(ask.marks, _NOT_GIVEN) if is_pmid(pmid)]
    todo: list[Range] = [[]]
    if named := _named(ask.query):  # no search: it would drop a number that PubMed does not know
        late, todo = list(dict.fromkeys([*late, *named])), []
    elif ask.since is not None:
        days = [ask.since.date().isoformat(), ask.until.date().isoformat()]
        todo = [[["mdat", *days]], [["edat", *days]]]
    return {"todo": todo, "ids": late, "full": False, "done": 0, "total": None, "missing": []}


def _restored(continuation: Mapping[str, Any]) -> dict[str, Any]:
    """The state in `continuation`. Raises CursorExpired for one that this version cannot read."""
    state = {name: continuation.get(name) for name in ("todo", "ids", "full", "done", "total")}
    state["missing"] = texts(continuation, "missing")  # states of earlier versions lack it
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
    """Do one esearch: add its list to `ids`, or cut the range if the list is too long."""
    days: Range = state["todo"][0]
    term, dates = _search(ask.query, days)
    listing = esearch(client, term, dates, strict=first)
    total = state["total"]
    if first and ask.since is None:
        total = listing.count
    state = {**state, "total": total}
    if listing.count > MAX_LIST or listing.count > len(listing.pmids):
        halves = _cut(days, ask, listing.count)
        return Page(next={**state, "todo": [*halves, *state["todo"][1:]]}, total=total)
    if state["ids"] and len(state["ids"]) + listing.count > MAX_LIST:
        return Page(next={**state, "full": True}, total=total)
    ids = list(dict.fromkeys([*state["ids"], *listing.pmids]))
    todo = state["todo"][1:]
    if not todo:
        total = state["done"] + len(ids)
    if not (ids or todo):
        return Page(total=total)
    return Page(next={**state, "ids": ids, "todo": todo, "total": total}, total=total)


def _search(query: str, days: Range) -> tuple[str, list[str] | None]:
    """The term and the dates of a range: the first kind of date as parameters, further ones in the
    term."""
    if not days:
        return query, None
    (kind, *span), *further = [[part.replace("-", "/") for part in entry] for entry in days]
    term = f"({query})"
    for date_kind, start, end in further:
        term += f' AND ("{start}"[{date_kind}] : "{end}"[{date_kind}])'
    return term, [kind, *span]


def _cut(days: Range, ask: Ask, count: int) -> list[Range]:
    """The two halves of a range with `count` records, the earlier first.

    Raises:
        InvalidQuery: too many records have all their dates on the same days.
        Malformed: the records are few enough, yet they were not all listed.
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
            other_ranges = [entry for entry in days if entry[0] != kind]
            # the requested kind stays first
            place = next(
                (at for at, entry in enumerate(days) if entry[0] == kind), len(other_ranges)
            )
            return [
                [
                    *other_ranges[:place],
                    [kind, first.isoformat(), last.isoformat()],
                    *other_ranges[place:],
                ]
                for first, last in ((start, middle), (middle + timedelta(days=1), end))
            ]
    if count <= MAX_LIST:
        raise Malformed("PubMed's search counts more records than it lists")
    raise InvalidQuery(
        f"more than {MAX_LIST:,} matching records were revised, entered and published on the same "
        "days: narrow the query"
    )


def _fetched(client: SourceClient, ask: Ask, state: dict[str, Any]) -> Page:
    """Do one efetch, and a second one for the records that the first left out."""
    batch, rest = state["ids"][:BATCH], state["ids"][BATCH:]
    done = state["done"] + len(batch)
    payloads = [_payload(client, batch)]
    missing = _left_out(payloads[0], batch)
    if missing:
        payloads.append(_payload(client, missing))
        missing = _left_out(payloads[1], missing)
    late = {*texts(ask.marks, _NOT_GIVEN), *_named(ask.query)}
    if len(missing) == len(batch) and sum(pmid not in late for pmid in batch) > 1:
        raise Malformed(f"PubMed lists {len(batch)} records and gives none of them")
    if missing:
        reason = "PubMed does not give the record"
        keys = [f"pmid:{pmid}" for pmid in missing]
        payloads.append(Payload("not given", envelope.problems(keys, reason)))
    missing = [*state["missing"], *missing][-MAX_NOT_GIVEN:]
    if not (rest or state["todo"]):
        marked = missing or texts(ask.marks, _NOT_GIVEN)  # an empty mark removes an old one
        return Page(payloads, total=done, marks={_NOT_GIVEN: missing} if marked else {})
    left = {**state, "ids": rest, "full": bool(rest) and state["full"], "done": done}
    return Page(payloads, next={**left, "missing": missing}, total=state["total"])


def _left_out(payload: Payload, pmids: Sequence[str]) -> list[str]:
    """The PMIDs among `pmids` without a record in the payload."""
    returned = {pmid.decode("ascii").lstrip("0") for pmid in _GIVEN.findall(payload.content)}
    return [pmid for pmid in pmids if pmid not in returned]


def _payload(client: SourceClient, pmids: Sequence[str]) -> Payload:
    name = f"pubmed-{pmids[0]}-{len(pmids)}.xml"
    return Payload(name, efetch(client, pmids))
