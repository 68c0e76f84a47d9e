"""What is compared when sources contradict each other, and what is said of it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from clinical_text.effects.estimates import Estimate
from knowledge.works.conflicts import Kind, RuleName
from store.core.spans import Span

Why = Literal["opposite_direction", "disjoint_intervals", "opposite_stance", "changed"]


@dataclass(frozen=True)
class Witness:
    """A version that an answer may rest on: what it says, and what its word weighs.

    `sentences` are the sentence spans of `text`, `estimates` the effects read from it; `n` numbers
    the versions of its document.
    """

    evidence_id: str
    document_id: str
    version_id: str
    title: str
    text: str
    sentences: Sequence[Span]
    estimates: Sequence[Estimate]
    source_type: str
    publisher: str | None = None
    evidence_level: str | None = None
    published_at: datetime | None = None
    published_precision: str = "day"
    status: str = "current"
    n: int = 1


@dataclass(frozen=True)
class Side:
    """One of the two: the place `[start, end)` of a version, its words, and what they amount to."""

    witness: Witness
    start: int
    end: int
    statement: str

    @property
    def quote(self) -> str:
        """The words as stored."""
        return self.witness.text[self.start : self.end]

    def as_body(self) -> dict[str, Any]:
        """The side as an answer shows it."""
        return {
            "evidence_id": self.witness.evidence_id,
            "document_id": self.witness.document_id,
            "version_id": self.witness.version_id,
            "start": self.start,
            "end": self.end,
            "quote": self.quote,
            "statement": self.statement,
        }


@dataclass(frozen=True)
class Conflict:
    """Two sides that cannot both hold.

    `subject` is what both speak of, `outcome` the outcome where it is about an effect. `rule` says
    which rule of `conflicts.yaml` decided and `stands` whose side stands; both None: unresolved.
    """

    kind: Kind
    why: Why
    subject: str
    outcome: str | None
    sides: tuple[Side, Side]
    rule: RuleName | None = None
    stands: str | None = None

    @property
    def resolved(self) -> bool:
        """Whether the policy decides between the sides."""
        return self.rule is not None

    def as_body(self) -> dict[str, Any]:
        """The conflict as an answer shows it."""
        return {
            "kind": self.kind,
            "why": self.why,
            "subject": self.subject,
            "outcome": self.outcome,
            "resolved": self.resolved,
            "rule": self.rule,
            "stands": self.stands,
            "sides": [side.as_body() for side in self.sides],
        }
