"""Evidence records, references and both clocks, from stored versions. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from knowledge.loader import load
from knowledge.sources import source_policy
from store.models import DocumentVersion


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
    evidence_id: str,
    version: DocumentVersion,
    quote: str,
    question: str,
    age: Clocks,
    status: str,
) -> dict[str, Any]:
    """The evidence record of SentinelPharma 5.1, with the version and both clocks."""
    policy = source_policy(version.source_type)
    return {
        "claim_id": claim_id,
        "claim_text": claim_text,
        "evidence_id": evidence_id,
        "source": {
            "name": version.publisher or policy.name,
            "url": direct_url(version),
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
    }


def direct_url(version: DocumentVersion) -> str | None:
    """The page of the article itself (EB-8.2), never a search page (EB-9)."""
    ids = version.identifiers
    if pmid := ids.get("pmid"):
        return f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/"
    if pmcid := ids.get("pmcid"):
        return f"https://pmc.ncbi.nlm.nih.gov/articles/{pmcid}/"
    if doi := ids.get("doi"):
        return f"https://doi.org/{doi}"
    if nct_id := ids.get("nct_id"):
        return f"https://clinicaltrials.gov/study/{nct_id}"
    return None if version.url is None or is_search_page(version.url) else version.url


def is_search_page(url: str) -> bool:
    """Whether `url` leads to search results instead of a document."""
    parts = urlsplit(url)
    segments = [segment for segment in parts.path.lower().split("/") if segment]
    return (
        "search" in segments[-1:]
        or parts.path.lower().startswith("/search")
        or ((parts.hostname or "").startswith("www.google.") and bool(parts.query))
    )


def references(
    versions: Iterable[tuple[str, DocumentVersion]],
) -> list[dict[str, Any]]:
    """Numbered references; what has no direct page is left out (EB-8.5)."""
    listed: list[dict[str, Any]] = []
    for evidence_id, version in versions:
        url = direct_url(version)
        if url is None:
            continue
        ids = version.identifiers
        listed.append(
            {
                "n": len(listed) + 1,
                "evidence_id": evidence_id,
                "title": version.title,
                "authors": authors(version.authors),
                "source": version.publisher or source_policy(version.source_type).name,
                "year": version.published_at.year if version.published_at else None,
                "badges": badges(version),
                "url": url,
                **{key: ids[key] for key in ("pmid", "doi", "nct_id") if key in ids},
            }
        )
    return listed


def authors(names: list[str]) -> str:
    """First author et al. where there are more than three, or the source cut its list (EB-8.1)."""
    cut = len(names) > 3 or names[-1:] == ["et al."]
    return f"{names[0]} et al." if cut else ", ".join(names)


def badges(version: DocumentVersion) -> list[str]:
    """Source badge, publication type and labels (EB-8.4)."""
    trust: Mapping[str, Any] = load("trust")
    kind = trust["type_badges"].get((version.publication_type or "").lower())
    labels = [trust["label_badges"].get(label) for label in version.labels]
    found = [source_policy(version.source_type).badge, kind, *labels]
    return list(dict.fromkeys(badge for badge in found if badge))
