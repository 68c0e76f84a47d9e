"""From a question's resource to what its page shows. Pure: bodies in, views out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api_gateway.pages import links
from api_gateway.pages.clocks import ClockView, Moment, clocks, milliseconds, moment, published
from api_gateway.pages.wording import (
    ABSTENTION,
    CLAIM,
    CONFLICT_RULE,
    CONFLICT_WHY,
    QUOTE,
    Badge,
    badge,
)
from api_gateway.recalls.view import RecallView, recall_view
from api_gateway.sources.view import ReferenceView, notices, references


@dataclass(frozen=True)
class CitationView:
    """A place that a claim rests on. `number` is that of its reference; None: it has no page.

    `quote` is shown as a quotation only where its words are the stored ones (invariant 5).
    """

    number: int | None
    title: str
    source: str
    href: str | None
    section: str
    version: int | None
    quote: str | None
    quote_badge: Badge
    citation: str
    clocks: ClockView | None
    notices: Sequence[str]


@dataclass(frozen=True)
class ClaimView:
    """A claim with its badge and its places, the first of which is its own."""

    claim_id: str
    text: str
    badge: Badge
    citations: Sequence[CitationView]
    hedged: bool
    completed: bool

    @property
    def numbers(self) -> list[int]:
        """The references that it cites, each once."""
        found = (one.number for one in self.citations if one.number is not None)
        return list(dict.fromkeys(found))


@dataclass(frozen=True)
class SectionView:
    """A part of an answer."""

    heading: str
    claims: Sequence[ClaimView]


@dataclass(frozen=True)
class SideView:
    """One of two that contradict each other, in its own words.

    `source` is empty where the answer does not tell it; `published` is told where there are no
    clocks.
    """

    title: str
    source: str
    statement: str
    quote: str
    href: str | None
    stands: bool
    clocks: ClockView | None
    published: Moment | None


@dataclass(frozen=True)
class ConflictView:
    """A conflict with both sides."""

    about: str
    why: str
    decided: str
    resolved: bool
    sides: Sequence[SideView]


@dataclass(frozen=True)
class ImageView:
    """A figure; `image_url` only where it can be shown under the page's policy."""

    title: str
    url: str
    image_url: str | None
    source: str
    license: str | None


@dataclass(frozen=True)
class AbstentionView:
    """Why there is no answer, and what would cure that. `action` is the one of the cure."""

    title: str
    reason: str
    detail: str
    cure: str
    action: str
    sources: Sequence[str]
    refreshes: Sequence[str]

    @property
    def curable(self) -> bool:
        """Whether more evidence could cure it."""
        return self.reason not in ("out_of_scope", "unchecked")


@dataclass(frozen=True)
class RemarkView:
    """What is told of the question, and where it stands, if a source says it."""

    detail: str
    href: str | None


@dataclass(frozen=True)
class AnswerView:
    """All that the page of an answer shows."""

    abstention: AbstentionView | None
    remarks: Sequence[RemarkView]
    lead: Sequence[ClaimView]
    lead_text: str
    sections: Sequence[SectionView]
    conflicts: Sequence[ConflictView]
    references: Sequence[ReferenceView]
    images: Sequence[ImageView]
    recall: RecallView
    counts: Sequence[tuple[Badge, int]]
    updated: Moment | None
    oldest: str | None
    stale_sources: Sequence[str]
    facts: Sequence[tuple[str, str]]
    note: str

    @property
    def lead_badge(self) -> Badge | None:
        """The state of the summary's claims, if it is one and the same."""
        found = {one.badge for one in self.lead}
        return found.pop() if len(found) == 1 else None

    @property
    def rests_on_sources(self) -> bool:
        """Whether it cites anything that could change."""
        return bool(self.sections or self.conflicts or self.references)

    @property
    def image_origins(self) -> list[str]:
        """Where the page's policy must let pictures come from."""
        found = (links.origin_of(one.image_url) for one in self.images if one.image_url)
        return list(dict.fromkeys(filter(None, found)))


