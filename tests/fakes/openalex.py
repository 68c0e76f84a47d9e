"""OpenAlex's single works and its budget as WIRE 5 describes them."""

import json
from datetime import UTC, datetime, time, timedelta
from typing import Any

from tests.fakes.web import Clock, Reply, Request

Record = dict[str, Any]


class OpenAlex:
    """A little OpenAlex of works by DOI. The budget of a day begins anew at midnight UTC."""

    origin = "https://api.openalex.org"

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.works: dict[str, Record] = {}
        self.keys: set[str] = set()
        self.limit_usd = 0.1
        self.cost_usd = 0.0
        """Of a single work; free unless a test wants to see the budget fall."""
        self._spent: dict[str, float] = {}

    def put(self, doi: str, /, **fields: Any) -> Record:
        """Add a work; `fields` replace those of a made-up article."""
        number = 4_000_000_000 + len(self.works)
        url = f"https://doi.org/{doi.lower()}"
        self.works[doi.lower()] = {
            "id": f"https://openalex.org/W{number}",
            "doi": url,
            "title": f"A made-up article at {doi}",
            "display_name": f"A made-up article at {doi}",
            "publication_year": 2026,
            "publication_date": "2026-01-15",
            "type": "article",
            "language": "en",
            "ids": {"openalex": f"https://openalex.org/W{number}", "doi": url},
            "primary_location": {"source": {"display_name": "Journal of Made-up Results"}},
            "open_access": {"is_oa": False, "oa_status": "closed", "oa_url": None},
            "abstract_inverted_index": {"rebuilt": [1], "Badly": [0]},
            "is_retracted": False,
            "cited_by_count": 7,
        } | fields
        return self.works[doi.lower()]

    def change(self, doi: str, **fields: Any) -> None:
        """Replace fields of a work."""
        self.works[doi.lower()] |= fields | {"updated_date": self._clock().date().isoformat()}

    def delete(self, doi: str) -> None:
        """The DOI is no longer known."""
        del self.works[doi.lower()]

    def spend(self, usd: float) -> None:
        """Someone else at this address spends money."""
        today = self._clock().date().isoformat()
        self._spent[today] = self._spent.get(today, 0.0) + usd

    def answer(self, request: Request) -> Reply:
        """What OpenAlex would say."""
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        key = request.params.get("api_key") or bearer
        if key and key not in self.keys:
            return _json(401, {"error": "Invalid API key"}, {})
        now = self._clock()
        midnight = datetime.combine(now.date() + timedelta(days=1), time(), tzinfo=UTC)
        reset = str(int((midnight - now).total_seconds()))
        if self._left() <= 0:
            body = {
                "error": "Rate limit exceeded",
                "message": "Insufficient budget. Resets at midnight UTC",
            }
            return _json(429, body, {"Retry-After": reset} | self._headers(reset))
        self.spend(self.cost_usd)
        headers = self._headers(reset)
        work = self.works.get(request.path.removeprefix("/works/doi:").lower())
        if work is None:
            return Reply(404, b"<!doctype html><title>404 Not Found</title>", headers)
        return _json(200, work, headers)

    def _left(self) -> float:
        return round(self.limit_usd - self._spent.get(self._clock().date().isoformat(), 0.0), 9)

    def _headers(self, reset: str) -> dict[str, str]:
        left = max(self._left(), 0.0)
        return {
            "X-RateLimit-Limit": str(round(self.limit_usd * 10_000)),
            "X-RateLimit-Remaining": str(round(left * 10_000)),
            "X-RateLimit-Limit-USD": str(self.limit_usd),
            "X-RateLimit-Remaining-USD": str(left),
            "X-RateLimit-Cost-USD": str(self.cost_usd),
            "X-RateLimit-Prepaid-Remaining-USD": "0",
            "X-RateLimit-Reset": reset,
        }


def _json(status: int, value: Record, headers: dict[str, str]) -> Reply:
    kind = {"Content-Type": "application/json"}
    return Reply(status, json.dumps(value).encode(), headers | kind)
