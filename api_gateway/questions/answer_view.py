"""The view of an answer on the page of its question. Pure: bodies in, views out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api_gateway.pages import links
from api_gateway.pages.clocks import ClockView, Moment, clocks, milliseconds, published
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
    """A place that a claim cites. `number` is that of its reference, or None if it has none.

    `quote` is set only if its words are the stored ones (invariant 5).
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
    """A claim with its badge and its citations; the first is the claim's own."""

    claim_id: str
    text: str
    badge: Badge
    citations: Sequence[CitationView]
    hedged: bool
    completed: bool
    repaired: bool

    @property
    def numbers(self) -> list[int]:
        """The numbers of the references that it cites, each once."""
        numbers = (place.number for place in self.citations if place.number is not None)
        return list(dict.fromkeys(numbers))


@dataclass(frozen=True)
class SectionView:
    """A section of an answer."""

    heading: str
    claims: Sequence[ClaimView]


@dataclass(frozen=True)
class SideView:
    """One of two sources that contradict each other, with its own words.

    `source` is empty if the answer does not name it; `published` is shown if there are no clocks.
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
    """A figure; `image_url` is set only if the page's policy allows it to be shown."""

    title: str
    url: str
    image_url: str | None
    source: str
    license: str | None


@dataclass(frozen=True)
class AbstentionView:
    """The reason why there is no answer, and its cure. `action` is the action of the cure."""

    title: str
    reason: str
    detail: str
    cure: str
    action: str
    sources: Sequence[str]
    refreshes: Sequence[str]

    @property
    def curable(self) -> bool:
        """Whether more evidence could lead to an answer."""
        return self.reason not in ("out_of_scope", "unchecked")


@dataclass(frozen=True)
class RemarkView:
    """A remark on the question, with the link to its place if a source says it."""

    detail: str
    href: str | None


@dataclass(frozen=True)
class TableView:
    """A table of the first line."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class LeadView:
    """The first line, with the claims that say so; these stand in no section again.

    `said` is yes or no; `text` frames claims or stands for them, empty where they speak alone.
    """

    said: str
    text: str
    note: str
    claims: Sequence[ClaimView]
    table: TableView | None
    strength: str

    @property
    def badge(self) -> Badge | None:
        """That of its claims if all have the same one, otherwise None."""
        badges = {claim.badge for claim in self.claims}
        return badges.pop() if len(badges) == 1 else None


@dataclass(frozen=True)
class AnswerView:
    """Everything that the page of an answer shows."""

    abstention: AbstentionView | None
    remarks: Sequence[RemarkView]
    lead: LeadView | None
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
    def common_badge(self) -> Badge | None:
        """The badge that most claims have."""
        badges = [claim.badge for section in self.sections for claim in section.claims]
        return max(badges, key=badges.count, default=None)

    @property
    def rests_on_sources(self) -> bool:
        """Whether the answer cites anything that could change."""
        return bool(self.sections or self.conflicts or self.references)

    @property
    def image_origins(self) -> list[str]:
        """The origins from which the page's policy must allow pictures."""
        origins = (links.origin_of(image.image_url) for image in self.images if image.image_url)
        return list(dict.fromkeys(filter(None, origins)))


def answer_view(body: Mapping[str, Any]) -> AnswerView:
    """The view of an answer's body; missing parts are left out."""
    records = {
        (record.get("claim_id"), record.get("evidence_id")): record
        for record in body.get("evidence", ())
    }
    by_key = {key: record for (_, key), record in reversed(records.items())}
    numbers = {entry["evidence_id"]: entry["n"] for entry in body.get("references", ())}
    claims = {
        claim["claim_id"]: _claim(claim, records, by_key, numbers)
        for claim in body.get("claims", ())
    }
    lead = _lead(body, claims)
    leading = {claim.claim_id for claim in lead.claims} if lead else set()
    fresh = body.get("freshness_summary") or {}
    oldest = fresh.get("max_age_hours")
    return AnswerView(
        abstention=_abstention(body) if body.get("abstained") else None,
        remarks=_remarks(body),
        lead=lead,
        sections=[
            SectionView(part["heading"], [claims[key] for key in left])
            for part in body.get("sections", ())
            if (left := [key for key in part["claim_ids"] if key in claims.keys() - leading])
        ],
        conflicts=[_conflict(conflict, by_key) for conflict in body.get("conflicts", ())],
        references=references(body, by_key),
        images=list(filter(None, map(_image, body.get("images", ())))),
        recall=recall_view(body.get("recall") or {}, by_key),
        counts=_counts(body.get("verification_summary") or {}),
        updated=published(fresh.get("latest_fetch_at")),
        oldest=None if oldest is None else _span(oldest),
        stale_sources=fresh.get("stale_sources") or (),
        facts=facts(body),
        note=((body.get("provenance") or {}).get("fallback") or {}).get("note", ""),
    )


