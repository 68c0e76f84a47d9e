"""The answer object of DESIGN section 5, from checked claims. Pure."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from contracts import Answer, Retrieval
from contracts.answer import Conflict, Lead, Siding
from contracts.draft import DraftedClaim, Proposal
from knowledge.feeds.sources import source_policy
from knowledge.loader import load
from knowledge.version import knowledge_version
from knowledge.works.anchors import trial_of
from knowledge.works.links import is_direct
from store.core.spans import Span, sentences_of
from store.documents.documents import Version
from workers.verify.answers import evidence
from workers.verify.answers.abstention import Abstention, Standing, must_abstain
from workers.verify.answers.bibliography import references
from workers.verify.answers.presuppositions import Work, contradicted, taken_for_granted
from workers.verify.answers.remarks import (
    by_tags,
    has_another,
    names_nothing_else,
    offered,
    read_as,
    remark,
    searched_without,
    unnamed,
    unspoken,
)
from workers.verify.claims import Checked, Echo, Verdict
from workers.verify.gate import Contested, Passed, Shown, Verified
from workers.verify.lead.forms import Said, lead_of, lead_of_none, tells_no_advice
from workers.verify.lead.strength import strength

NO_STANCES: Mapping[str, Siding] = {}
STATUS = {
    Verdict.SUPPORTED: "verified",
    Verdict.PARTIAL: "partially_verified",
    Verdict.CONFLICTING: "conflicting",
    Verdict.UNSUPPORTED: "unverified",
    Verdict.UNCHECKED: "unverified",
}
"""DESIGN section 5 joins the two seeds' names for one thing."""


@dataclass(frozen=True)
class Held:
    """A version that evidence names, with its clocks at the time of the answer."""

    cited: evidence.Cited
    clocks: evidence.Clocks

    @property
    def version(self) -> Version:
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
    retrieval: Retrieval,
    draft: Proposal,
    checked: Sequence[Checked],
    passed: Passed,
    conflicts: Sequence[Conflict] = (),
    undecided: Collection[str],
    in_the_past: bool,
    cost_usd: str | None = None,
    held: Mapping[str, Held],
    place_of: PlaceOf,
    stances: Mapping[str, Siding] = NO_STANCES,
) -> Answer:
    """The answer. Only what the gate let through is in it, and no claim if it abstains.

    Args:
        checked: all drafted claims with their verdicts, for the counts.
        passed: those that may be shown.
        conflicts: as they stand in the answer, resolved or not.
        undecided: ids of the contested claims that are part of a conflict which nothing decides.
        in_the_past: whether the question is about a time that was over when it was checked.
        cost_usd: what asking models for this question cost; None where that is not known.
        stances: what the local verifier made of claims on a yes/no question.
    """
    meant = offered(retrieval.meant)
    told = _told(passed.shown, held)
    missing = unspoken(question, retrieval, told) if passed.shown else []
    reason = must_abstain(
        evidence_found=_found(draft, held),
        declined=draft.abstained,
        verified=_standings(draft, passed, undecided, held),
        asks_for_today=retrieval.asks_for_today and not in_the_past,
        lacks=draft.lacks,
        offered=[one["detail"] for one in meant],
        names_nothing_else=names_nothing_else(question, retrieval),
        unspoken=()
        if has_another(retrieval, missing)
        else [one for one in missing if not by_tags(one, told)],
        **_asked(retrieval),
    )
    shown = () if reason else passed.shown
    said = said_of(draft, passed, {key: one.version for key, one in held.items()})
    lead = (
        lead_of_none(reason, draft.lacks, [one.version.title for one in held.values()])
        if reason or not passed.verified
        else lead_of(
            retrieval.asked,
            said,
            stances,
            missing,
            on_coverage=retrieval.asks_on_coverage,
        )
    )
    said = [] if reason else said
    without = [] if reason else unnamed(question, retrieval, told)
    used = list(dict.fromkeys(place.evidence_id for one in shown for place in one.places))
    body = {
        **retrieval.model_dump(include=_UNDERSTANDING, mode="json", exclude_unset=True),
        **_abstained(reason),
        "lead": lead,
        "sufficiency": strength(retrieval.sufficiency, lead, said, without),
        "summary": _summary(passed.verified, lead),
        "sections": _sections(shown),
        "claims": [_claim(one, held, place_of) for one in shown],
        "evidence": [record for one in shown for record in _records(one, held, question)],
        "remarks": [
            *searched_without(retrieval.without),
            *read_as(retrieval.read_as),
            *meant,
            *_contradicted(question, retrieval, held, in_the_past=in_the_past),
            *(() if reason else _remarks(retrieval, without)),
            *([remark("no_advice")] if said and tells_no_advice(retrieval.asked, said) else ()),
        ],
        "references": references((held[key].cited, held[key].clocks) for key in used),
        "images": [] if reason else _images(retrieval),
        "conflicts": list(conflicts),
        "verification_summary": _counts(checked, passed),
        "quotations": _quotations(checked),
        "freshness_summary": _freshness(
            [held[key] for key in used] or [one for one in held.values() if not one.ended]
        ),
        "recall": {"state": "current", "because": []},
        "provenance": {
            "generator": draft.generator,
            "model": draft.model,
            "prompt_version": draft.prompt_version,
            "knowledge_version": knowledge_version(),
            "cost_usd": cost_usd,
            "fallback": draft.fallback.as_json() if draft.fallback else None,
        },
    }
    return Answer.model_validate(body)


