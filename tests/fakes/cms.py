"""The Medicare Coverage Database API as it behaves (WIRE 6 and 10): reports in pages with a token,
HTML escaped twice, 401 without the token of the licence agreement, 200 with no data for what it
does not know.
"""

import html
import json
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from tests.fakes.web import Clock, Reply, Request

_REPORTS = {
    "/v1/reports/local-coverage-final-lcds": "lcd",
    "/v1/reports/local-coverage-articles": "article",
    "/v1/reports/national-coverage-ncd": "ncd",
}
_LETTERS = {"lcd": "L", "article": "A", "ncd": ""}
_CONTRACTORS = (
    "Invented Administrators, LLC\r\n(MAC - Part A)\r\n\r\nMade-up Health Solutions, LLC\r\n"
    "(MAC - Part B)"
)


@dataclass
class _Document:
    row: dict[str, Any]
    detail: dict[str, str] = field(default_factory=dict)


class Cms:
    """Holds documents by report and id. Each report has one of its own from the beginning: the real
    ones are never empty. `page_size` rows go into a page; a token of the licence holds an hour."""

    origin = "https://api.coverage.cms.gov"

    def __init__(self, clock: Clock) -> None:
        self.documents: dict[tuple[str, int], _Document] = {}
        self.page_size = 1000
        self.accepted = 0
        """How often the licences were accepted."""
        self._tokens: dict[str, Any] = {}
        self._clock = clock
        for number, report in enumerate(_LETTERS, 90001):
            self.put(report, number, "Placeholder Policy of the Fake")

    def put(self, report: str, number: int, title: str, **detail: str) -> None:
        """A document, updated now; `detail` are the texts of `/data/…`, plain HTML."""
        self.documents[report, number] = _Document(
            {
                "document_id": number,
                "document_version": 0,
                "document_display_id": f"{_LETTERS[report]}{number}",
                "document_type": report.upper() if report != "article" else "Article",
                "note": "",
                "title": title,
                "effective_date": "01/15/2026",
            }
        )
        if report == "ncd":
            self.documents[report, number].row |= {
                "document_display_id": f"{number % 300}.{number % 7}",
                "chapter": "190",
                "is_lab": 0,
            }
        else:
            self.documents[report, number].row |= {
                "contractor_name_type": _CONTRACTORS,
                "retirement_date": "N/A",
            }
        self.change(report, number, **detail)

    def change(self, report: str, number: int, **detail: str) -> None:
        """A new version, updated now; `title`, `retirement_date` … change the row."""
        document = self.documents[report, number]
        row = document.row
        names = ("last_updated", "last_updated_sort")
        if report != "ncd":
            names = ("updated_on", "updated_on_sort")
        row["document_version"] += 1
        row[names[0]] = f"{self._clock():%m/%d/%Y}"
        row[names[1]] = f"{self._clock():%Y%m%d%H%M%S}"
        for name, words in detail.items():
            (row if name in row else document.detail)[name] = words
        page = {"lcd": "lcd.aspx?lcdid", "article": "article.aspx?articleid"}.get(report)
        if page:
            row["url"] = (
                f"https://www.cms.gov/medicare-coverage-database/view/{page}={number}"
                f"&ver={row['document_version']}"
            )

    def delete(self, report: str, number: int) -> None:
        """The document is listed no longer."""
        del self.documents[report, number]

    def answer(self, request: Request) -> Reply:
        """Reports, texts, and the licence agreement."""
        path = request.path.rstrip("/")
        if path in _REPORTS:
            return self._report(_REPORTS[path], request)
        if path == "/v1/metadata/license-agreement":
            self.accepted += 1
            token = f"token-{self.accepted}"
            self._tokens[token] = self._clock() + timedelta(hours=1)
            return _reply([{"Token": token}])
        if path == "/v1/data/ncd":
            return self._detail("ncd", request.params.get("ncdid"), request.params.get("ncdver"))
        if path == "/v1/data/lcd":
            bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
            if bearer not in self._tokens or self._tokens[bearer] < self._clock():
                return Reply(401, b'{"message":"Unauthorized"}', _JSON)
            return self._detail("lcd", request.params.get("lcdid"), request.params.get("ver"))
        return Reply(404, b'{"message":"Not Found"}', _JSON)

    def _report(self, report: str, request: Request) -> Reply:
        if "page_size" in request.params:
            return Reply(400, b'{"message":"Bad Request"}', _JSON)
        rows = [document.row for (kind, _), document in self.documents.items() if kind == report]
        start = int(request.params.get("next_token", "0"))
        end = start + self.page_size
        return _reply(rows[start:end], str(end) if end < len(rows) else "")

    def _detail(self, report: str, number: str | None, version: str | None) -> Reply:
        document = self.documents.get((report, int(number or 0)))
        if document is None or version != str(document.row["document_version"]):
            return _reply([])
        texts = {name: escaped(words) for name, words in document.detail.items()}
        return _reply([{"title": document.row["title"], f"{report}_id": number, **texts}])


def escaped(words: str) -> str:
    """HTML as the API sends it: escaped once more, with names that HTML 4 has not."""
    return html.escape(words, quote=False).replace("/", "&sol;")


_JSON = {"Content-Type": "application/json"}


def _reply(data: list[dict[str, Any]], token: str = "") -> Reply:
    meta = {
        "status": {"id": 200, "message": "OK"},
        "notes": "",
        "fields": [],
        "children": [],
        "next_token": token,
    }
    return Reply(200, json.dumps({"meta": meta, "data": data}).encode(), _JSON)
