"""When what is held does not suffice, whether to look outside, and with which words (EB-4). Pure.

What is found there is a lead: it counts once its record was fetched from a primary source.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from knowledge.answering.policy import retrieval_policy
from knowledge.questions.cures import cure_policy, search_phrases
from knowledge.scenarios import Scenario
from workers.retrieve.ranking.candidates import Ranked
from workers.retrieve.sufficiency import Sufficiency


@dataclass(frozen=True)
class Choice:
    """Whether to look outside. `line` says so in the log: numbers, no words of a question."""

    allowed: bool
    line: str


def may_search_outside(
    found: Sufficiency,
    scenario: Scenario | None,
    recent_publications: int,
    today: date,
    *,
    key_set: bool,
    confined: bool = False,
) -> Choice:
    """Decide by EB-4.4 and 4.5; the line for enough evidence is that of EB-4.6.

    Args:
        found: after the rerun of EB-4.3.
        scenario: the recognized one.
        recent_publications: see there.
        today: what the age of a pack is counted to.
        key_set: whether a key was configured: without one nobody wants this.
        confined: whether the question is about a past day or has filters: what is fetched now
            was not held then, and may be what it leaves out.
    """
    if found.is_enough:
        return _skip(f"internal evidence sufficient (score: {found.score}/100)")
    newest = newest_year(scenario) if scenario else None
    if newest is not None and today.year - newest <= retrieval_policy().outside.pack_years:
        return _skip(f"the scenario has a pack of works up to {newest}")
    if scenario is not None and recent_publications:
        return _skip(f"recent publications found: {recent_publications}")
    if confined:
        return _skip("the question is confined to a day or by filters")
    if not key_set:
        return _skip("no key is set")
    return Choice(True, f"Asking Perplexity - internal evidence insufficient ({found.score}/100)")


def newest_year(scenario: Scenario) -> int | None:
    """The year of the newest work of a pack; None: the pack is empty."""
    return max((one.year for one in scenario.usable()), default=None)


def recent_publications(ranked: Ranked, today: date) -> int:
    """How many documents of the evidence are PubMed or PMC items of the last years (EB-4.5)."""
    policy = retrieval_policy().outside
    return sum(
        one.candidate.source_type in policy.recent_sources
        and one.candidate.year is not None
        and today.year - one.candidate.year <= policy.recent_years
        for one in ranked.kept
    )


def outside_question(recognized: Mapping[str, Sequence[str]]) -> str | None:
    """What to ask outside: a sentence of ours with the vocabulary's words for the tags, never the
    question's own (invariant 11); None where too few tags were recognized.

    Args:
        recognized: tags that the question itself names, by kind. What the vocabulary does not have
            is left out, whoever wrote it there.
    """
    cures = cure_policy()
    phrases = [names[0] for names in search_phrases(recognized)]
    if len(phrases) < cures.least_terms:
        return None
    return retrieval_policy().outside.ask.format(terms=", ".join(phrases[: cures.most_terms]))


def _skip(because: str) -> Choice:
    return Choice(False, f"Skipping Perplexity - {because}")
