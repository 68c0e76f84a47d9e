"""What would cure an abstention: named in the answer, set going with it (invariant 9, SP-6.3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

from contracts import Answer
from contracts.answer import Cure, CureRefresh, NextRefresh
from knowledge.feeds.sources import connector_policy
from knowledge.questions.cures import cure_policy
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


def cure(unit: UnitOfWork, answer: Answer, abstained: Abstained) -> Answer:
    """The abstention with the refreshes that could cure it, which are asked for here.

    A question about the past is not cured by what is fetched today, and one with filters by wider
    ones first.
    """
    reason, named = answer.abstain_reason, answer.cure
    if reason is None or named is None:
        return answer
    past = is_past(abstained.as_of, abstained.at)
    if past and reason == "no_evidence":
        past_cure = named.model_copy(update={"detail": cure_policy().texts.past})
        return answer.model_copy(update={"cure": past_cure})
    if reason not in NEWS_WOULD_HELP or past or (abstained.filtered and reason == "no_evidence"):
        return answer
    asked: list[remedies.CureRefresh] = []
    if reason == "stale" and abstained.stale_documents:
        asked = remedies.refresh_documents(unit, abstained.stale_documents, abstained.at)
    elif reason in ("stale", "no_evidence"):  # stale by its publication: look for what is newer
        asked = remedies.refresh_records(unit, abstained.named, abstained.at)
        asked = asked or remedies.refresh_for_terms(unit, abstained.search_terms, abstained.at)
    refreshes = tuple(
        CureRefresh(refresh_id=str(one.refresh_id), source=one.source) for one in asked
    )
    told = _named(named, reason, asked, unit, abstained.at)
    return answer.model_copy(update={"cure": told, "cure_refreshes": refreshes})


def is_past(as_of: str | None, at: datetime) -> bool:
    """Whether the question is about a time before `at`; a plain date is the whole day in UTC."""
    if not as_of:
        return False
    moment = datetime.fromisoformat(as_of)
    if len(as_of) == len("2026-01-31"):
        return moment.date() < at.astimezone(UTC).date()
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) < at


def _named(
    named: Cure,
    reason: str,
    asked: Sequence[remedies.CureRefresh],
    unit: UnitOfWork,
    at: datetime,
) -> Cure:
    """The cure in words: the refreshes under way, else the next one that is planned."""
    texts = cure_policy().texts
    if asked:
        names = ", ".join(dict.fromkeys(connector_policy(one.source).name for one in asked))
        under_way = texts.under_way.format(sources=names)
        return named.model_copy(update={"detail": f"{named.detail} {under_way}"})
    types = named.sources if reason == "stale" else None
    planned = remedies.next_planned(unit.session, at, types)
    if planned is None:
        more = f" {texts.nobody}" if reason == "stale" else ""
        return named.model_copy(update={"detail": f"{named.detail}{more}", "next_refresh": None})
    moment = planned.at.astimezone(UTC)
    more = texts.planned.format(
        sources=connector_policy(planned.source).name, at=f"{moment:%Y-%m-%d %H:%M} UTC"
    )
    following = NextRefresh(source=planned.source, at=moment.isoformat())
    return named.model_copy(update={"detail": f"{named.detail} {more}", "next_refresh": following})