def _lead(body: Mapping[str, Any], claims: Mapping[str, ClaimView]) -> LeadView | None:
    """The first line; of an answer that was sealed before there were any, its summary; None of an
    abstention with nothing beside it."""
    lead, summary = body.get("lead"), body.get("summary") or {}
    if body.get("abstained") and not (lead or {}).get("claim_ids"):
        return None  # the abstention says it
    if not lead:
        text = summary.get("text", "")
        return LeadView("", text, "", (), None, strength(body)) if text else None
    saying = [claims[key] for key in lead.get("claim_ids", ()) if key in claims]
    value, kind, table = lead.get("value") or "", lead.get("kind"), lead.get("table")
    text = lead.get("text", "")
    for claim in saying:
        text = text.replace(claim.text, "")
    return LeadView(
        said=value.capitalize() if kind == "yesno" else "",
        text=text.strip() if kind in ("beside", "coverage", "none") else "",
        note=value if kind == "recommendation" else "",
        claims=saying,
        table=TableView(table["columns"], table["rows"]) if table else _listed(kind, saying),
        strength=strength(body),
    )


def _listed(kind: str | None, claims: Sequence[ClaimView]) -> TableView | None:
    """A list of claims as a table, with the columns of one of trials."""
    if kind != "list" or len(claims) < 2 or not all(claim.citations for claim in claims):
        return None
    firsts = [(claim, claim.citations[0]) for claim in claims]
    return TableView(
        ("Source", "Year", "Finding"),
        [
            (first.title, when.iso[:4] if when else "", claim.text)
            for claim, first in firsts
            for when in [first.clocks.published if first.clocks else None]
        ],
    )


def strength(body: Mapping[str, Any]) -> str:
    """How far the evidence suffices, in words; empty where that is not told."""
    found = body.get("sufficiency") or {}
    score = found.get("score")
    return "" if score is None else f"{found.get('level')} ({score} of 100)"


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
            place,
            records.get((claim_id, place["evidence_id"])) or by_key.get(place["evidence_id"]) or {},
            numbers.get(place["evidence_id"]),
        )
        for place in body.get("citations", ())
    ]
    return ClaimView(
        claim_id=claim_id,
        text=body["text"],
        badge=badge(CLAIM, body.get("verification_status")),
        citations=citations,
        hedged="rewritten_from" in body,
        completed="completed_from" in body,
        repaired="repaired_from" in body,
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
        refreshes=tuple(refresh["refresh_id"] for refresh in body.get("cure_refreshes") or ()),
    )


def _remarks(body: Mapping[str, Any]) -> list[RemarkView]:
    """The remarks. An abstention itself says which names may be meant, so `misspelt` is omitted."""
    return [
        RemarkView(
            remark["detail"],
            links.evidence_link(*map(remark.get, ("document_id", "version", "start", "end"))),
        )
        for remark in body.get("remarks", ())
        if not (body.get("abstained") and remark["code"] == "misspelt")
    ]


def _conflict(body: Mapping[str, Any], by_key: Mapping[Any, Mapping[str, Any]]) -> ConflictView:
    rule = str(body.get("rule") or "")
    decided = CONFLICT_RULE.get(rule) or f"Decided by {rule.replace('_', ' ')}"
    return ConflictView(
        about=" · ".join(filter(None, (body.get("subject"), body.get("outcome")))),
        why=CONFLICT_WHY.get(body.get("why", ""), "They cannot both hold"),
        decided=decided if body.get("resolved") else "Nothing decides between them",
        resolved=bool(body.get("resolved")),
        sides=[_side(side, body.get("stands"), by_key) for side in body.get("sides", ())],
    )


def _side(
    body: Mapping[str, Any], stands: Any, by_key: Mapping[Any, Mapping[str, Any]]
) -> SideView:
    """A side of a conflict. Older answers lack its source, which then comes from the records."""
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
    """The known facts of how the answer was made, as pairs of label and value."""
    made = body.get("provenance") or {}
    sufficiency = body.get("sufficiency") or {}
    tags = body.get("tags") or {}
    pico = body.get("pico") or {}
    times = made.get("stage_timings_ms") or {}
    by = " ".join(filter(None, (made.get("generator"), made.get("model"))))
    pairs = [
        ("Asked about", str(body.get("query_type") or "").replace("_", " ")),
        *((name.capitalize(), str(pico[name])) for name in pico if pico[name]),
        ("Disease", _names(tags.get("diseases"))),
        ("Decision", _names(tags.get("decisions"))),
        ("Evidence", strength(body)),
        ("Because", str(sufficiency.get("basis") or "")),
        ("Made by", by),
        ("Prompt", str(made.get("prompt_version") or "")),
        ("Knowledge", str(made.get("knowledge_version") or "")),
        ("Cost", f"{made['cost_usd']} USD" if made.get("cost_usd") not in (None, "0") else ""),
        ("Stages", ", ".join(f"{stage} {milliseconds(ms)}" for stage, ms in times.items())),
    ]
    return [(label, value) for label, value in pairs if value]


def _names(tags: Sequence[str] | None) -> str:
    return ", ".join(tag.replace("_", " ") for tag in tags or ())
