"""The measurements of a completed question, by one set of rules for the service and `evaluate`.

Pure. MRD 4.2 names the fields, "Success Metrics" the rules. Names, counts and flags only: no word
of a question, claim or document is in a measurement (invariant 11).
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from contracts import Answer, Retrieval
from contracts.answer import Quotations
from knowledge.answering.policy import retrieval_policy
from knowledge.loader import load

TRIALS = "clinical_trials"
"""The type of question to which the plan's shares of NCCN and of trials apply."""
ANCHORED = ("verbatim", "normalized")
"""Verdicts on a quotation that is in its source."""


@dataclass(frozen=True)
class Claims:
    """All drafted claims by the gate's verdict, including those withheld."""

    verified: int
    partial: int
    unverified: int
    conflicting: int

    @property
    def drafted(self) -> int:
        """How many claims were drafted."""
        return self.verified + self.partial + self.unverified + self.conflicting


@dataclass(frozen=True)
class Measured:
    """The measurements of one answer. `routing_compliant` is None if it shows no section."""

    query_type: str
    source_types: Mapping[str, int]
    first_section: str | None
    routing_compliant: bool | None
    claims: Claims
    citations: int
    quotations: int
    unanchored: int
    relaxations: tuple[str, ...] = ()
    """The rules of the list of sources that gave way, as the retrieval names them."""

    @property
    def sources(self) -> int:
        """How many documents were retrieved as evidence."""
        return sum(self.source_types.values())

    @property
    def nccn(self) -> int:
        """How many of the sources are NCCN guidelines."""
        return self.count({"nccn"})

    @property
    def trials(self) -> int:
        """How many of the sources are registry records."""
        return self.count({"clinicaltrials"})

    @property
    def trial_sources(self) -> int:
        """How many count as sources on trials (MRD 1.3): registry records and publications."""
        return self.count(retrieval_policy().needs[TRIALS].of)

    @property
    def guidelines(self) -> int:
        """How many of the sources are guidelines of any body."""
        return self.count(retrieval_policy().caps["guideline"].of)

    def count(self, kinds: frozenset[str] | set[str]) -> int:
        """How many sources of these kinds were retrieved."""
        return sum(self.source_types.get(kind, 0) for kind in kinds)

    def share(self, count: int) -> float:
        """`count` as a share of all retrieved sources; 0 if there are none."""
        return count / max(1, self.sources)

    @property
    def over_caps(self) -> tuple[str, ...]:
        """The names of the exceeded caps on kinds of source (MRD 1.2), but for those that gave way
        because no other kind of source wanted the places."""
        return tuple(
            name
            for name, cap in retrieval_policy().caps.items()
            if self.query_type not in cap.not_for
            and self.count(cap.of) > cap.most
            and (cap.hard or not any(one.startswith(f"cap on {name}:") for one in self.relaxations))
        )


def measure(retrieval: Retrieval, answer: Answer) -> Measured:
    """Measure an answer together with its retrieval."""
    query_type = retrieval.query_type
    shown = [section.heading for section in answer.sections]
    places = [place for claim in answer.claims for place in claim.citations]
    inside = answer.quotations or Quotations(inside_claims=0, unanchored=0)
    lost = sum(place.quote_verdict not in ANCHORED for place in places)
    counts = answer.verification_summary
    return Measured(
        query_type=query_type,
        source_types=dict(
            sorted(Counter(entry.source_type for entry in retrieval.evidence).items())
        ),
        first_section=shown[0] if shown else None,
        routing_compliant=leads(query_type, shown[0]) if shown else None,
        claims=Claims(
            counts.verified_count,
            counts.partial_count,
            counts.unverified_count,
            counts.conflicting_count,
        ),
        citations=len(places),
        quotations=len(places) + inside.inside_claims,
        unanchored=lost + inside.unanchored,
        relaxations=retrieval.relaxations,
    )


def leads(query_type: str, first: str) -> bool:
    """Whether an answer to this type of question may begin with the section `first`.

    Types with their own sections have one that must come first (MRD 2.1); for the others, such as
    general questions and comparisons, any may.
    """
    leading = leading_section(query_type)
    return leading is None or first == leading


def leading_section(query_type: str) -> str | None:
    """The heading that must come first for this type of question; None if any may."""
    sections = load("questions/answers")["sections"]
    if query_type == "general" or query_type not in sections:
        return None
    heading: str = sections[query_type][0]["heading"]
    return heading