def answer_view(body: Mapping[str, Any]) -> AnswerView:
    """The view of an answer's body; what it lacks is left out."""
    records = {
        (one.get("claim_id"), one.get("evidence_id")): one for one in body.get("evidence", ())
    }
    by_key = {key: one for (_, key), one in reversed(records.items())}
    numbers = {one["evidence_id"]: one["n"] for one in body.get("references", ())}
    claims = {
        one["claim_id"]: _claim(one, records, by_key, numbers) for one in body.get("claims", ())
    }
    summary = body.get("summary") or {}
    lead = [claims[one] for one in summary.get("supported_claim_ids", ()) if one in claims]
    fresh = body.get("freshness_summary") or {}
    oldest = fresh.get("max_age_hours")
    return AnswerView(
        abstention=_abstention(body) if body.get("abstained") else None,
        remarks=_remarks(body),
        lead=lead,
        lead_text=summary.get("text", ""),
        sections=[
            SectionView(one["heading"], [claims[key] for key in one["claim_ids"] if key in claims])
            for one in body.get("sections", ())
        ],
        conflicts=[_conflict(one, by_key) for one in body.get("conflicts", ())],
        references=references(body, by_key),
        images=list(filter(None, map(_image, body.get("images", ())))),
        recall=recall_view(body.get("recall") or {}, by_key),
        counts=_counts(body.get("verification_summary") or {}),
        updated=moment(fresh.get("latest_fetch_at")),
        oldest=None if oldest is None else _span(oldest),
        stale_sources=fresh.get("stale_sources") or (),
        facts=facts(body),
        note=((body.get("provenance") or {}).get("fallback") or {}).get("note", ""),
    )


def _span(hours: float) -> str:
    return clocks({"freshness_hours": hours}).age or ""


def _claim(
    body: Mapping[str, Any],
    records: Mapping[tuple[Any, Any], Mapping[str, Any]],
    by_key: Mapping[Any, Mapping[str, Any]],
    numbers: Mapping[str, int],
) -> ClaimView:
    claim_id = body["claim_id"]
    citations = [
        _citation(
            one,
            records.get((claim_id, one["evidence_id"])) or by_key.get(one["evidence_id"]) or {},
            numbers.get(one["evidence_id"]),
        )
        for one in body.get("citations", ())
    ]
    return ClaimView(
        claim_id=claim_id,
        text=body["text"],
        badge=badge(CLAIM, body.get("verification_status")),
        citations=citations,
        hedged="rewritten_from" in body,
        completed="completed_from" in body,
    )


def _citation(
    place: Mapping[str, Any], record: Mapping[str, Any], number: int | None
) -> CitationView:
    state = badge(QUOTE, place.get("quote_verdict"))
    return CitationView(
        number=number,
        title=record.get("title") or place["evidence_id"],
        source=(record.get("source") or {}).get("name", ""),
        href=links.evidence_link(
            place.get("document_id"), place.get("version"), place.get("start"), place.get("end")
        ),
        section=place.get("section") or "Text",
        version=place.get("version"),
        quote=place.get("quote") if state.tone == "good" else None,
        quote_badge=state,
        citation=place.get("citation", ""),
        clocks=clocks(record["clocks"]) if record.get("clocks") else None,
        notices=notices(record),
    )


def _abstention(body: Mapping[str, Any]) -> AbstentionView:
    cure = body.get("cure") or {}
    if isinstance(cure, str):
        cure = {"detail": cure}
    reason = body.get("abstain_reason") or "unchecked"
    return AbstentionView(
        title=ABSTENTION.get(reason, ABSTENTION["unchecked"]),
        reason=reason,
        detail=body.get("abstain_detail") or "",
        cure=cure.get("detail", ""),
        action=cure.get("action", ""),
        sources=tuple(cure.get("sources") or ()),
        refreshes=tuple(one["refresh_id"] for one in body.get("cure_refreshes") or ()),
    )


def _remarks(body: Mapping[str, Any]) -> list[RemarkView]:
    """The remarks; an abstention tells in its own words which names may be meant."""
    return [
        RemarkView(
            one["detail"],
            links.evidence_link(*map(one.get, ("document_id", "version", "start", "end"))),
        )
        for one in body.get("remarks", ())
        if not (body.get("abstained") and one["code"] == "misspelt")
    ]


