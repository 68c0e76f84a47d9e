"""Medicare coverage: LCDs, articles and NCDs by words of their titles, MolDX included (WIRE 6).

Every refresh reads the reports whole; they need no licence. It passes on the documents that changed
since the marks: an NCD with its text, an LCD with its text only if the operator accepted the AMA,
ADA and AHA licences, since asking for the token accepts them.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workers.http.client import SourceClient
from workers.http.errors import InvalidQuery, Malformed
from workers.ingest.connectors.base import Ask, Continuation, Page, Payload, time_is_up
from workers.ingest.parsers import envelope
from workers.ingest.parsers import json_payload as fields
from workers.ingest.parsers.base import Parsed
from workers.ingest.parsers.cms.coverage import Report, document_key, parse_cms, us_date

API = "https://api.coverage.cms.gov/v1"

REPORTS: dict[Report, str] = {
    "lcd": "/reports/local-coverage-final-lcds",
    "article": "/reports/local-coverage-articles",
    "ncd": "/reports/national-coverage-ncd",
}
TEXTS_A_STEP = 20
_MOST_PAGES = 200
"""Page limit of one report. It has some 2,200 rows; tokens that never end are a fault."""

_TEXT, _OLD_TEXT = "text", "old text"
"""Endings of a document's mark: it was passed on with its text; or the API no longer had its text,
so that its row must not replace the text and the text is asked for again."""

_WORD = re.compile(r"\w+(?:\.\w+)*")
_MAX_QUERY = 200

Row = dict[str, Any]


@dataclass
class _Place:
    """The state of a refresh. `seen` becomes the marks; `unlisted`: old marks without a row."""

    report: int = 0
    token: str = ""
    pages: int = 0
    waiting: list[tuple[Report, Row]] = field(default_factory=list)
    seen: dict[str, str] = field(default_factory=dict)
    unlisted: list[str] = field(default_factory=list)

    @property
    def at_end(self) -> bool:
        """True if all reports are read and no document waits for its text."""
        return self.report >= len(REPORTS) and not self.waiting


class Cms:
    """Marks: key of a document → its version, time of update, retirement and kind of text."""

    name = "cms"
    fetch_limit = TEXTS_A_STEP

    def __init__(self, *, accept_license: bool) -> None:
        """`accept_license`: the operator accepts the licences of AMA, ADA and AHA (CPT, CDT, …)."""
        self._accept_license = accept_license

    def check_query(self, query: str) -> str:
        """Words of titles or a document's id, in lower case. Raises InvalidQuery."""
        words = _WORD.findall(query.casefold())
        if not any(len(word) > 1 for word in words) or len(query) > _MAX_QUERY:
            raise InvalidQuery(
                "write words of a policy's title, a document id (L38568), or moldx for all of MolDX"
            )
        return " ".join(words)

    def page(self, client: SourceClient, ask: Ask, continuation: Continuation | None) -> Page:
        """A page of a report, or the texts of up to twenty documents."""
        place = _place(continuation, ask)
        complete = True
        if place.waiting:
            payloads = self._texts(client, place, ask.marks)
        else:
            payloads, complete = self._report(client, ask, place)
        if not place.at_end:
            return Page(tuple(payloads), _continuation(place), complete=complete)
        payloads += _unlisted(place)
        return Page(tuple(payloads), None, len(place.seen), place.seen, complete)

    def fetch(self, client: SourceClient, keys: Sequence[str]) -> Page:
        """Documents by `lcd_id:…` and `payer:ncd:…`, found in their reports."""
        wanted = set(keys[: self.fetch_limit])
        place = _Place()
        payloads = []
        for report, path in REPORTS.items():
            if not any(_may_stand_in(report, key) for key in wanted):
                continue
            rows = [row for row in _all_rows(client, path) if document_key(report, row) in wanted]
            if self._has_text(report):
                place.waiting += [(report, row) for row in rows]
            elif rows:
                payloads.append(_payload(client, report, rows))
        while place.waiting:
            payloads += self._texts(client, place, None)
        return Page(tuple(payloads))

    def parse(self, payload: bytes) -> Parsed:
        """Raises Malformed."""
        return parse_cms(payload)

    def _has_text(self, report: Report) -> bool:
        return report == "ncd" or (report == "lcd" and self._accept_license)

    def _report(self, client: SourceClient, ask: Ask, place: _Place) -> tuple[list[Payload], bool]:
        """Read the next page of the report; the flag is False if the whole report is empty."""
        report = list(REPORTS)[place.report]
        rows, token = _rows(client, REPORTS[report], place.token)
        empty = not rows and not place.token
        listed = {document_key(report, row) for row in rows}
        place.unlisted = [key for key in place.unlisted if key not in listed]
        if empty:  # a report has hundreds of rows: an empty one is a fault and proves nothing
            place.unlisted = [key for key in place.unlisted if not _may_stand_in(report, key)]
        changed = []
        words = ask.query.split()
        for row in rows:
            if not _matches(row, words):
                continue
            key = document_key(report, row)
            mark = self._mark(client, report, row)
            if key is not None:
                place.seen[key] = mark
            if key is None or ask.marks.get(key) != mark:
                changed.append(row)
        place.pages += 1
        if token and (token == place.token or place.pages >= _MOST_PAGES):
            raise Malformed(f"cms: the report {report} goes on without end")
        place.token = token
        if not token:
            place.report, place.pages = place.report + 1, 0
        if self._has_text(report):
            place.waiting += [(report, row) for row in changed]
            return [], not empty
        return ([_payload(client, report, changed)] if changed else []), not empty

    def _mark(self, client: SourceClient, report: Report, row: Row) -> str:
        """The mark of a row; it changes with everything that makes us store the document anew."""
        retired = us_date(fields.text(row, "retirement_date"))
        parts = (
            fields.text(row, "document_version"),
            fields.text(row, "updated_on_sort") or fields.text(row, "last_updated_sort"),
            "retired" if retired and retired.date() <= client.now().date() else "",
            _TEXT if self._has_text(report) else "",
        )
        return "|".join(parts)

    def _texts(
        self, client: SourceClient, place: _Place, marks: Mapping[str, Any] | None
    ) -> list[Payload]:
        """The documents that have waited longest, each with its text if the API has one.

        `marks`: of the last refresh; None if unknown.
        """
        began = client.now()
        now = place.waiting[:TEXTS_A_STEP]
        licence: dict[str, str] = {}
        if any(report == "lcd" for report, _ in now):
            licence = {"Authorization": f"Bearer {self._token(client)}"}
        payloads: list[Payload] = []
        for report, row in now:
            if payloads and time_is_up(client, began):
                break
            number, version = fields.text(row, "document_id"), fields.text(row, "document_version")
            if report == "ncd":
                reply = client.get(f"{API}/data/ncd", {"ncdid": number, "ncdver": version})
            else:
                reply = client.get(
                    f"{API}/data/lcd", {"lcdid": number, "ver": version}, headers=licence
                )
            detail = next(iter(_data(reply.content)), None)
            if detail is None:
                payloads.append(_without_text(client, place, report, row, marks))
            else:
                payloads.append(_payload(client, report, [row], detail))
        place.waiting = place.waiting[len(payloads) :]
        return payloads

    def _token(self, client: SourceClient) -> str:
        """A token that is valid for an hour. Never requested without `accept_license`."""
        if not self._accept_license:
            raise Malformed("cms: an LCD waits for its text, but the licences are not accepted")
        reply = client.get(f"{API}/metadata/license-agreement/")
        token = next((fields.text(row, "Token") for row in _data(reply.content)), "")
        if not token:
            raise Malformed("cms: the answer to the licence agreement has no token")
        return token