def _asked(retrieval: Retrieval) -> dict[str, bool]:
    """What retrieval found of the question, as `must_abstain` asks for it."""
    return {
        "filtered": retrieval.filters is not None,
        "is_clinical": retrieval.is_clinical,
        "names_something": retrieval.names_something,
        "lacks_named": bool(retrieval.named_wanted),
        "is_english": retrieval.is_english,
    }


def _told(shown: Sequence[Shown], held: Mapping[str, Held]) -> list[str]:
    """Of each source of an answer what it says, all that it is called by, and the claims that hold
    by it: one may name in the words of the question what its source calls otherwise."""
    told = []
    for key in dict.fromkeys(place.evidence_id for one in shown for place in one.places):
        claims = [one.text for one in shown if isinstance(one, Verified) and one.evidence_id == key]
        version, own = held[key].version, held[key].cited.identifiers
        names = [version.title, version.publisher or "", source_policy(version.source_type).name]
        told.append("\n".join([*names, *own.values(), trial_of(own), *claims, version.text]))
    return told


def said_of(draft: Proposal, passed: Passed, versions: Mapping[str, Version]) -> list[Said]:
    """The verified claims with what their drafter says of how far they answer."""
    drafted = {one.claim_id: one for one in draft.claims}
    return [
        _as_drafted(one, versions[one.evidence_id], drafted.get(one.claim_id))
        for one in passed.verified
    ]


def _as_drafted(claim: Verified, version: Version, drafted: DraftedClaim | None) -> Said:
    if drafted is None:
        return Said(claim, version, 1.0)
    return Said(claim, version, drafted.covers, drafted.answers, drafted.begins)


def _remarks(retrieval: Retrieval, missing: Sequence[str]) -> list[dict[str, Any]]:
    """What is told of the question beside its answer."""
    told = [] if retrieval.is_english else [remark("not_english")]
    if missing:
        told.append({**remark("unnamed", names=" or ".join(missing)), "names": missing})
    return told


def _contradicted(
    question: str, retrieval: Retrieval, held: Mapping[str, Held], *, in_the_past: bool
) -> list[dict[str, Any]]:
    """What the question takes for granted of a trial and a study of that denies, with the place."""
    names = retrieval.names
    if not taken_for_granted(question, names):
        return []
    studies = load("questions/answers")["study_sources"]
    versions = {
        key: one.version
        for key, one in held.items()
        if one.may_be_cited(in_the_past=in_the_past) and one.version.source_type in studies
    }
    works = [
        Work(key, one.title, one.text, sentences_of(one.structure)) for key, one in versions.items()
    ]
    told = []
    for found in contradicted(question, names, works):
        version, place = versions[found.key], found.place
        quote, words = place.of(version.text), found.taken.words
        told.append(
            {
                **remark("contradicted", words=words, quote=quote, title=version.title),
                "document_id": str(version.document_id),
                "version": version.n,
                "start": place.start,
                "end": place.end,
                "quote": quote,
            }
        )
    return told


def _found(draft: Proposal, held: Mapping[str, Held]) -> int:
    """How many held sources speak to the question: none, where no sentence of theirs does."""
    if draft.is_extractive and not draft.claims:
        return 0
    return sum(not one.ended for one in held.values())


def _summary(verified: Sequence[Verified], lead: Lead) -> dict[str, Any]:
    """The claims of the first line; nothing else can be put here."""
    first = [one for one in verified if one.claim_id in lead.claim_ids]
    return {
        "text": " ".join(one.text for one in first),
        "supported_claim_ids": [one.claim_id for one in first],
    }