def _conflict(body: Mapping[str, Any], by_key: Mapping[Any, Mapping[str, Any]]) -> ConflictView:
    rule = str(body.get("rule") or "")
    decided = CONFLICT_RULE.get(rule) or f"Decided by {rule.replace('_', ' ')}"
    return ConflictView(
        about=" · ".join(filter(None, (body.get("subject"), body.get("outcome")))),
        why=CONFLICT_WHY.get(body.get("why", ""), "They cannot both hold"),
        decided=decided if body.get("resolved") else "Nothing decides between them",
        resolved=bool(body.get("resolved")),
        sides=[_side(one, body.get("stands"), by_key) for one in body.get("sides", ())],
    )


def _side(
    body: Mapping[str, Any], stands: Any, by_key: Mapping[Any, Mapping[str, Any]]
) -> SideView:
    """A side with what it tells of its source; answers from before it told that have records."""
    key = body["evidence_id"]
    record = by_key.get(key) or by_key.get(str(key).partition("@")[0]) or {}
    earlier = " (an earlier version)" if "@" in str(key) else ""
    title = body.get("title") or record.get("title")
    source = body.get("source") or record.get("source") or {}
    age = body.get("clocks") or (None if earlier else record.get("clocks"))
    return SideView(
        title=f"{title}{earlier}" if title else f"Source {key}",
        source=source.get("name") or "",
        statement=body.get("statement") or "",
        quote=body["quote"],
        href=links.version_link(
            body.get("document_id"), body.get("version_id"), body["start"], body["end"]
        ),
        stands=stands == key,
        clocks=clocks(age) if age else None,
        published=_side_published(body),
    )


def _side_published(body: Mapping[str, Any]) -> Moment | None:
    source = body.get("source") or {}
    return published(source.get("published_at"), source.get("published_precision"))


def _image(body: Mapping[str, Any]) -> ImageView | None:
    page = links.page_of(body)
    if page is None:
        return None
    picture = links.page_of(body, "image_url")
    if picture is not None and links.origin_of(picture) is None:
        picture = None
    return ImageView(body["title"], page, picture, body["source"], body.get("license"))


def _counts(body: Mapping[str, int]) -> list[tuple[Badge, int]]:
    names = {
        "verified_count": "verified",
        "partial_count": "partially_verified",
        "conflicting_count": "conflicting",
        "unverified_count": "unverified",
    }
    return [(CLAIM[state], body[name]) for name, state in names.items() if body.get(name)]


def facts(body: Mapping[str, Any]) -> list[tuple[str, str]]:
    """How the answer came to be: label and value, of what is known."""
    made = body.get("provenance") or {}
    found = body.get("sufficiency") or {}
    tags = body.get("tags") or {}
    pico = body.get("pico") or {}
    times = made.get("stage_timings_ms") or {}
    score = found.get("score")
    by = " ".join(filter(None, (made.get("generator"), made.get("model"))))
    told = [
        ("Asked about", str(body.get("query_type") or "").replace("_", " ")),
        *((name.capitalize(), str(pico[name])) for name in pico if pico[name]),
        ("Disease", _names(tags.get("diseases"))),
        ("Decision", _names(tags.get("decisions"))),
        ("Evidence", "" if score is None else f"{found.get('level')} ({score} of 100)"),
        ("Because", str(found.get("basis") or "")),
        ("Made by", by),
        ("Prompt", str(made.get("prompt_version") or "")),
        ("Knowledge", str(made.get("knowledge_version") or "")),
        ("Cost", f"{made['cost_usd']} USD" if made.get("cost_usd") not in (None, "0") else ""),
        ("Stages", ", ".join(f"{stage} {milliseconds(ms)}" for stage, ms in times.items())),
    ]
    return [(label, value) for label, value in told if value]


def _names(tags: Sequence[str] | None) -> str:
    return ", ".join(tag.replace("_", " ") for tag in tags or ())