def _rows(client: SourceClient, path: str, token: str) -> tuple[list[Row], str]:
    """A page of a report and the token of the next page, "" at the end."""
    parameters = {"next_token": token} if token else None
    content = client.get(f"{API}{path}", parameters).content
    return _data(content), fields.text(fields.load(content), "meta", "next_token")


def _all_rows(client: SourceClient, path: str) -> Iterator[Row]:
    token = ""
    for _ in range(_MOST_PAGES):
        rows, token = _rows(client, path, token)
        yield from rows
        if not token:
            return
    raise Malformed("cms: a report goes on without end")


def _data(content: bytes) -> list[Row]:
    value = fields.load(content)
    if not isinstance(fields.at(value, "data"), list):
        raise Malformed("cms: an answer without data")
    return fields.rows(value, "data")


def _payload(
    client: SourceClient,
    report: Report,
    rows: Sequence[Row],
    detail: Row | None = None,
    *,
    without_text: bool = False,
) -> Payload:
    body: dict[str, Any] = {
        "report": report,
        "asked_on": client.now().date().isoformat(),
        "data": list(rows),
    }
    if detail is not None:
        body["detail"] = detail
    if without_text:
        body["without_text"] = True
    content = json.dumps(body, ensure_ascii=True, separators=(",", ":")).encode("ascii")
    return Payload(f"{report} {len(rows)} of the report", content)


