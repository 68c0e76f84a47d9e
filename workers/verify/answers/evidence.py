"""Evidence records, pages and both clocks, from stored versions. Pure."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from clinical_text.titles import same_title
from knowledge.feeds.sources import source_policies, source_policy
from knowledge.loader import load
from knowledge.scenarios import Entry
from knowledge.works.anchors import ARTICLE, anchor_of, known_identifiers
from knowledge.works.links import DirectUrl, direct_url, is_direct
from store.documents.documents import Version
from store.documents.publication_status import Standing

SUPPLIED = "user-supplied"
"""The label of what a caller brought (`knowledge/works/trust.yaml`)."""


@dataclass(frozen=True)
class Cited:
    """A version under its key, with what became of the work, and which of its identifiers are in
    doubt (`doi:10.1/x`, in lower case)."""

    evidence_id: str
    version: Version
    standing: Standing = field(default_factory=Standing)
    doubts: Collection[str] = frozenset()
    cited_by: int | None = None
    """How many works cite it, where that is known."""

    @property
    def identifiers(self) -> dict[str, str]:
        """Those that may be shown."""
        return self._undoubted(self.version.identifiers)

    @property
    def is_callers(self) -> bool:
        """Whether a caller brought it and no source: what names it is the caller's word."""
        return self.version.source is None

    @property
    def labels(self) -> list[str]:
        """The version's, and that a caller brought it."""
        return [*self.version.labels, *([SUPPLIED] if self.is_callers else ())]

    @cached_property
    def anchor(self) -> Entry | None:
        """The entry of a scenario pack that this work is. A caller's document is one only under its
        title as well."""
        entry = anchor_of(self._naming(), self._trusted(self.version.url))
        if entry is not None and self.is_callers:
            return entry if same_title(entry.title, self.version.title) else None
        return entry

    @property
    def known(self) -> dict[str, str]:
        """What may be shown, the pack's own where it is an anchor (EB-7.1)."""
        entry = self.anchor
        stored = self._undoubted(known_identifiers(entry)) if entry else {}
        return {**self.identifiers, **stored}

    def _undoubted(self, identifiers: Mapping[str, str]) -> dict[str, str]:
        return {
            kind: value
            for kind, value in identifiers.items()
            if f"{kind}:{value}".lower() not in self.doubts
        }

    def _naming(self) -> dict[str, str]:
        """What names the work itself: a publication is not the trial whose number it gives."""
        if not self._is_publication:
            return self.identifiers
        return {kind: value for kind, value in self.identifiers.items() if kind in ARTICLE}

    @property
    def _is_publication(self) -> bool:
        return not ARTICLE.isdisjoint(self.version.identifiers)

    @property
    def _is_claimed(self) -> bool:
        """Whether all its numbers, or its key at a source, are in doubt."""
        numbered, left = bool(self.version.identifiers), bool(self.identifiers)
        return (numbered and not left) or any(
            doubt.partition(":")[0] in source_policies() for doubt in self.doubts
        )

    @cached_property
    def page(self) -> DirectUrl | None:
        """The page of the work itself (EB-8.2), never a search page (EB-9), never one that an
        identifier in doubt leads to. An anchor's is the one that its pack stored (EB-7.2, EB-9.4);
        a publication all of whose identifiers are in doubt has none (EB-7.4), nor has what a caller
        brought under the number of a work that a source holds."""
        named = self._naming()
        if self._is_publication and not named:
            return None
        if self.is_callers and self._is_claimed:
            return None
        if (entry := self.anchor) is not None:
            stored = self._trusted(entry.url)
            if stored is not None and is_direct(stored):
                return DirectUrl(stored)
            if (page := direct_url(self._undoubted(known_identifiers(entry)))) is not None:
                return page
        return direct_url(named, self._trusted(self.version.url))

    def _trusted(self, url: str | None) -> str | None:
        return None if url is None or _is_doubtful(url, self.doubts) else url


