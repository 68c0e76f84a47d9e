"""A claim on its way through the checks. Pure.

drafted → located (its quotation found, the guards asked) → checked (with a verdict).
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from contracts.draft import DraftedClaim
from store.core.hashes import text_hash
from store.core.spans import Span
from workers.verify.doubts import Doubt
from workers.verify.entailment.reader import Reading
from workers.verify.passages.marks import Marks


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
    """The verifier that ships with the product is sure, and no doubt stands."""
    MODEL = "model"
    """A language model's judgement, where the verifier is not sure of the contrary."""
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
    further: tuple[str, ...] = ()
    """Evidence keys beside the first: the quotation, or a part of it, may stand in any of them."""

    @classmethod
    def of(cls, claim: DraftedClaim) -> "Drafted":
        """From a draft as it is stored."""
        return cls(
            claim_id=claim.claim_id,
            text=claim.text,
            evidence_id=claim.evidence_id,
            quote=claim.quote,
            heading=claim.heading,
            also=tuple((one.evidence_id, one.quote) for one in claim.also),
            further=claim.further,
        )


@dataclass(frozen=True)
class Echo:
    """Where another source says the same, in words that no guard finds at odds with the claim; or,
    if `needed`, where another part of what the claim leans on stands."""

    evidence_id: str
    place: Span
    quote_verdict: str
    needed: bool = False


@dataclass(frozen=True)
class Located:
    """A drafted claim whose quotation was looked for in the version it names.

    `text` is the claim without the marks of quotations that are none (MRD 3.2). `place` is where
    its passage stands, None if nowhere; where it leans on several, the first of them, the others
    are in `also`, and `passage` has the words of all. `repeats` says that it is whole sentences of
    its passage. `findings` are the codes of the hard facts that speak against it: with one of them
    no verdict can be `supported`. `doubts` are what the judges are asked besides; `reading` is what
    the verifier that ships with the product makes of it, None where it was not asked.
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
    doubts: tuple[Doubt, ...] = ()
    reading: Reading | None = None
    details: tuple[str, ...] = ()
    """What the hard facts say, in plain words with words of both texts; never logged."""
    repaired_from: "Rewritten | None" = None
    """What the claim was before the drafter mended it."""

    @property
    def parts(self) -> tuple[tuple[str, Span], ...]:
        """By evidence key, the places of all that it leans on; none where it was not found."""
        needed = ((one.evidence_id, one.place) for one in self.also if one.needed)
        return () if self.place is None else ((self.drafted.evidence_id, self.place), *needed)

    @property
    def may_pass(self) -> bool:
        """Whether a verdict could still let it through."""
        return self.place is not None and not self.findings


@dataclass(frozen=True)
class Rewritten:
    """What a hedged or mended claim was before: only its hash, for the words did not hold."""

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
class Opinions:
    """What the judges said of a claim, for the record: no words of it (DESIGN 7.8).

    `supported` and `contradicted` are the verifier's probabilities, `digest` names its weights.
    `doubts` are the kinds that were found, `answered` those that a language model answered, and
    `standing` those that nobody settled. `replies` are its verdicts, in the order in which it was
    asked.
    """

    supported: float | None = None
    contradicted: float | None = None
    digest: str | None = None
    doubts: tuple[str, ...] = ()
    standing: tuple[str, ...] = ()
    replies: tuple[str, ...] = ()
    answered: tuple[str, ...] = ()

    def as_body(self) -> dict[str, Any]:
        """As it stands in the audit log and with the answer's inputs."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in vars(self).items()
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
    judged: Opinions | None = None
    repaired_from: Rewritten | None = None

    @property
    def passes(self) -> bool:
        """Whether the claim holds as it stands."""
        return self.verdict is Verdict.SUPPORTED

    def origin(self) -> Rewritten:
        """What is kept of this claim where another takes its place."""
        return Rewritten(text_hash(self.text), self.verdict.value, self.findings)


def checked(
    located: Located, verdict: Verdict, basis: Basis, opinions: Opinions | None = None
) -> Checked:
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
        judged=opinions,
        repaired_from=located.repaired_from,
    )
