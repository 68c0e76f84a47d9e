"""openFDA as it behaves (WIRE 3 and 10), over a few made-up records.

An empty result is a 404, also behind a last page that was full; the `Link` to the next page; 400
and 500 with their texts; counts; empty `openfda`; days far in the future; 429 and 403.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode

from tests.fakes.web import Clock, Reply, Request

Record = dict[str, Any]
Test = Callable[[Record], bool]

_KEYS = {
    "label": "set_id",
    "drugsfda": "application_number",
    "enforcement": "recall_number",
    "event": "safetyreportid",
}
_PARAMETERS = frozenset({"search", "count", "limit", "skip", "sort", "search_after"})
_CHARACTERS = re.compile(r"[&0-9a-zA-Z@%/\\',._:()\"\[\]{}\-+><=* ]+")
_DAYS = frozenset({"receivedate", "receiptdate", "effective_time", "report_date"})
_PIECE = re.compile(r'[\w.@]+:\[[^\]]* TO [^\]]*\]|(?:[\w.@]+:)?"[^"]*"|[()]|[^\s()"\[\]]+|\S')
_DISCLAIMER = "Do not rely on openFDA to make decisions regarding medical care."


class OpenFda:
    """The API. Days are those of `clock`; each change makes the data set new on its day."""

    origin = "https://api.fda.gov"

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.records: dict[str, dict[str, Record]] = {name: {} for name in _KEYS}
        self.keys: set[str] = set()
        """Keys that are valid; where there are any, another one is answered with 403."""
        self.requests_left: int | None = None
        """Of the day; None: no end."""
        self.links = True
        """Whether pages carry a `Link` to the next one."""
        self._made = dict.fromkeys(_KEYS, clock().date())

    def put(self, data_set: str, record: Record) -> Record:
        """Add or replace a record."""
        self.records[data_set][record[_KEYS[data_set]]] = record
        self._made[data_set] = self.clock().date()
        return record

    def change(self, data_set: str, key: str, **fields: Any) -> Record:
        """Change fields of a record; its days stay as they are, if they are not among them."""
        return self.put(data_set, {**self.records[data_set][key], **fields})

    def delete(self, data_set: str, key: str) -> None:
        """Take a record out; there is no list of such."""
        del self.records[data_set][key]
        self._made[data_set] = self.clock().date()

    def answer(self, request: Request) -> Reply:
        """As the API."""
        params = dict(request.params)
        key = params.pop("api_key", "")
        if key and self.keys and key not in self.keys:
            return _error(403, "API_KEY_INVALID", "An invalid api_key was supplied.")
        if self.requests_left is not None:
            if self.requests_left <= 0:
                wait = {"Retry-After": "3600"}
                return _error(429, "OVER_RATE_LIMIT", "You have exceeded your rate limit.", wait)
            self.requests_left -= 1
        found = re.fullmatch(r"/drug/(\w+)\.json", request.path)
        if found is None or found[1] not in self.records:
            return _error(404, "NOT_FOUND_ENDPOINT", "no such data set")
        wrong = _wrong(params)
        if wrong:
            return _error(400, "BAD_REQUEST", wrong)
        try:
            test = _Search(params.get("search", "*")).test()
        except ValueError:
            return _error(500, "SERVER_ERROR", "Check your request and try again")
        rows = [row for _, row in sorted(self.records[found[1]].items()) if test(row)]
        if "count" in params:
            return self._count(found[1], rows, params)
        return self._page(found[1], rows, params, f"{self.origin}{request.path}", key)

    def _page(
        self, data_set: str, rows: list[Record], params: dict[str, str], place: str, key: str
    ) -> Reply:
        limit, skip = int(params.get("limit", 1)), int(params.get("skip", 0))
        name = _KEYS[data_set]
        begin = skip
        if "search_after" in params:
            last = params["search_after"].removeprefix("0=")
            begin = sum(row[name] <= last for row in rows)
        page = rows[begin : begin + limit]
        if not page and not (limit == 0 and rows):
            return _error(404, "NOT_FOUND", "No matches found!")
        meta = {
            **self._meta(data_set),
            "results": {"skip": skip, "limit": limit, "total": len(rows)},
        }
        headers = {}
        # a last page that is full has a link as well, and behind it is a 404
        if self.links and not skip and len(page) >= limit and len(page) != len(rows):
            pairs = {**params, "search_after": f"0={page[-1][name]}"} | (
                {"api_key": key} if key else {}
            )
            headers["Link"] = f'<{place}?{urlencode(pairs)}>; rel="next"'
        return _json(200, {"meta": meta, "results": page}, headers)

    def _count(self, data_set: str, rows: list[Record], params: dict[str, str]) -> Reply:
        field = params["count"].removesuffix(".exact")
        counts = Counter(value for row in rows for value in set(_values(row, field.split("."))))
        if not counts:
            return _error(404, "NOT_FOUND", "Nothing to count")
        if field in _DAYS:
            results = [{"time": day, "count": count} for day, count in sorted(counts.items())]
        else:
            most = counts.most_common(int(params.get("limit", 100)))
            results = [{"term": term, "count": count} for term, count in most]
        return _json(200, {"meta": self._meta(data_set), "results": results}, {})

    def _meta(self, data_set: str) -> dict[str, Any]:
        return {"disclaimer": _DISCLAIMER, "last_updated": str(self._made[data_set])}


class _Search:
    """openFDA's search syntax, as far as tests use it: fields, phrases, ranges, AND, OR, NOT."""

    def __init__(self, search: str) -> None:
        self.pieces = _PIECE.findall(search)

    def test(self) -> Test:
        """Raises ValueError for what Lucene cannot read."""
        found = self._either()
        if self.pieces:
            raise ValueError("more follows")
        return found

    def _either(self) -> Test:
        tests = [self._both()]
        while self.pieces and self.pieces[0] != ")":
            if self.pieces[0] == "OR":  # a space means OR as well
                self.pieces.pop(0)
            tests.append(self._both())
        return lambda row: any(test(row) for test in tests)

    def _both(self) -> Test:
        tests = [self._one()]
        while self.pieces and self.pieces[0] == "AND":
            self.pieces.pop(0)
            tests.append(self._one())
        return lambda row: all(test(row) for test in tests)

    def _one(self) -> Test:
        if not self.pieces:
            raise ValueError("nothing to look for")
        piece = self.pieces.pop(0)
        if piece == "NOT":
            wrong = self._one()
            return lambda row: not wrong(row)
        if piece == "(":
            inner = self._either()
            if not self.pieces or self.pieces.pop(0) != ")":
                raise ValueError("an open parenthesis")
            return inner
        if piece in ("AND", "OR", ")", '"', "[", "]"):
            raise ValueError("out of place")
        return _term(piece)


