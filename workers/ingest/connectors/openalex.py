"""OpenAlex: asked about the publication status of held works, one DOI at a time (WIRE 5).

Single works are free while lists cost money, so works are never asked about in batches. The budget
is checked all the same: it belongs to an IP address or key, and other clients may have spent it.
"""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time, timedelta

from workers.http.client import SourceClient
from workers.http.errors import QuotaExhausted
from workers.ingest.connectors.base import time_is_up
from workers.ingest.enrichment import (
    REFUSALS,
    Answer,
    EnricherName,
    RefusesThisWork,
    Statement,
    Work,
    ask_each,
    doi_path,
    unknown,
)
from workers.ingest.parsers.openalex import openalex_statement

WORKS = "https://api.openalex.org/works"
_DAY_SECONDS = 24 * 3600.0


class OpenAlex:
    """Works without a key, or with the user's free key."""

    name: EnricherName = "openalex"
    fetch_limit = 20

    def ask(self, client: SourceClient, works: Sequence[Work]) -> list[Answer]:
        """OpenAlex's answer about each work, in their order.

        Raises as `ask_each`; BudgetSpent also if the budget stated in the headers does not suffice
        for the next call.
        """
        spent: float | None = None

        def ask(work: Work) -> Statement:
            nonlocal spent
            if spent is not None:
                raise QuotaExhausted("OpenAlex: the day's budget is spent", spent)
            path = doi_path(work.doi)
            if path is None:
                return unknown(work, "openalex")
            headers = {"Authorization": f"Bearer {client.key}"} if client.key else None
            accept = (200, 404, *REFUSALS)
            reply = client.get(f"{WORKS}/doi:{path}", headers=headers, accept=accept)
            spent = _spent(reply.headers, client.now())
            if reply.status in REFUSALS:
                raise RefusesThisWork(f"OpenAlex does not take the DOI: status {reply.status}")
            if reply.status == 404:
                return unknown(work, "openalex")
            return openalex_statement(reply.content, work.key)

        began = client.now()
        return ask_each(works[: self.fetch_limit], ask, lambda: time_is_up(client, began))


def _spent(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds until the budget is reset; None if enough is left for another such call."""
    left = _amount(headers.get("x-ratelimit-remaining-usd"))
    if left is None:
        return None
    prepaid = _amount(headers.get("x-ratelimit-prepaid-remaining-usd")) or 0.0
    cost = _amount(headers.get("x-ratelimit-cost-usd")) or 0.0
    if left + prepaid > 0 and left + prepaid >= cost:
        return None
    reset = _amount(headers.get("x-ratelimit-reset"))
    if reset is not None and reset <= _DAY_SECONDS:
        return reset
    tomorrow = datetime.combine(now.astimezone(UTC).date() + timedelta(days=1), time(), tzinfo=UTC)
    return (tomorrow - now).total_seconds()


def _amount(value: str | None) -> float | None:
    """The number in a header, negative ones as 0; None if it is not a finite number."""
    try:
        amount = float(value or "")
    except ValueError:
        return None
    return max(amount, 0.0) if math.isfinite(amount) else None


OPENALEX = OpenAlex()
