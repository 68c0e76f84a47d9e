"""ClinicalTrials.gov API v2 (WIRE 2): searches by page token, changes by the day of the last
update, single studies by NCT id."""

import re
from collections.abc import Sequence
from datetime import UTC
from typing import Any

from workers.http.client import Fetched, SourceClient
from workers.http.errors import (
    CursorExpired,
    InvalidQuery,
    Malformed,
    Refused,
    TooLarge,
    Unreachable,
)
from workers.ingest.connectors.base import Ask, Continuation, Page, Payload, plain
from workers.ingest.parsers.base import Parsed
from workers.ingest.parsers.clinicaltrials.study import parse, studies
from workers.ingest.parsers.json_payload import load, number, text

API = "https://clinicaltrials.gov/api/v2"

PAGE_SIZE = 100
"""Studies per page; halved if they are too large (records with results have up to 1.5 MB)."""
MAX_IDS = 100
"""Our limit: a watch of named studies asks for them in one request."""
MAX_QUERY = 2000
"""Characters; our limit, well below the longest URL that servers take."""

_SORT = "LastUpdatePostDate:desc"
_NCT_IDS = re.compile(r"NCT\d{8}(?:(?: OR |[ ,;|]+)NCT\d{8})*", re.IGNORECASE | re.ASCII)
_NCT_ID = re.compile(r"NCT\d{8}", re.IGNORECASE | re.ASCII)


class ClinicalTrials:
    """Connector `clinicaltrials`. A query is in Essie syntax, or a list of NCT ids only."""

    name = "clinicaltrials"
    # a study that is missing in the batch is fetched alone, and a page has a minute
    fetch_limit = 40

    def check_query(self, query: str) -> str:
        """The query with single spaces; NCT ids in capitals, separated by spaces, each once.

        Raises InvalidQuery, also for too many ids.
        """
        spelled = plain(self.name, query, MAX_QUERY)
        if _NCT_IDS.fullmatch(spelled):
            ids = _ids_of(spelled)
            if len(ids) > MAX_IDS:
                raise InvalidQuery(f"The query names more than {MAX_IDS} studies: split it.")
            return " ".join(ids)
        return spelled

    def page(self, client: SourceClient, ask: Ask, continuation: Continuation | None) -> Page:
        """The next studies that match and changed on the day of `ask.since` or later.

        The first page is empty and the last if the data set is unchanged since the last refresh.
        Raises CursorExpired if the page token is no longer valid, InvalidQuery if the registry does
        not understand the query.
        """
        known = continuation or {"stamp": _stamp(client)}
        stamp = known.get("stamp")
        marks = {"dataTimestamp": stamp} if stamp else {}
        if continuation is None and ask.since and stamp and stamp == ask.marks.get("dataTimestamp"):
            return Page(marks=marks)
        if _NCT_IDS.fullmatch(ask.query):
            return self._named(client, ask, known, marks)
        answer, size = _search(client, ask, known)
        value = load(answer.content)
        page_studies = list(studies(value))
        token = text(value, "nextPageToken")
        if token and token == known.get("token"):
            raise Malformed("ClinicalTrials.gov: the page token repeats itself")
        following = {"token": token, "size": size, "stamp": stamp} if token else None
        return Page(
            payloads=[Payload("studies", answer.content)] if page_studies else [],
            next=following,
            total=number(value, "totalCount"),
            marks=marks,
        )

    def _named(
        self, client: SourceClient, ask: Ask, known: Continuation, marks: dict[str, Any]
    ) -> Page:
        """A page of a watch that names its studies."""
        ids = _ids_of(ask.query)
        begin = number(known, "from") or 0
        end = begin + self.fetch_limit
        payloads = _by_ids(client, ids[begin:end], _changed_since(ask))
        following = {"from": end, "stamp": known.get("stamp")} if end < len(ids) else None
        return Page(payloads, next=following, marks=marks)

    def fetch(self, client: SourceClient, keys: Sequence[str]) -> Page:
        """The studies with these keys (`nct_id:nct01234567`)."""
        ids = [_nct_id(key) for key in keys]
        return Page(_by_ids(client, list(dict.fromkeys(filter(None, ids))), {}))

    def parse(self, payload: bytes) -> Parsed:
        """See `parsers.clinicaltrials.study.parse`."""
        return parse(payload)


CLINICALTRIALS = ClinicalTrials()


