"""The truth gate: no claim passes without a passing verdict (invariant 6). Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from knowledge.loader import load
from store.spans import Span
from workers.reading.boundaries import widen
from workers.reading.quotes import QuoteCheck, Source, check
from workers.verify.guards.numbers import guard


@dataclass(frozen=True)
class Checked:
    """A drafted claim after the checks. `place` is where its quotation stands in the version."""

    claim_id: str
    text: str
    evidence_id: str
    heading: str
    verdict: str
    quote_verdict: str
    place: Span | None
    findings: tuple[str, ...]

    @property
    def passes(self) -> bool:
        """Whether the claim may be shown."""
        return self.verdict == "supported"


def check_claim(
    claim: Mapping[str, Any],
    sources: Mapping[str, Source],
    sentences: Mapping[str, Sequence[Span]],
) -> Checked:
    """Check one drafted claim against the version it names.

    Args:
        sources: the stored texts by evidence id.
        sentences: their sentences, to widen a quotation that cuts something off.
    """
    evidence_id = claim["evidence_id"]
    cited = sources.get(evidence_id)
    if cited is None:
        return _checked(claim, "unsupported", "unchecked", None, ("unknown_evidence",))
    others = {key: source for key, source in sources.items() if key != evidence_id}
    found = check(claim["quote"], cited, others)
    if not found.accepted or found.start is None or found.end is None:
        return _checked(claim, "unsupported", found.verdict.value, None, ("quotation",))
    place = _whole(cited.text, found, sentences[evidence_id])
    findings = tuple(finding.code for finding in guard(claim["text"], place.of(cited.text)))
    verdict = "unsupported" if findings else _says(claim["text"], place.of(cited.text))
    return _checked(claim, verdict, found.verdict.value, place, findings)


def withhold(claim: Mapping[str, Any], finding: str) -> Checked:
    """A drafted claim that is not shown whatever it says, with the reason."""
    return _checked(claim, "unsupported", "unchecked", None, (finding,))


def _whole(text: str, found: QuoteCheck, sentences: Sequence[Span]) -> Span:
    """The quotation's place, widened to whole sentences where its edge changes the meaning."""
    assert found.start is not None
    assert found.end is not None
    if not found.cuts:
        return Span(found.start, found.end)
    return widen(text, found.start, found.end, sentences)


def _says(claim: str, passage: str) -> str:
    """Whether the passage says what the claim says.

    Until claims are judged by more than their words, a claim is supported only if its words are in
    its own passage; anything reworded is unchecked, and unchecked is not a pass.
    """
    return "supported" if check(claim, Source(passage)).accepted else "unchecked"


def _checked(
    claim: Mapping[str, Any],
    verdict: str,
    quote_verdict: str,
    place: Span | None,
    findings: tuple[str, ...],
) -> Checked:
    return Checked(
        claim_id=claim["claim_id"],
        text=claim["text"],
        evidence_id=claim["evidence_id"],
        heading=claim["heading"],
        verdict=verdict,
        quote_verdict=quote_verdict,
        place=place,
        findings=findings,
    )


@dataclass(frozen=True)
class Abstention:
    """Why the question is not answered, and what would cure it (invariant 9)."""

    reason: str
    detail: str
    cure: dict[str, Any]


def abstention(
    reason: str, sources: Sequence[str] = (), *, worded: str | None = None
) -> Abstention:
    """The abstention for `reason`, in the words of `knowledge/trust.yaml` for it or `worded`."""
    trust, words = load("trust"), worded or reason
    detail = f"{trust['insufficient']} {trust['details'][words]}"
    return Abstention(reason, detail, {**trust["cures"][words], "sources": list(sources)})


@dataclass(frozen=True)
class Standing:
    """What the gate must know of one passing claim's source."""

    source_type: str
    tier: str
    stale: bool


def judge(
    *,
    evidence_found: int,
    passing: Sequence[Standing],
    asks_for_today: bool,
    filtered: bool = False,
) -> Abstention | None:
    """Whether the answer must abstain (SP-6.3), and why."""
    if evidence_found == 0:
        return abstention("no_evidence", worded="filtered" if filtered else None)
    if not passing:
        return abstention("unsupported")
    if all(one.tier in load("trust")["low_trust_tiers"] for one in passing):
        return abstention("low_trust_only")
    if asks_for_today and all(one.stale for one in passing):
        return abstention("stale", sorted({one.source_type for one in passing}))
    return None
