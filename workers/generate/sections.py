"""The sections of an answer (MRD 2.1), and which of them takes a claim. Pure."""

from collections.abc import Mapping
from typing import Any

from knowledge.loader import load
from workers.generate.candidates import Candidate
from workers.generate.facets import bodies


def belongs(candidate: Candidate, section: Mapping[str, Any]) -> bool:
    """Whether a section of an answer takes what this candidate's source says."""
    takes = candidate.source_type in section["sources"] or (
        section.get("trial_publications", False)
        and "trial" in (candidate.publication_type or "").lower()
    )
    least = section.get("names_bodies", 0)
    return takes and (not least or len(bodies(candidate.text)) >= least)


def sections_for(query_type: str) -> list[dict[str, Any]]:
    """The sections of an answer to this type of question, in order."""
    sections = load("questions/answers")["sections"]
    chosen: list[dict[str, Any]] = sections.get(query_type, sections["general"])
    return chosen
