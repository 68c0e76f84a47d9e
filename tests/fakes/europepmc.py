"""Europe PMC as WIRE 4 describes it: search by cursor, errors inside 200, full texts or nothing."""

import base64
import json
import re
from collections.abc import Callable
from datetime import date
from typing import Any, Literal

from tests.fakes.web import Clock, Reply, Request

Record = dict[str, Any]
_REST = "/europepmc/webservices/rest"
_TOKEN = re.compile(
    r"\s*(?:(?P<mark>[()])|(?P<field>[A-Z_]+):\s*(?:\[(?P<from>\S+) TO (?P<to>[^\]\s]+)\]|"
    r'"(?P<quoted>[^"]*)"|(?P<value>[^\s"()]+))|"(?P<phrase>[^"]*)"|(?P<word>[^\s"()]+))'
)
_LITE = {"abstractText", "authorList", "journalInfo", "pubTypeList", "meshHeadingList"}


def abstract(**parts: str) -> str:
    """An abstract as Europe PMC writes it: `abstract(Methods="Made up.")`."""
    return "".join(f"<h4>{label}</h4>{words}" for label, words in parts.items())


class EuropePmc:
    """A little Europe PMC. `put`, `change` and `delete` stamp the records with the clock's day."""

    origin = "https://www.ebi.ac.uk"

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.records: dict[tuple[str, str], Record] = {}
        self.updated: dict[tuple[str, str], date] = {}
        self.full_texts: dict[str, bytes] = {}
        self.ending: Literal["missing", "repeated", "empty"] = "missing"
        """How the last page says that it is: no mark, its own mark, or a mark for an empty page."""
        self.circles = False
        """Whether the marks lead back to the first page again and again."""
        self.silent: set[str] = set()
        """Words of queries that are answered with an envelope without hits and results."""
        self.missing_hits = 0
        """How many more hits are counted than are ever listed."""
        self.maintenance = False

    def put(self, name: str, /, source: str = "MED", **fields: Any) -> Record:
        """Add a core record; `fields` replace those of a made-up article."""
        record: Record = {
            "id": name,
            "source": source,
            "title": f"A made-up article numbered {name}.",
            "authorString": "Placeholder A, Example B.",
            "authorList": {
                "author": [
                    {"fullName": "Placeholder A", "lastName": "Placeholder", "initials": "A"},
                    {"collectiveName": "Invented Example Group"},
                ]
            },
            "pubYear": "2026",
            "abstractText": abstract(Background="Nothing was known.", Results="Nothing was found."),
            "language": "eng",
            "pubTypeList": {"pubType": ["research-article", "Journal Article"]},
            "isOpenAccess": "N",
            "inEPMC": "N",
            "inPMC": "N",
            "citedByCount": 3,
            "firstIndexDate": "2026-01-02",
            "firstPublicationDate": "2026-01-01",
        }
        if source == "MED":
            record["pmid"] = name
        if source == "PMC":
            record["pmcid"] = name
        if source == "PPR":
            record["pubTypeList"] = {"pubType": ["Preprint"]}
            record["bookOrReportDetails"] = {"publisher": "inventRxiv", "yearOfPublication": 2026}
        else:
            record["journalInfo"] = {
                "volume": "1",
                "issue": "1",
                "dateOfPublication": "2026 Jan",
                "yearOfPublication": 2026,
                "monthOfPublication": 1,
                "printPublicationDate": "2026-01-01",
                "journal": {"title": "Journal of Made-up Results", "isoabbreviation": "J Made Up"},
            }
        self.records[source, name] = record | fields
        self.updated[source, name] = self._clock().date()
        return self.records[source, name]

    def put_full_text(self, pmcid: str, words: str) -> None:
        """Give the article with this PMCID an open full text of one section."""
        self.full_texts[pmcid] = (
            '<?xml version="1.0"?><!DOCTYPE article PUBLIC "-//NLM//DTD JATS//EN" "JATS.dtd">'
            '<article article-type="research-article"><front><article-meta>'
            f'<article-id pub-id-type="pmcid">{pmcid}</article-id>'
            f"<title-group><article-title>Full text of {pmcid}</article-title></title-group>"
            "</article-meta></front><body><sec><title>Results</title>"
            f"<p>{words}</p></sec></body></article>"
        ).encode()
        for key, record in self.records.items():
            if record.get("pmcid") == pmcid:
                record |= {"isOpenAccess": "Y", "inEPMC": "Y", "inPMC": "Y"}
                self.updated[key] = self._clock().date()

    def change(self, name: str, source: str = "MED", **fields: Any) -> None:
        """Replace fields of a record; None takes one away."""
        record = self.records[source, name] | fields
        self.records[source, name] = {k: v for k, v in record.items() if v is not None}
        self.updated[source, name] = self._clock().date()

    def delete(self, name: str, source: str = "MED") -> None:
        """Europe PMC has no list of what it deleted: the record is just not there."""
        del self.records[source, name]
        del self.updated[source, name]

    def answer(self, request: Request) -> Reply:
        """What Europe PMC would say."""
        if self.maintenance:
            words = b"This API is temporarily unavailable due to maintenance."
            return Reply(503, words, {"Content-Type": "text/plain"})
        if request.path == f"{_REST}/search" and len(request.params.get("query", "")) > 1500:
            return Reply(414, b"<html>414 Request-URI Too Large</html>")
        if (request.method, request.path) in (
            ("GET", f"{_REST}/search"),
            ("POST", f"{_REST}/searchPOST"),
        ):
            return self._search(request)
        found = re.fullmatch(rf"{_REST}/(PMC\d+)/fullTextXML", request.path)
        text = self.full_texts.get(found[1]) if found else None
        return Reply(200, text, {"Content-Type": "application/xml"}) if text else Reply(404, b"")

    def _search(self, request: Request) -> Reply:
        parameters = request.params
        query, kind = parameters.get("query", ""), parameters.get("resultType", "lite")
        size, mark = parameters.get("pageSize", "25"), parameters.get("cursorMark", "*")
        if not query.strip():
            return _error(
                "No search criteria provided. Please provide a search criteria which is less than "
                "1500 characters."
            )
        if not size.isdigit() or not 1 <= int(size) <= 1000:
            return _error("Invalid page size provided. Valid size is between 1 and 1000")
        envelope: Record = {"version": "6.9"}
        if any(word in query for word in self.silent):
            return _json(envelope | {"request": {"queryString": query}})
        matches = _Query(query).predicate()
        hits = [
            key for key in sorted(self.records) if matches(self.records[key], self.updated[key])
        ]
        rest = [key for key in hits if mark == "*" or "/".join(key) > _decoded(mark)]
        page = rest[: int(size)]
        envelope["hitCount"] = len(hits) + self.missing_hits
        envelope |= self._next(mark, page, more=len(rest) > len(page))
        envelope["request"] = {
            "queryString": query,
            "resultType": kind,
            "cursorMark": mark,
            "pageSize": int(size),
            "sort": "",
            "synonym": False,
        }
        envelope["resultList"] = {"result": [_shaped(self.records[key], kind) for key in page]}
        return _json(envelope)

    def _next(self, mark: str, page: list[tuple[str, str]], *, more: bool) -> Record:
        following = _encoded("/".join(page[-1])) if page else mark
        if self.circles:
            following = _encoded("A") if mark != _encoded("A") else _encoded("B")
        elif not more:
            if self.ending == "missing" or (self.ending == "empty" and not page):
                return {}
            following = mark if self.ending == "repeated" else following
        url = f"https://www.ebi.ac.uk{_REST}/search?query=as asked&cursorMark={following}"
        return {"nextCursorMark": following, "nextPageUrl": url}