def _without_text(
    client: SourceClient,
    place: _Place,
    report: Report,
    row: Row,
    marks: Mapping[str, Any] | None,
) -> Payload:
    """The payload for a document whose text the API does not give (200 with no data, WIRE 6).

    It is the row if that replaces no held text or says that the document is retired; else it is a
    problem. Either way the mark says that the text is still missing.
    """
    key = document_key(report, row)
    before = str(marks.get(key or "", "")) if marks is not None else f"|{_TEXT}"
    held = before.endswith((f"|{_TEXT}", f"|{_OLD_TEXT}"))
    if key is not None and key in place.seen:
        place.seen[key] = place.seen[key].removesuffix(_TEXT) + (_OLD_TEXT if held else "")
    retired = us_date(fields.text(row, "retirement_date"))
    if key is None or not held or (retired and retired.date() <= client.now().date()):
        return _payload(client, report, [row], without_text=True)
    return Payload("without text", envelope.problem(key, "CMS lists it and gives no text of it"))


def _matches(row: Row, words: Sequence[str]) -> bool:
    """True if each word begins a word of the title or id; `moldx` matches MolDX's own titles."""
    title = fields.text(row, "title").casefold()
    searched = f"{title} {fields.text(row, 'document_display_id').casefold()}"
    text = " " + " ".join(_WORD.findall(searched))
    return all(
        title.startswith("moldx:") if word == "moldx" else f" {word}" in text for word in words
    )


def _may_stand_in(report: Report, key: str) -> bool:
    starts = {"lcd": ("lcd_id:l", "payer:lcd:"), "article": ("lcd_id:a", "payer:article:")}
    return key.startswith(starts.get(report, ("payer:ncd:",)))


def _unlisted(place: _Place) -> list[Payload]:
    """A problem payload for the documents that were in the reports last time and no longer are."""
    if not place.unlisted:
        return []
    reason = "CMS lists it no longer: was it retired?"
    return [Payload("unlisted", envelope.problems(place.unlisted, reason))]


def _place(continuation: Continuation | None, ask: Ask) -> _Place:
    if continuation is None:
        return _Place(unlisted=[str(key) for key in ask.marks])
    try:
        names = list(REPORTS)
        return _Place(
            int(continuation["report"]),
            str(continuation["token"]),
            int(continuation["pages"]),
            [(names[names.index(report)], dict(row)) for report, row in continuation["waiting"]],
            dict(continuation["seen"]),
            list(continuation["unlisted"]),
        )
    except (KeyError, TypeError, ValueError):
        raise Malformed("the continuation of this refresh is not one of CMS's") from None


def _continuation(place: _Place) -> Mapping[str, Any]:
    return {
        "report": place.report,
        "token": place.token,
        "pages": place.pages,
        "waiting": [[report, row] for report, row in place.waiting],
        "seen": place.seen,
        "unlisted": place.unlisted,
    }


CMS = Cms(accept_license=False)
