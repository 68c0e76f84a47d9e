"""What is measured of a question that ended: one set of rules for the service and `evaluate`. Pure.

MRD 4.2 names the fields, "Success Metrics" the rules. Names, counts and flags only: no word of a
question, claim or document is in a measurement (invariant 11).
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from knowledge.loader import load
from knowledge.policy import retrieval_policy

TRIALS = "clinical_trials"
"""The type of question that the plan's shares of NCCN and of trials are about."""
ANCHORED = ("verbatim", "normalized")
"""Verdicts on a quotation that stands in its source."""


@dataclass(frozen=True)
class Claims:
    """All drafted claims by what the gate made of them; what was withheld is counted too."""

    verified: int
    partial: int
    unverified: int
    conflicting: int

    @property
    def drafted(self) -> int:
        """How many there were."""
        return self.verified + self.partial + self.unverified + self.conflicting


@dataclass(frozen=True)
class Measured:
    """One answer. `routing_compliant` is None where nothing is shown that could lead."""

    query_type: str
    source_types: Mapping[str, int]
    first_section: str | None
    routing_compliant: bool | None
    claims: Claims
    citations: int
    quotations: int
    unanchored: int

    @property
    def sources(self) -> int:
        """How many documents were retrieved as evidence."""
        return sum(self.source_types.values())

    @property
    def nccn(self) -> int:
        """Guidelines of NCCN among them."""
        return self.count({"nccn"})

    @property
    def trials(self) -> int:
        """Registry records among them."""
        return self.count({"clinicaltrials"})

    @property
    def trial_sources(self) -> int:
        """What counts as a source on trials (MRD 1.3): registry records and publications."""
        return self.count(retrieval_policy().needs[TRIALS].of)

    @property
    def guidelines(self) -> int:
        """Guidelines of any body among them."""
        return self.count(retrieval_policy().caps["guideline"].of)

    def count(self, kinds: frozenset[str] | set[str]) -> int:
        """How many of these kinds of source were retrieved."""
        return sum(self.source_types.get(kind, 0) for kind in kinds)

    def share(self, count: int) -> float:
        """Of all that was retrieved; 0 where nothing was."""
        return count / max(1, self.sources)

    @property
    def over_caps(self) -> tuple[str, ...]:
        """The caps on kinds of source (MRD 1.2) that were exceeded."""
        return tuple(
            name
            for name, cap in retrieval_policy().caps.items()
            if self.query_type not in cap.not_for and self.count(cap.of) > cap.most
        )


def measure(retrieval: Mapping[str, Any], answer: Mapping[str, Any]) -> Measured:
    """Measure an answer with the retrieval it rests on.

    Args:
        retrieval: the stored body; `query_type` and `evidence` are read.
        answer: the stored body; `sections`, `claims`, `quotations` and `verification_summary` are.
    """
    query_type = retrieval["query_type"]
    shown = [section["heading"] for section in answer["sections"]]
    places = [place for claim in answer["claims"] for place in claim["citations"]]
    inside = answer["quotations"]
    lost = sum(place["quote_verdict"] not in ANCHORED for place in places)
    counts = answer["verification_summary"]
    return Measured(
        query_type=query_type,
        source_types=dict(
            sorted(Counter(entry["source_type"] for entry in retrieval["evidence"]).items())
        ),
        first_section=shown[0] if shown else None,
        routing_compliant=leads(query_type, shown[0]) if shown else None,
        claims=Claims(
            *(counts[f"{name}_count"] for name in ("verified", "partial")),
            *(counts[f"{name}_count"] for name in ("unverified", "conflicting")),
        ),
        citations=len(places),
        quotations=len(places) + inside["inside_claims"],
        unanchored=lost + inside["unanchored"],
    )


def leads(query_type: str, first: str) -> bool:
    """Whether an answer to this type of question may begin with the section `first`.

    The types with sections of their own have one that must lead (MRD 2.1); for the others, such as
    general questions and comparisons, none must.
    """
    leading = leading_section(query_type)
    return leading is None or first == leading


def leading_section(query_type: str) -> str | None:
    """The heading that answers to this type of question begin with; None: any may."""
    sections = load("answers")["sections"]
    if query_type == "general" or query_type not in sections:
        return None
    heading: str = sections[query_type][0]["heading"]
    return heading
