"""The European Medicines Agency: its whole table of medicines, filtered by a query (WIRE 6).

The request is conditional (ETag, Last-Modified), so an unchanged file costs one short answer.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from workers.http.client import Fetched, SourceClient
from workers.http.errors import InvalidQuery, Malformed, Refused
from workers.ingest.connectors.base import Ask, Continuation, Page, Payload
from workers.ingest.parsers import envelope
from workers.ingest.parsers import json_payload as fields
from workers.ingest.parsers.base import Parsed
from workers.ingest.parsers.ema import SEARCHED, column, names_a_medicine, parse_ema, product_key

MEDICINES = (
    "https://www.ema.europa.eu/en/documents/report/medicines-output-medicines_json-report_en.json"
)
MAX_BYTES = 64 * 1024 * 1024
"""The file had 6.8 MB in September 2026."""

_WORD = re.compile(r"\w+")
_MAX_QUERY = 200


class Ema:
    """Marks: `etag`, `last_modified` and `timestamp` of the file that was read last, and `keys`:
    the keys of its matching rows."""

    name = "ema"
    fetch_limit = 1000

    def check_query(self, query: str) -> str:
        """The words that a row must all contain, in lower case. Raises InvalidQuery."""
        words = _WORD.findall(query.casefold())
        if not any(len(word) > 1 for word in words) or len(query) > _MAX_QUERY:
            raise InvalidQuery(
                "write words of a medicine's name, substance, area or indication: "
                "pembrolizumab, or colorectal cancer"
            )
        return " ".join(words)

    def page(self, client: SourceClient, ask: Ask, continuation: Continuation | None) -> Page:  # noqa: ARG002
        """If the file changed: all rows that match or matched last time, and a problem payload for
        those that are no longer in the file."""
        reply = _get(client, ask.marks)
        if reply.status == 304:
            return Page(marks=ask.marks)
        table = _table(reply)
        if not table["data"]:  # the file has thousands of rows: an empty one is a fault
            return Page(marks=ask.marks, complete=False)
        before = fields.texts(ask.marks, "keys")
        stamp = fields.text(table, "meta", "timestamp")
        marks = fields.filled(
            {
                "etag": reply.headers.get("etag"),
                "last_modified": reply.headers.get("last-modified"),
                "timestamp": stamp,
                "keys": before,
            }
        )
        if stamp and stamp == ask.marks.get("timestamp"):
            return Page(marks=marks)
        words, known = ask.query.split(), set(before)
        wanted_rows = _rows(table, lambda row: product_key(row) in known or _matches(row, words))
        rows = (row for row in wanted_rows if isinstance(row, dict) and names_a_medicine(row))
        keys = {product_key(row): None for row in rows}
        missing = [key for key in before if key not in keys]
        payloads = _payloads(table, wanted_rows)
        if missing:
            reason = "the EMA lists it no longer"
            payloads.append(Payload("unlisted", envelope.problems(missing, reason)))
        return Page(tuple(payloads), None, len(wanted_rows), {**marks, "keys": list(keys)})

    def fetch(self, client: SourceClient, keys: Sequence[str]) -> Page:
        """Rows by `regulator:ema:<product number>`."""
        wanted = set(keys[: self.fetch_limit])
        table = _table(_get(client, {}))
        wanted_rows = _rows(table, lambda row: product_key(row) in wanted)
        return Page(tuple(_payloads(table, wanted_rows)), None, len(wanted_rows))

    def parse(self, payload: bytes) -> Parsed:
        """Raises Malformed."""
        return parse_ema(payload)


def _get(client: SourceClient, marks: Mapping[str, Any]) -> Fetched:
    """The file, or status 304 if it is the one described by `marks`."""
    headers = {}
    if marks.get("etag"):
        headers["If-None-Match"] = str(marks["etag"])
    if marks.get("last_modified"):
        headers["If-Modified-Since"] = str(marks["last_modified"])
    accept = (200, 304, 403) if headers else (200, 403)  # without a condition 304 is no answer
    reply = client.get(MEDICINES, headers=headers or None, accept=accept, max_bytes=MAX_BYTES)
    if reply.status == 403:
        raise Refused(
            "ema: www.ema.europa.eu answers 403; its CDN blocks addresses of data centres and "
            "VPNs: ask from another network, or set a mirror in ATTEST_SOURCE_MIRRORS"
        )
    return reply


def _table(reply: Fetched) -> Mapping[str, Any]:
    value = fields.load(reply.content)
    if not isinstance(fields.at(value, "data"), list):
        raise Malformed("ema: the file is not a table of medicines")
    table: Mapping[str, Any] = value
    return table


def _rows(table: Mapping[str, Any], wanted: Callable[[Mapping[str, Any]], bool]) -> list[Any]:
    """The wanted rows, and entries that are not rows."""
    return [row for row in table["data"] if not isinstance(row, dict) or wanted(row)]


def _payloads(table: Mapping[str, Any], found: Sequence[Any]) -> list[Payload]:
    """One payload with the rows unchanged, under the file's own `meta`; empty for no rows."""
    if not found:
        return []
    body = {"meta": fields.obj(table, "meta"), "data": found}
    content = json.dumps(body, ensure_ascii=True, separators=(",", ":")).encode("ascii")
    return [Payload("medicines.json", content)]


def _matches(row: Mapping[str, Any], words: Sequence[str]) -> bool:
    """True if each word begins a word of the searched columns."""
    searched = " " + " ".join(
        word for name in SEARCHED for word in _WORD.findall(column(row, name).casefold())
    )
    return all(f" {word}" in searched for word in words)


EMA = Ema()