def _shaped(record: Record, kind: str) -> Record:
    if kind == "idlist":
        return {name: record[name] for name in ("id", "source", "pmid") if name in record}
    if kind == "core":
        return record
    lite = {name: value for name, value in record.items() if name not in _LITE}
    journal = record.get("journalInfo", {}).get("journal", {})
    types = record.get("pubTypeList", {}).get("pubType", [])
    return lite | {"journalTitle": journal.get("isoabbreviation", ""), "pubType": "; ".join(types)}


def _json(value: Record) -> Reply:
    body = json.dumps(value).encode()
    return Reply(200, body, {"Content-Type": "application/json;charset=UTF-8"})


def _error(message: str) -> Reply:
    """Errors come with status 200."""
    return _json({"errCode": 404, "errMsg": message})


def _encoded(place: str) -> str:
    return base64.b64encode(f"AoII{place}".encode()).decode()


def _decoded(mark: str) -> str:
    return base64.b64decode(mark).decode().removeprefix("AoII")


Predicate = Callable[[Record, date], bool]


class _Query:
    """The part of the query language that the tests use: AND, OR, NOT, brackets, fields, words."""

    def __init__(self, query: str) -> None:
        self._tokens = [found.groupdict() for found in _TOKEN.finditer(query)]
        self._at = 0

    def predicate(self) -> Predicate:
        """Whether a record, last updated on a day, matches."""
        return self._any()

    def _peek(self) -> str:
        if self._at >= len(self._tokens):
            return ")"
        token = self._tokens[self._at]
        return token["mark"] or token["word"] or "a field"

    def _any(self) -> Predicate:
        parts = [self._all()]
        while self._peek() == "OR":
            self._at += 1
            parts.append(self._all())
        return lambda record, day: any(part(record, day) for part in parts)

    def _all(self) -> Predicate:
        parts = []
        while self._peek() not in (")", "OR"):
            if self._peek() == "AND":
                self._at += 1
            parts.append(self._one())
        return lambda record, day: all(part(record, day) for part in parts)

    def _one(self) -> Predicate:
        token = self._tokens[self._at]
        self._at += 1
        if token["word"] == "NOT":
            inner = self._one()
            return lambda record, day: not inner(record, day)
        if token["mark"] == "(":
            group = self._any()
            self._at += 1
            return group
        if token["field"]:
            return _field(token)
        words = (token["phrase"] or token["word"] or "").lower()
        return lambda record, day: (
            words in f"{record['title']} {record.get('abstractText')}".lower()
        )


def _field(token: dict[str, str | None]) -> Predicate:
    name, value = token["field"], token["value"] or token["quoted"] or ""
    if name == "UPDATE_DATE":
        first, last = token["from"] or value, token["to"] or value
        return lambda record, day: first <= day.isoformat() <= last
    if name == "EXT_ID":  # the quoted form matches nothing
        return lambda record, day: not token["quoted"] and record["id"] == value
    if name == "TITLE":
        return lambda record, day: value.lower() in record["title"].lower()
    key = {"SRC": "source", "PMCID": "pmcid", "DOI": "doi", "OPEN_ACCESS": "isOpenAccess"}[
        name or ""
    ]
    return lambda record, day: str(record.get(key, "")).lower() == value.lower()