_UNDERSTANDING = {
    "asked",
    "query_type",
    "classification",
    "pico",
    "tags",
    "sub_queries",
}


def _images(retrieval: Retrieval) -> list[dict[str, Any]]:
    """What retrieval found; none whose page or picture is a search (EB-9.3)."""
    return [
        image.as_json()
        for image in retrieval.images
        if is_direct(image.url) and is_direct(image.image_url or image.url)
    ]


def _standings(
    draft: Proposal,
    passed: Passed,
    undecided: Collection[str],
    held: Mapping[str, Held],
) -> list[Standing]:
    """What must be known of the source of each claim that holds."""
    covers = {one.claim_id: one.covers for one in draft.claims}
    return [
        _standing(
            held[one.evidence_id],
            one,
            undecided=one.claim_id in undecided,
            covers=covers.get(one.claim_id, 1.0),
        )
        for one in passed.held
    ]


def _standing(held: Held, one: Shown, *, undecided: bool, covers: float) -> Standing:
    source_type = held.version.source_type
    contested = isinstance(one, Contested)
    return Standing(
        source_type,
        source_policy(source_type).tier,
        held.clocks.stale,
        contested,
        held.clocks.dated,
        overruled=contested and not undecided,
        covers=covers,
    )


def _abstained(reason: Abstention | None) -> dict[str, Any]:
    return {
        "abstained": reason is not None,
        "abstain_reason": reason.reason if reason else None,
        "abstain_detail": reason.detail if reason else None,
        "cure": reason.cure if reason else None,
        "cure_refreshes": [],
    }


def _sections(shown: Sequence[Shown]) -> list[dict[str, Any]]:
    headings = dict.fromkeys(one.heading for one in shown)
    return [
        {
            "heading": heading,
            "claim_ids": [one.claim_id for one in shown if one.heading == heading],
        }
        for heading in headings
    ]


def _claim(one: Shown, held: Mapping[str, Held], place_of: PlaceOf) -> dict[str, Any]:
    return {
        "claim_id": one.claim_id,
        "text": one.text,
        "verdict": one.verdict.value,
        "verification_status": STATUS[one.verdict],
        "basis": one.basis,
        **({"rewritten_from": one.rewritten_from.as_body()} if one.rewritten_from else {}),
        **({"repaired_from": one.repaired_from.as_body()} if one.repaired_from else {}),
        "citations": [
            _citation(place, held[place.evidence_id].version, place_of) for place in one.places
        ],
    }


def _citation(place: Echo, version: Version, place_of: PlaceOf) -> dict[str, Any]:
    where = place_of(place.evidence_id, place.place)
    return {
        "evidence_id": place.evidence_id,
        "document_id": str(version.document_id),
        "version": version.n,
        "chunk_id": where.chunk_id,
        "section": where.section,
        "start": place.place.start,
        "end": place.place.end,
        "quote": place.place.of(version.text),
        "quote_verdict": place.quote_verdict,
        "citation": where.citation,
    }


def _records(one: Shown, held: Mapping[str, Held], question: str) -> list[dict[str, Any]]:
    """One evidence record for each source of the claim."""
    return [
        evidence.record(
            claim_id=one.claim_id,
            claim_text=one.text,
            cited=held[place.evidence_id].cited,
            quote=place.place.of(held[place.evidence_id].version.text),
            question=question,
            age=held[place.evidence_id].clocks,
            status=STATUS[one.verdict],
        )
        for place in one.places
    ]


def _counts(checked: Sequence[Checked], passed: Passed) -> dict[str, int]:
    """Of all drafted claims: what is not verified was withheld or hedged, and is counted."""
    contested = {one.claim_id for one in passed.shown if isinstance(one, Contested)}
    states = [
        STATUS[Verdict.CONFLICTING if one.claim_id in contested else one.verdict] for one in checked
    ]
    return {
        "verified_count": states.count("verified"),
        "partial_count": states.count("partially_verified"),
        "unverified_count": states.count("unverified"),
        "conflicting_count": states.count("conflicting"),
    }


def _quotations(checked: Sequence[Checked]) -> dict[str, int]:
    """Quotation marks inside claims, and how many lost them (MRD 3.2): its rate is a metric."""
    return {
        "inside_claims": sum(one.marks.quotations for one in checked),
        "unanchored": sum(one.marks.unanchored for one in checked),
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