def _term(piece: str) -> Test:
    if piece == "*":
        return lambda row: True
    field, _, value = piece.rpartition(":") if not piece.startswith('"') else ("", "", piece)
    if piece.count('"') == 2 and not piece.startswith('"'):
        field, _, value = piece.partition(":")
    if "[" in piece:
        field, _, bounds = piece.partition(":")
        low, high = bounds.strip("[]").split(" TO ")
        return lambda row: any(low <= day <= high for day in _values(row, field.split(".")))
    words = value.strip('"').lower()
    path = field.removesuffix(".exact").split(".") if field else []
    return lambda row: any(words in found.lower() for found in _values(row, path))


def _values(value: Any, path: list[str]) -> Iterator[str]:
    """The strings at a path, through lists; all below, where the path ends early."""
    if isinstance(value, list):
        for item in value:
            yield from _values(item, path)
    elif isinstance(value, dict):
        if path:
            yield from _values(value.get(path[0]), path[1:])
        else:
            for item in value.values():
                yield from _values(item, [])
    elif value is not None and not path:
        yield str(value)


def _wrong(params: dict[str, str]) -> str:
    """Why the parameters are refused, in the server's words; "" if they are not."""
    for name in params:
        if name not in _PARAMETERS:
            return f"Invalid parameter: {name}"
    limit, skip = params.get("limit", "1"), params.get("skip", "0")
    if not limit.isdigit():
        return "Invalid limit parameter value."
    if int(limit) > 1000:
        return (
            "Limit cannot exceed 1000 results for search requests. Use the skip or search_after "
            "param to get additional results."
        )
    if int(skip) > 25000:
        return "Skip value must 25000 or less."
    if "count" in params and "skip" in params:
        return "Should not use skip param when using count."
    if "search" in params and not _CHARACTERS.fullmatch(params["search"]):
        return f"Search not supported: {params['search']}"
    return ""