def _ids_of(query: str) -> list[str]:
    return list(dict.fromkeys(nct_id.upper() for nct_id in _NCT_ID.findall(query)))


def _nct_id(key: str) -> str:
    kind, _, name = key.partition(":")
    return name.upper() if kind == "nct_id" and _NCT_ID.fullmatch(name) else ""


def _stamp(client: SourceClient) -> str:
    """The time stamp of the data set; "" if the registry does not give it in a known form."""
    try:
        return text(load(client.get(f"{API}/version").content), "dataTimestamp")
    except Malformed:
        return ""


def _changed_since(ask: Ask) -> dict[str, str | int]:
    if ask.since is None:
        return {}
    day = f"{ask.since.astimezone(UTC):%Y-%m-%d}"
    # by day, inclusive; a query of NCT ids only would switch filters off (WIRE 2)
    return {"filter.advanced": f"AREA[LastUpdatePostDate]RANGE[{day},MAX]"}


def _search(client: SourceClient, ask: Ask, known: Continuation) -> tuple[Fetched, int]:
    """One page, and the current page size in studies, which may change between pages."""
    token = str(known.get("token") or "")
    size = number(known, "size") or PAGE_SIZE
    params: dict[str, str | int] = {
        "query.term": ask.query,
        **_changed_since(ask),
        "sort": _SORT,
        "format": "json",
    }
    params |= {"pageToken": token} if token else {"countTotal": "true"}
    while True:
        try:
            answer = client.get(
                f"{API}/studies", {**params, "pageSize": size}, accept=(200, 400, 404)
            )
        except TooLarge:
            if size == 1:
                raise
            size //= 2
            continue
        if answer.status == 200:
            return answer, size
        _check_trouble(answer)
        if token:
            raise CursorExpired("ClinicalTrials.gov no longer knows the page token")
        if answer.status == 404:  # this address is the list of all studies, whatever the query
            raise Unreachable("ClinicalTrials.gov does not find its own list of studies (404)")
        raise InvalidQuery(f"ClinicalTrials.gov does not take the query: {_said(answer)}")


def _check_trouble(answer: Fetched) -> None:
    """Raise Unreachable if the error is not one line of plain text, as the registry's own errors
    are: under trouble it sends a web page (WIRE 2), which says nothing about the request."""
    reason = _said(answer)
    if answer.status != 200 and (reason.startswith("<") or (answer.status == 400 and not reason)):
        raise Unreachable(f"ClinicalTrials.gov is in trouble: status {answer.status}, no reason")


def _said(answer: Fetched) -> str:
    """The reason of a refusal: one line of plain text."""
    return " ".join(answer.content[:2000].decode("utf-8", "replace").split())[:200]


def _by_ids(client: SourceClient, ids: Sequence[str], filters: dict[str, Any]) -> list[Payload]:
    """The named studies, in one request; in halves if that fails, since one id that the registry
    does not take fails the batch. A study missing in a batch is fetched alone: its id may be old.
    """
    if not ids:
        return []
    if len(ids) == 1 and not filters:
        return _single(client, ids[0])
    params = {"filter.ids": ",".join(ids), **filters, "format": "json", "pageSize": MAX_IDS}
    try:
        answer = client.get(f"{API}/studies", params, accept=(200, 400, 404))
    except TooLarge:
        answer = None
    if answer is not None:
        _check_trouble(answer)
    if answer is None or answer.status != 200:
        if len(ids) == 1:
            return _single(client, ids[0])
        middle = len(ids) // 2
        return _by_ids(client, ids[:middle], filters) + _by_ids(client, ids[middle:], filters)
    batch = list(studies(load(answer.content)))
    payloads = [Payload("studies", answer.content)] if batch else []
    if not filters:
        returned = {
            text(study, "protocolSection", "identificationModule", "nctId") for study in batch
        }
        for nct_id in ids:
            if nct_id not in returned:
                payloads += _single(client, nct_id)
    return payloads


def _single(client: SourceClient, nct_id: str) -> list[Payload]:
    """One study, through a redirect if its id is an alias (WIRE 2); empty if there is none."""
    answer = client.get(f"{API}/studies/{nct_id}", {"format": "json"}, accept=(200, 400, 404))
    _check_trouble(answer)
    if answer.status == 404:
        return []
    if answer.status == 400:  # this does not mean that the study is gone
        raise Refused(f"ClinicalTrials.gov does not take the id: {_said(answer)}")
    _ = studies(load(answer.content))
    return [Payload(nct_id, answer.content)]