@dataclass(frozen=True)
class Clocks:
    """How old evidence is: since it was checked at its source, and since it was published."""

    checked_at: datetime
    freshness_hours: float
    sla_hours: float | None
    stale: bool
    published_at: datetime | None
    published_precision: str
    published_age_days: int | None
    dated: bool = False
    """Published too long ago to tell the present state."""

    def as_body(self) -> dict[str, Any]:
        """The clocks as the answer shows them (invariant 8)."""
        return {
            "fetched_at": self.checked_at.isoformat(),
            "freshness_hours": round(self.freshness_hours, 1),
            "sla_hours": self.sla_hours,
            "stale": self.stale,
            "published_at": self.published_at.isoformat() if self.published_at else None,
            "published_precision": self.published_precision,
            "published_age_days": self.published_age_days,
            "dated": self.dated,
        }


def clocks(version: Version, checked_at: datetime, now: datetime) -> Clocks:
    """Both clocks of a version, last seen at its source at `checked_at`."""
    policy = source_policy(version.source_type)
    hours = max(0.0, (now - checked_at).total_seconds() / 3600)
    published = version.published_at
    age = (now - published).days if published else None
    limit = load("works/trust")["dated_after_days"].get(version.source_type)
    return Clocks(
        checked_at=checked_at,
        freshness_hours=hours,
        sla_hours=policy.sla_hours,
        stale=policy.is_stale(hours),
        published_at=published,
        published_precision=version.published_precision,
        published_age_days=age,
        dated=age is not None and limit is not None and age > limit,
    )


def confidence(source_type: str, *, stale: bool) -> float:
    """The weight of a source by its tier, reduced when stale (SP-6.1)."""
    trust = load("works/trust")
    weight: float = trust["confidence"][source_policy(source_type).tier]
    return round(weight * (trust["stale_factor"] if stale else 1.0), 3)


def record(
    *,
    claim_id: str,
    claim_text: str,
    cited: Cited,
    quote: str,
    question: str,
    age: Clocks,
    status: str,
) -> dict[str, Any]:
    """The evidence record of SentinelPharma 5.1, with the version and both clocks."""
    version = cited.version
    policy = source_policy(version.source_type)
    return {
        "claim_id": claim_id,
        "claim_text": claim_text,
        "evidence_id": cited.evidence_id,
        "source": {
            "name": version.publisher or policy.name,
            "url": cited.page,
            "document_id": str(version.document_id),
            "published_at": age.published_at.isoformat() if age.published_at else None,
        },
        "retrieval": {
            "fetched_at": age.checked_at.isoformat(),
            "query": question,
            "snippet": quote,
            "hash": version.content_hash,
        },
        "quality": {
            "source_tier": policy.tier,
            "confidence": confidence(version.source_type, stale=age.stale),
            "verification_status": status,
            "freshness_hours": round(age.freshness_hours, 1),
        },
        "version": version.n,
        "version_id": str(version.id),
        "title": version.title,
        "labels": cited.labels,
        "clocks": age.as_body(),
        "standing": standing_body(cited.standing),
    }


def standing_body(standing: Standing) -> dict[str, Any]:
    """What became of the work, and who was asked about it when."""
    return {
        "state": standing.state,
        "notices": [
            {
                "source": notice.source,
                "kind": notice.kind,
                "notice_id": notice.notice_id or None,
                "stated_on": notice.stated_on.isoformat() if notice.stated_on else None,
                "first_seen_at": notice.first_seen_at.isoformat(),
            }
            for notice in standing.notices
        ],
        "asked": [
            {"source": one.source, "asked_at": one.asked_at.isoformat(), "known": one.known}
            for one in standing.asked
        ],
    }


def _is_doubtful(url: str, doubts: Collection[str]) -> bool:
    """Whether an address is made of an identifier in doubt."""
    plain = unquote(url).lower()
    values = (doubt.partition(":")[2] for doubt in doubts)
    return any(
        re.search(rf"(?<![^\W_]){re.escape(value)}(?![^\W_])", plain) for value in values if value
    )
