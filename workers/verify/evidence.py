"""Evidence records, references and both clocks, from stored versions. Pure."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import unquote

from knowledge.links import direct_url
from knowledge.loader import load
from knowledge.sources import source_policy
from store.models import DocumentVersion
from store.standing import Standing


@dataclass(frozen=True)
class Cited:
    """A version under its key, with what became of the work, and which of its identifiers are in
    doubt (`doi:10.1/x`, in lower case)."""

    evidence_id: str
    version: DocumentVersion
    standing: Standing = field(default_factory=Standing)
    doubts: Collection[str] = frozenset()

    @property
    def identifiers(self) -> dict[str, str]:
        """Those that may be shown."""
        return {
            kind: value
            for kind, value in self.version.identifiers.items()
            if f"{kind}:{value}".lower() not in self.doubts
        }


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
        }


def clocks(version: DocumentVersion, checked_at: datetime, now: datetime) -> Clocks:
    """Both clocks of a version, last seen at its source at `checked_at`."""
    policy = source_policy(version.source_type)
    hours = max(0.0, (now - checked_at).total_seconds() / 3600)
    published = version.published_at
    return Clocks(
        checked_at=checked_at,
        freshness_hours=hours,
        sla_hours=policy.sla_hours,
        stale=policy.is_stale(hours),
        published_at=published,
        published_precision=version.published_precision,
        published_age_days=(now - published).days if published else None,
    )


def confidence(source_type: str, *, stale: bool) -> float:
    """The weight of a source by its tier, reduced when stale (SP-6.1)."""
    trust = load("trust")
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
            "url": page_of(cited),
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
        "labels": version.labels,
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


def page_of(cited: Cited) -> str | None:
    """The page of the article itself (EB-8.2), never a search page (EB-9), never one that an
    identifier in doubt leads to."""
    own = {"pmid", "pmcid", "doi"} & set(cited.version.identifiers)
    # A publication whose own identifiers are in doubt is not on the page of the trial it names.
    ids = {kind: value for kind, value in cited.identifiers.items() if kind != "nct_id" or not own}
    url = cited.version.url
    return direct_url(ids, None if url is None or _is_doubtful(url, cited.doubts) else url)


def _is_doubtful(url: str, doubts: Collection[str]) -> bool:
    """Whether an address is made of an identifier in doubt."""
    plain = unquote(url).lower()
    values = (doubt.partition(":")[2] for doubt in doubts)
    return any(
        re.search(rf"(?<![^\W_]){re.escape(value)}(?![^\W_])", plain) for value in values if value
    )


def references(all_cited: Iterable[Cited]) -> list[dict[str, Any]]:
    """Numbered references; what has no direct page is left out (EB-8.5), and so is every identifier
    in doubt (EB-7.5)."""
    listed: list[dict[str, Any]] = []
    for cited in all_cited:
        version, ids = cited.version, cited.identifiers
        url = page_of(cited)
        if url is None:
            continue
        listed.append(
            {
                "n": len(listed) + 1,
                "evidence_id": cited.evidence_id,
                "title": version.title,
                "authors": authors(version.authors),
                "source": version.publisher or source_policy(version.source_type).name,
                "year": version.published_at.year if version.published_at else None,
                "badges": badges(cited),
                "url": url,
                **{key: ids[key] for key in ("pmid", "doi", "nct_id") if key in ids},
            }
        )
    return listed


def authors(names: list[str]) -> str:
    """First author et al. where there are more than three, or the source cut its list (EB-8.1)."""
    cut = len(names) > 3 or names[-1:] == ["et al."]
    return f"{names[0]} et al." if cut else ", ".join(names)


def badges(cited: Cited) -> list[str]:
    """Source badge, what became of the work, publication type and labels (EB-8.4)."""
    trust: Mapping[str, Any] = load("trust")
    version = cited.version
    fate = trust["standing_badges"].get(cited.standing.state)
    kind = trust["type_badges"].get((version.publication_type or "").lower())
    labels = [trust["label_badges"].get(label) for label in version.labels]
    found = [source_policy(version.source_type).badge, fate, kind, *labels]
    return list(dict.fromkeys(badge for badge in found if badge))
