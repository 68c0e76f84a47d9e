"""What kind of work a candidate is: its design, and whether it is a primary study. Pure."""

import re
from functools import cache, lru_cache

from knowledge.answering.policy import retrieval_policy
from knowledge.scenarios import Kind
from knowledge.works.publication_types import most_telling
from workers.retrieve.ranking.candidates import Candidate

_OF_KIND = {
    "guideline": "guideline",
    "systematic_review": "synthesis",
    "randomized_trial": "randomized",
    "trial": "trial",
    "cohort": "cohort",
    "protocol": "protocol",
}
"""The design of a kind that is read of a work."""
_OF_TRIALS = {"randomized", "trial", "registration", "protocol"}


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (one.design, re.compile(one.pattern, re.IGNORECASE))
        for one in retrieval_policy().designs.order
    )


@cache
def _registered_results() -> re.Pattern[str]:
    return re.compile(retrieval_policy().designs.registered_results, re.IGNORECASE)


def design(candidate: Candidate) -> str | None:
    """Its design, by what `publication_types.yaml` says of its publication type, else by the words
    of that type, else by those of its level of evidence, else by its source, else by its kind
    (`knowledge.works.kinds`); None: not told."""
    told = _told(candidate.publication_type, candidate.evidence_level, candidate.source_type)
    return told or _OF_KIND.get(candidate.kind or "")


@lru_cache(maxsize=4096)  # every rule of the ranking asks, and of many works the same
def _told(publication_type: str | None, evidence_level: str | None, source_type: str) -> str | None:
    known = most_telling([publication_type] if publication_type else [])
    words = (known.level or known.name) if known else evidence_level or ""
    told = next((name for name, pattern in _patterns() if pattern.search(words)), None)
    return told or retrieval_policy().designs.sources.get(source_type)


def is_primary_study(candidate: Candidate) -> bool:
    """Whether it is a trial or a cohort with results (EB-5.6), or a registration that has some."""
    found = design(candidate)
    if found == "registration":
        return _registered_results().search(candidate.evidence_level or "") is not None
    return found in retrieval_policy().designs.primary


def kind(candidate: Candidate) -> Kind | None:
    """As which kind of a pack's works it would count."""
    found = design(candidate)
    if found == "guideline":
        return "guideline"
    if found == "synthesis":
        return "systematic_review"
    if found == "cohort":
        return "cohort"
    return "pivotal_trial" if found in _OF_TRIALS else None
