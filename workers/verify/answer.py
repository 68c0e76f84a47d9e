"""The answer object of DESIGN section 5, from checked claims. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from knowledge.links import is_direct
from knowledge.loader import load
from knowledge.sources import source_policy
from knowledge.version import knowledge_version
from store.models import DocumentVersion
from store.spans import Span
from workers.verify import evidence
from workers.verify.bibliography import references
from workers.verify.gate import Abstention, Checked, Standing, judge

STATUS = {
    "supported": "verified",
    "partial": "partially_verified",
    "conflicting": "conflicting",
    "unsupported": "unverified",
    "unchecked": "unverified",
}
"""DESIGN section 5 joins the two seeds' names for one thing."""


@dataclass(frozen=True)
class Held:
    """A version that evidence names, with its clocks at the time of the answer."""

    cited: evidence.Cited
    clocks: evidence.Clocks

    @property
    def version(self) -> DocumentVersion:
        """The version itself."""
        return self.cited.version

    @property
    def ended(self) -> bool:
        """Whether the work is evidence no longer, in any version."""
        return "retracted" in (self.cited.standing.state, self.version.status)

    def may_be_cited(self, *, in_the_past: bool) -> bool:
        """Whether it still is what its source says, or was, where the question asks for that."""
        allowed = ("current", "superseded") if in_the_past else ("current",)
        return not self.ended and self.version.status in allowed


@dataclass(frozen=True)
class Place:
    """The chunk that a span stands in."""

    chunk_id: str
    section: str
    citation: str


PlaceOf = Callable[[str, Span], Place]


def compose(
    *,
    question: str,
    retrieval: Mapping[str, Any],
    draft: Mapping[str, Any],
    checked: Sequence[Checked],
    held: Mapping[str, Held],
    place_of: PlaceOf,
) -> dict[str, Any]:
    """The answer's body. Only claims that pass are in it, and none if it abstains."""
    passing = [one for one in checked if one.passes]
    reason = judge(
        evidence_found=sum(not one.ended for one in held.values()),
        passing=[_standing(held[one.evidence_id]) for one in passing],
        asks_for_today=retrieval["asks_for_today"] and not retrieval["as_of"],
        filtered=retrieval.get("filters") is not None,
    )
    shown = [] if reason else passing
    used = list(dict.fromkeys(one.evidence_id for one in shown))
    summary = shown[: load("answers")["summary_claims"]]
    return {
        **{key: retrieval[key] for key in _UNDERSTANDING},
        **_abstained(reason),
        "summary": {
            "text": " ".join(one.text for one in summary),
            "supported_claim_ids": [one.claim_id for one in summary],
        },
        "sections": _sections(shown),
        "claims": [_claim(one, held[one.evidence_id], place_of) for one in shown],
        "evidence": [_record(one, held[one.evidence_id], question) for one in shown],
        "references": references((held[key].cited, held[key].clocks) for key in used),
        "images": [] if reason else _images(retrieval),
        "conflicts": [],
        "verification_summary": _counts(checked),
        "freshness_summary": _freshness(
            [held[key] for key in used] or [one for one in held.values() if not one.ended]
        ),
        "recall": {"state": "current", "because": []},
        "provenance": {
            "generator": draft["generator"],
            "model": draft.get("model"),
            "prompt_version": draft["prompt_version"],
            "knowledge_version": knowledge_version(),
            "cost_usd": draft.get("cost_usd"),
        },
    }


_UNDERSTANDING = ("query_type", "classification", "pico", "tags", "sub_queries", "sufficiency")


def _images(retrieval: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What retrieval found; none whose page or picture is a search (EB-9.3)."""
    return [
        image
        for image in retrieval.get("images", [])
        if is_direct(image["url"]) and is_direct(image.get("image_url") or image["url"])
    ]


def _standing(held: Held) -> Standing:
    source_type = held.version.source_type
    return Standing(source_type, source_policy(source_type).tier, held.clocks.stale)


def _abstained(reason: Abstention | None) -> dict[str, Any]:
    return {
        "abstained": reason is not None,
        "abstain_reason": reason.reason if reason else None,
        "abstain_detail": reason.detail if reason else None,
        "cure": reason.cure if reason else None,
        "cure_refreshes": [],
    }


def _sections(shown: Sequence[Checked]) -> list[dict[str, Any]]:
    headings = dict.fromkeys(one.heading for one in shown)
    return [
        {
            "heading": heading,
            "claim_ids": [one.claim_id for one in shown if one.heading == heading],
        }
        for heading in headings
    ]


def _claim(one: Checked, held: Held, place_of: PlaceOf) -> dict[str, Any]:
    assert one.place is not None, "a passing claim has a place"
    where = place_of(one.evidence_id, one.place)
    return {
        "claim_id": one.claim_id,
        "text": one.text,
        "verdict": one.verdict,
        "verification_status": STATUS[one.verdict],
        "citations": [
            {
                "evidence_id": one.evidence_id,
                "document_id": str(held.version.document_id),
                "version": held.version.n,
                "chunk_id": where.chunk_id,
                "section": where.section,
                "start": one.place.start,
                "end": one.place.end,
                "quote": one.place.of(held.version.text),
                "quote_verdict": one.quote_verdict,
                "citation": where.citation,
            }
        ],
    }


def _record(one: Checked, held: Held, question: str) -> dict[str, Any]:
    assert one.place is not None, "a passing claim has a place"
    return evidence.record(
        claim_id=one.claim_id,
        claim_text=one.text,
        cited=held.cited,
        quote=one.place.of(held.version.text),
        question=question,
        age=held.clocks,
        status=STATUS[one.verdict],
    )


def _counts(checked: Sequence[Checked]) -> dict[str, int]:
    """Of all drafted claims: what is not verified was withheld, and is counted."""
    states = [STATUS[one.verdict] for one in checked]
    return {
        "verified_count": states.count("verified"),
        "partial_count": states.count("partially_verified"),
        "unverified_count": states.count("unverified"),
        "conflicting_count": states.count("conflicting"),
    }


def _freshness(held: Sequence[Held]) -> dict[str, Any]:
    latest: datetime | None = max((one.clocks.checked_at for one in held), default=None)
    oldest = max((one.clocks.freshness_hours for one in held), default=None)
    stale = {one.version.source_type for one in held if one.clocks.stale}
    return {
        "latest_fetch_at": latest.isoformat() if latest else None,
        "max_age_hours": None if oldest is None else round(oldest, 1),
        "stale_sources": sorted(stale),
    }
