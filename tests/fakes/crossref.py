"""Crossref's single works as WIRE 5 describes them."""

import json
from collections.abc import Sequence
from typing import Any

from tests.fakes.web import Clock, Reply, Request

Record = dict[str, Any]


def update(
    kind: str, doi: str | None, day: Sequence[int | None] = (2026, 1, 15), source: str = "publisher"
) -> Record:
    """An entry of `updated-by` or `update-to`; `day` may be partial, even `(None,)`."""
    entry: Record = {"type": kind, "label": kind.replace("_", " ").title(), "source": source}
    if doi:
        entry["DOI"] = doi
    if source == "retraction-watch":
        entry["record-id"] = "90001"
    return entry | {"updated": {"date-parts": [list(day)]}}


class Crossref:
    """A little Crossref of works by DOI."""

    origin = "https://api.crossref.org"

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.works: dict[str, Record] = {}

    def put(self, doi: str, /, **fields: Any) -> Record:
        """Add a work; `fields` (`updated_by=[…]`) replace those of a made-up article."""
        work: Record = {
            "DOI": doi,
            "type": "journal-article",
            "title": [f"A made-up article at {doi}"],
            "container-title": ["Journal of Made-up Results"],
            "publisher": "Invented Press",
            "issued": {"date-parts": [[2026, 1]]},
            "published-print": {"date-parts": [[None]]},
            "is-referenced-by-count": 7,
            "reference": [{"key": "r1", "DOI": "10.5555/decoy.retraction"}],
            "relation": {},
            "subtitle": [],
        }
        for name, value in fields.items():
            work[name.replace("_", "-")] = value
        self.works[doi.lower()] = work
        return work

    def change(self, doi: str, **fields: Any) -> None:
        """Replace fields of a work and index it anew."""
        work = self.works[doi.lower()]
        work |= {name.replace("_", "-"): value for name, value in fields.items()}
        now = self._clock()
        work["indexed"] = {
            "date-parts": [[now.year, now.month, now.day]],
            "date-time": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }

    def delete(self, doi: str) -> None:
        """The DOI is no longer known."""
        del self.works[doi.lower()]

    def answer(self, request: Request) -> Reply:
        """What Crossref would say."""
        polite = "mailto" in request.params or "mailto:" in request.headers.get("user-agent", "")
        headers = {
            "x-rate-limit-limit": "10" if polite else "5",
            "x-rate-limit-interval": "1s",
            "x-concurrency-limit": "3" if polite else "1",
            "x-api-pool": "polite" if polite else "public",
        }
        doi = request.path.removeprefix("/works/").lower()
        if doi.endswith("/agency") and doi.removesuffix("/agency") in self.works:
            agency = {"DOI": doi.removesuffix("/agency"), "agency": {"id": "crossref"}}
            return _json("work-agency", agency, headers)
        if not request.path.startswith("/works/") or doi not in self.works:
            plain = {"Content-Type": "text/plain"}
            return Reply(404, b"Resource not found.", headers | plain)
        return _json("work", self.works[doi], headers)


def _json(kind: str, message: Record, headers: dict[str, str]) -> Reply:
    value = {"status": "ok", "message-type": kind, "message-version": "1.0.0", "message": message}
    return Reply(200, json.dumps(value).encode(), headers | {"Content-Type": "application/json"})
