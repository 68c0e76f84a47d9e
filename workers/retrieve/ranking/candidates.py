"""What ranking chooses from, and what it decides: documents with their passages and tags. Pure.

Each question makes a hundred of each: named tuples take a third of the time of frozen dataclasses.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from knowledge.scenarios import Kind


class Place(NamedTuple):
    """A passage of a candidate: its chunk, its span in the version's text, what was found there."""

    chunk_id: str
    section: str
    start: int
    end: int
    text: str
    score: float
    """Fused, 0..1."""
    lexical: float | None
    dense: float | None
    covered: float
    """The share of the question's weight that its terms hold, 0..1."""


class Candidate(NamedTuple):
    """A version that was found, with all that ranking judges it by."""

    document_id: UUID
    version_id: UUID
    n: int
    source_type: str
    title: str
    identifiers: Mapping[str, str]
    """Those in no doubt: pmid, pmcid, doi, nct_id, registry_id, …"""
    url: str | None
    """The direct page of the work (`knowledge.works.links.direct_url`), never a search page."""
    year: int | None
    publication_type: str | None
    evidence_level: str | None
    focus: frozenset[str]
    """Disease tags of its title and subject headings: what it is on."""
    diseases: frozenset[str]
    """Disease tags of all of it, the focus included."""
    decisions: frozenset[str]
    places: tuple[Place, ...]
    """Best first, at least one."""
    kind: str | None = None
    """What kind of work it is (`knowledge.works.kinds`); None: not known."""
    is_english: bool = True
    """What is not is held and searchable, and judged by nothing."""

    @property
    def counts_as(self) -> str:
        """The source type as which caps and needs count it: a guideline in a journal is one."""
        in_journal = self.source_type in ("pubmed", "europepmc")
        return "guideline" if in_journal and self.kind == "guideline" else self.source_type

    @property
    def score(self) -> float:
        """Of its best passage."""
        return self.places[0].score


class Decision(NamedTuple):
    """What ranking made of a candidate, and why."""

    candidate: Candidate
    score: float
    """After every boost and penalty; orders the list."""
    merit: float
    """Without the lift of a scenario's pack (EB-5.2): what an answer weighs its passages by."""
    relevance: int
    """0-100; below 10 is excluded (EB-5.1)."""
    kept: bool
    on_topic: bool
    """Whether disease and decision tags both meet the question's (EB-5.4)."""
    primary_study: bool
    """Whether it is a trial with results or a cohort (EB-5.6)."""
    places: tuple[Place, ...]
    """The passages that become evidence; none where it is not kept."""
    reasons: tuple[str, ...]
    """Each boost, penalty, exclusion or reservation, in words and with its amount."""
    outcome: str = ""
    """`kept`, or `dropped: ` and why."""
    anchor: Kind | None = None
    """Which kind of work of the recognized scenario's pack it is (EB-4.1); None: it is none."""
    named: bool = False
    """The question names it: a trial, a body, an identifier."""


@dataclass(frozen=True)
class Ranked:
    """All candidates decided on, the kept ones first and in order; which rules were relaxed."""

    decisions: tuple[Decision, ...]
    relaxations: tuple[str, ...]
    """Each rule of the list that could not be kept, and why; empty: all hold."""

    @property
    def kept(self) -> tuple[Decision, ...]:
        """The evidence, best first."""
        return tuple(one for one in self.decisions if one.kept)
