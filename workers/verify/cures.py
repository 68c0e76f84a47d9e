"""What would cure an abstention: named in the answer, set going with it (invariant 9, SP-6.3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from knowledge.cures import cure_policy
from knowledge.sources import connector_policy
from store.core.unit_of_work import UnitOfWork
from store.questions import remedies

NEWS_WOULD_HELP = frozenset({"no_evidence", "low_trust_only", "conflict", "stale"})
"""The abstentions of SP-6.3: their cure names the next refresh."""


@dataclass(frozen=True)
class Abstained:
    """What the cure of an abstention must know."""

    at: datetime
    as_of: str | None
    filtered: bool
    search_terms: Mapping[str, Sequence[str]]
    stale_documents: Sequence[UUID]
    named: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Identifiers of works that the question names and that are not held, by kind."""


def cure(unit: UnitOfWork, body: Mapping[str, Any], abstained: Abstained) -> dict[str, Any]:
    """The abstention with the refreshes that could cure it, which are asked for here.

    A question about the past is not cured by what is fetched today, and one with filters by wider
    ones first.
    """
    reason = body["abstain_reason"]
    past = is_past(abstained.as_of, abstained.at)
    if past and reason == "no_evidence":
        return {**body, "cure": {**body["cure"], "detail": cure_policy().texts.past}}
    if reason not in NEWS_WOULD_HELP or past or (abstained.filtered and reason == "no_evidence"):
        return dict(body)
    asked: list[remedies.CureRefresh] = []
    if reason == "stale" and abstained.stale_documents:
        asked = remedies.refresh_documents(unit, abstained.stale_documents, abstained.at)
    elif reason in ("stale", "no_evidence"):  # stale by its publication: look for what is newer
        asked = remedies.refresh_records(unit, abstained.named, abstained.at)
        asked = asked or remedies.refresh_for_terms(unit, abstained.search_terms, abstained.at)
    return {
        **body,
        "cure": _named(body["cure"], reason, asked, unit, abstained.at),
        "cure_refreshes": [
            {"refresh_id": str(one.refresh_id), "source": one.source} for one in asked
        ],
    }


def is_past(as_of: str | None, at: datetime) -> bool:
    """Whether the question is about a time before `at`; a plain date is the whole day in UTC."""
    if not as_of:
        return False
    moment = datetime.fromisoformat(as_of)
    if len(as_of) == len("2026-01-31"):
        return moment.date() < at.astimezone(UTC).date()
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) < at


def _named(
    named: Mapping[str, Any],
    reason: str,
    asked: Sequence[remedies.CureRefresh],
    unit: UnitOfWork,
    at: datetime,
) -> dict[str, Any]:
    """The cure in words: the refreshes under way, else the next one that is planned."""
    texts = cure_policy().texts
    if asked:
        names = ", ".join(dict.fromkeys(connector_policy(one.source).name for one in asked))
        return {**named, "detail": f"{named['detail']} {texts.under_way.format(sources=names)}"}
    types = named["sources"] if reason == "stale" else None
    planned = remedies.next_planned(unit.session, at, types)
    if planned is None:
        more = f" {texts.nobody}" if reason == "stale" else ""
        return {**named, "detail": f"{named['detail']}{more}", "next_refresh": None}
    moment = planned.at.astimezone(UTC)
    more = texts.planned.format(
        sources=connector_policy(planned.source).name, at=f"{moment:%Y-%m-%d %H:%M} UTC"
    )
    return {
        **named,
        "detail": f"{named['detail']} {more}",
        "next_refresh": {"source": planned.source, "at": moment.isoformat()},
    }
