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
from workers.ingest.connectors.base import Ask, Continuation, Page, Payload
from workers.ingest.parsers.base import Parsed
from workers.ingest.parsers.clinicaltrials.study import parse, studies
from workers.ingest.parsers.json_payload import load, number, text

API = "https://clinicaltrials.gov/api/v2"

PAGE_SIZE = 100
"""Studies a page; halved where they are too large (records with results have up to 1.5 MB)."""
MAX_IDS = 100
"""Ours: a watch of named studies asks for them in one request."""
MAX_QUERY = 2000
"""Characters; ours, well below what an address may have."""

_SORT = "LastUpdatePostDate:desc"
_NCT_IDS = re.compile(r"NCT\d{8}(?:(?: OR |[ ,;|]+)NCT\d{8})*", re.IGNORECASE | re.ASCII)
_NCT_ID = re.compile(r"NCT\d{8}", re.IGNORECASE | re.ASCII)
_PAIRS = {")": "(", "]": "["}


class ClinicalTrials:
    """Connector `clinicaltrials`. A query is Essie syntax, or nothing but NCT ids."""

    name = "clinicaltrials"
    # a study that the batch does not give is asked for alone, and a page has a minute
    fetch_limit = 40

    def check_query(self, query: str) -> str:
        """White space made single; NCT ids in capitals, with spaces between, each once.

        Raises InvalidQuery for empty queries, open quotation marks and brackets, and too many ids.
        """
        spelled = " ".join(query.split())
        if not spelled:
            raise InvalidQuery("The query is empty: write a condition, a drug or an NCT id.")
        if len(spelled) > MAX_QUERY:
            raise InvalidQuery(f"The query is longer than {MAX_QUERY:,} characters: split it.")
        if _NCT_IDS.fullmatch(spelled):
            ids = _ids_of(spelled)
            if len(ids) > MAX_IDS:
                raise InvalidQuery(f"The query names more than {MAX_IDS} studies: split it.")
            return " ".join(ids)
        _check_balance(spelled)
        return spelled

    def page(self, client: SourceClient, ask: Ask, continuation: Continuation | None) -> Page:
        """The next studies that match, changed on the day of `ask.since` or later.

        The refresh is over before it begins where the data set is the one of the last refresh.
        Raises CursorExpired where the page token no longer holds, InvalidQuery where the registry
        does not understand the query.
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
        found = list(studies(value))
        token = text(value, "nextPageToken")
        if token and token == known.get("token"):
            raise Malformed("ClinicalTrials.gov: the page token repeats itself")
        following = {"token": token, "size": size, "stamp": stamp} if token else None
        return Page(
            payloads=[Payload("studies", answer.content)] if found else [],
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
    return list(dict.fromkeys(found.upper() for found in _NCT_ID.findall(query)))


def _nct_id(key: str) -> str:
    kind, _, name = key.partition(":")
    return name.upper() if kind == "nct_id" and _NCT_ID.fullmatch(name) else ""


def _check_balance(query: str) -> None:
    """Refuse what Essie cannot read; brackets within quotation marks are words."""
    opened: list[str] = []
    quoted = False
    for mark in query:
        if mark == '"':
            quoted = not quoted
        elif not quoted and mark in "([":
            opened.append(mark)
        elif not quoted and mark in _PAIRS and (not opened or opened.pop() != _PAIRS[mark]):
            raise InvalidQuery(f"The query closes a bracket {mark} that is not open: {query}")
    if quoted:
        raise InvalidQuery(f"The query opens a quotation mark and does not close it: {query}")
    if opened:
        raise InvalidQuery(f"The query opens a bracket {opened[-1]} and does not close it: {query}")


def _stamp(client: SourceClient) -> str:
    """The state of the data set; "" where the registry does not say it in a form we know."""
    try:
        return text(load(client.get(f"{API}/version").content), "dataTimestamp")
    except Malformed:
        return ""


def _changed_since(ask: Ask) -> dict[str, str | int]:
    if ask.since is None:
        return {}
    day = f"{ask.since.astimezone(UTC):%Y-%m-%d}"
    # by the day and inclusive; a query of NCT ids only would switch filters off (WIRE 2)
    return {"filter.advanced": f"AREA[LastUpdatePostDate]RANGE[{day},MAX]"}


def _search(client: SourceClient, ask: Ask, known: Continuation) -> tuple[Fetched, int]:
    """One page, and how many studies a page has by now: the size may change between pages."""
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
        if answer.status == 404:  # it is the list of all studies, whatever the query
            raise Unreachable("ClinicalTrials.gov does not find its own list of studies (404)")
        raise InvalidQuery(f"ClinicalTrials.gov does not take the query: {_said(answer)}")


def _check_trouble(answer: Fetched) -> None:
    """Its errors are a line of plain text; a web page stands there under trouble (WIRE 2), and
    says nothing of what was asked. Raises Unreachable for one."""
    said = _said(answer)
    if answer.status != 200 and (said.startswith("<") or (answer.status == 400 and not said)):
        raise Unreachable(f"ClinicalTrials.gov is in trouble: status {answer.status}, no reason")


def _said(answer: Fetched) -> str:
    """Why it refused: one line of plain text."""
    return " ".join(answer.content[:2000].decode("utf-8", "replace").split())[:200]


def _by_ids(client: SourceClient, ids: Sequence[str], filters: dict[str, Any]) -> list[Payload]:
    """The named studies: in one request, else in halves, for one id that the registry does not
    take spoils the batch. What a batch leaves out is asked for alone, under its old id if need be.
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
    found = list(studies(load(answer.content)))
    payloads = [Payload("studies", answer.content)] if found else []
    if not filters:
        given = {text(study, "protocolSection", "identificationModule", "nctId") for study in found}
        for nct_id in ids:
            if nct_id not in given:
                payloads += _single(client, nct_id)
    return payloads


def _single(client: SourceClient, nct_id: str) -> list[Payload]:
    """One study, behind a redirect if its id is an alias (WIRE 2); nothing if there is none."""
    answer = client.get(f"{API}/studies/{nct_id}", {"format": "json"}, accept=(200, 400, 404))
    _check_trouble(answer)
    if answer.status == 404:
        return []
    if answer.status == 400:  # not gone, and not to be taken for it
        raise Refused(f"ClinicalTrials.gov does not take the id: {_said(answer)}")
    _ = studies(load(answer.content))
    return [Payload(nct_id, answer.content)]
