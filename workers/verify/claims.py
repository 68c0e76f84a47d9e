"""A claim on its way through the checks. Pure.

drafted → located (its quotation found, the guards asked) → checked (with a verdict).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from knowledge.loader import load
from store.core.hashes import text_hash
from store.core.spans import Span
from workers.verify.marks import Marks


class Verdict(StrEnum):
    """What the checks found; only the first is a pass (invariant 6)."""

    SUPPORTED = "supported"
    PARTIAL = "partial"
    UNSUPPORTED = "unsupported"
    CONFLICTING = "conflicting"
    UNCHECKED = "unchecked"


class Basis(StrEnum):
    """What a verdict rests on."""

    WORDS = "words"
    """The claim's words are the passage's own."""
    VERIFIER = "verifier"
    """The learned verifier, in answers of releases that let it decide."""
    MODEL = "model"
    """A language model's judgement that no guard contradicts."""
    NONE = "none"
    """Nothing judged it, or nothing had to: it fell before."""


@dataclass(frozen=True)
class Drafted:
    """A claim as it was proposed, with the evidence it names and the words it leans on."""

    claim_id: str
    text: str
    evidence_id: str
    quote: str
    heading: str
    also: tuple[tuple[str, str], ...] = ()
    """Evidence keys and quotations of other sources that say the same."""

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> "Drafted":
        """From a draft as it is stored."""
        also = tuple((str(one["evidence_id"]), str(one["quote"])) for one in body.get("also", ()))
        return cls(
            claim_id=str(body["claim_id"]),
            text=str(body["text"]),
            evidence_id=str(body["evidence_id"]),
            quote=str(body["quote"]),
            heading=str(body["heading"]),
            also=also,
        )


@dataclass(frozen=True)
class Echo:
    """Where another source says the same, in words that no guard finds at odds with the claim."""

    evidence_id: str
    place: Span
    quote_verdict: str


@dataclass(frozen=True)
class Located:
    """A drafted claim whose quotation was looked for in the version it names.

    `text` is the claim without the marks of quotations that are none (MRD 3.2). `place` is where
    its passage stands, None if nowhere. `repeats` says that it is whole sentences of its passage.
    `findings` are the codes of what speaks against it: with one of them no verdict can be
    `supported`. `completed_from` is what it was where its passage's words took its place.
    """

    drafted: Drafted
    text: str
    quote_verdict: str
    place: Span | None = None
    passage: str = ""
    repeats: bool = False
    findings: tuple[str, ...] = ()
    marks: Marks = field(default_factory=Marks)
    also: tuple["Echo", ...] = ()
    completed_from: "Rewritten | None" = None

    @property
    def may_pass(self) -> bool:
        """Whether a verdict could still let it through."""
        return self.place is not None and not self.findings

    @property
    def only_strays(self) -> bool:
        """Whether something speaks against the claim, and nothing but its distance from its
        sentence."""
        return bool(self.findings) and set(self.findings) <= set(load("rewriting")["completed"])


@dataclass(frozen=True)
class Rewritten:
    """What a hedged or completed claim was before: only its hash, for the words did not hold."""

    text_hash: str
    verdict: str
    findings: tuple[str, ...]

    def as_body(self) -> dict[str, Any]:
        """As it stands in the answer."""
        return {
            "text_hash": self.text_hash,
            "verdict": self.verdict,
            "findings": list(self.findings),
        }


@dataclass(frozen=True)
class Checked:
    """A claim after the checks. `place` is where its quotation stands in the version."""

    claim_id: str
    text: str
    evidence_id: str
    heading: str
    verdict: Verdict
    quote_verdict: str
    place: Span | None
    findings: tuple[str, ...] = ()
    basis: Basis = Basis.NONE
    marks: Marks = field(default_factory=Marks)
    rewritten_from: Rewritten | None = None
    also: tuple[Echo, ...] = ()
    completed_from: Rewritten | None = None

    @property
    def passes(self) -> bool:
        """Whether the claim holds as it stands."""
        return self.verdict is Verdict.SUPPORTED

    def origin(self) -> Rewritten:
        """What is kept of this claim where another takes its place."""
        return Rewritten(text_hash(self.text), self.verdict.value, self.findings)


def checked(located: Located, verdict: Verdict, basis: Basis) -> Checked:
    """The claim with its verdict.

    Raises:
        ValueError: a claim that something speaks against cannot be supported.
    """
    if verdict is Verdict.SUPPORTED and not located.may_pass:
        raise ValueError("a claim without a passage, or with a finding, is not supported")
    drafted = located.drafted
    return Checked(
        claim_id=drafted.claim_id,
        text=located.text,
        evidence_id=drafted.evidence_id,
        heading=drafted.heading,
        verdict=verdict,
        quote_verdict=located.quote_verdict,
        place=located.place,
        findings=located.findings,
        basis=basis,
        marks=located.marks,
        also=located.also,
        completed_from=located.completed_from,
    )