def _json(status: int, value: Any, headers: dict[str, str]) -> Reply:
    body = json.dumps(value, indent=2).encode()
    return Reply(status, body, {"Content-Type": "application/json; charset=utf-8", **headers})


def _error(status: int, code: str, message: str, headers: dict[str, str] | None = None) -> Reply:
    return _json(status, {"error": {"code": code, "message": message}}, headers or {})


def made_up_label(number: int, *, name: str = "imaginol", day: str = "20260101") -> Record:
    """A label; every word of it is made up."""
    set_id = f"{number:08d}-1111-4111-8111-111111111111"
    return {
        "set_id": set_id,
        "id": f"{number:08d}-2222-4222-8222-222222222222",
        "version": "1",
        "effective_time": day,
        "indications_and_usage": ["1 INDICATIONS AND USAGE This drug treats nothing."],
        "boxed_warning": ["WARNING: DOES NOT EXIST Nobody should take what does not exist."],
        "dosage_and_administration": ["Take none."],
        "dosage_and_administration_table": [
            "<table><caption>Doses</caption><tbody><tr><th>Weight</th><th>Dose</th></tr>"
            '<tr><td>any<br/>at all</td><td><content styleCode="bold">none</content></td></tr>'
            "</tbody></table>"
        ],
        "openfda": {
            "brand_name": [name.upper()],
            "generic_name": [name],
            "manufacturer_name": ["Invented Company"],
        },
    }


def made_up_application(number: int, *, name: str = "imaginol", day: str = "20260101") -> Record:
    """An application with one approval."""
    return {
        "application_number": f"NDA{number:06d}",
        "sponsor_name": "INVENTED COMPANY",
        "products": [
            {
                "product_number": "001",
                "brand_name": name.upper(),
                "active_ingredients": [{"name": name.upper(), "strength": "0MG"}],
                "dosage_form": "TABLET",
                "route": "ORAL",
                "marketing_status": "Prescription",
            }
        ],
        "submissions": [
            {
                "submission_type": "ORIG",
                "submission_number": "1",
                "submission_status": "AP",
                "submission_status_date": day,
                "review_priority": "STANDARD",
            }
        ],
        "openfda": {},
    }


def made_up_recall(number: int, *, name: str = "imaginol", day: str = "20260101") -> Record:
    """A recall."""
    return {
        "recall_number": f"D-{number:04d}-2026",
        "event_id": str(90000 + number),
        "status": "Ongoing",
        "classification": "Class II",
        "product_description": f"{name} tablets, 0 mg, made up for a test",
        "reason_for_recall": "The product was never made.",
        "recalling_firm": "Invented Company",
        "report_date": day,
        "openfda": {},
    }


def made_up_report(number: int, *, name: str = "IMAGINOL", day: str = "20260101") -> Record:
    """An adverse event report."""
    return {
        "safetyreportid": str(10_000_000 + number),
        "safetyreportversion": "1",
        "serious": "1" if number % 2 else "2",
        **({"seriousnesshospitalization": "1"} if number % 2 else {}),
        "receivedate": day,
        "receiptdate": day,
        "patient": {
            "patientonsetage": "40",
            "patientonsetageunit": "801",
            "reaction": [{"reactionmeddrapt": "Boredom"}],
            "drug": [{"medicinalproduct": name, "drugcharacterization": "1"}],
        },
    }
