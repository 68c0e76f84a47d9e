"""What ranking chooses from: documents found, each with its passages and its tags. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True)
class Place:
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


@dataclass(frozen=True)
class Candidate:
    """A version that was found, with all that ranking judges it by."""

    document_id: UUID
    version_id: UUID
    n: int
    source_type: str
    title: str
    identifiers: Mapping[str, str]
    """Those in no doubt: pmid, pmcid, doi, nct_id, registry_id, …"""
    url: str | None
    """The direct page of the work (`knowledge.links.direct_url`), never a search page."""
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

    @property
    def score(self) -> float:
        """Of its best passage."""
        return self.places[0].score
