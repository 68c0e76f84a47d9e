"""Whether what was found is enough to decide on (EB-4). Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from knowledge.answering.policy import retrieval_policy
from knowledge.scenarios import Entry, Scenario
from knowledge.works.anchors import entry_of
from workers.retrieve.ranking.candidates import Decision, Ranked
from workers.retrieve.ranking.designs import design, kind

Level = Literal["insufficient", "limited", "good", "excellent"]

_STRONG = {"guideline": "guideline", "systematic_review": "systematic review"}
"""Kinds of strong evidence beside primary studies (EB-5.6), in words."""
_WITHOUT_RESULTS = frozenset({"registration", "protocol"})


@dataclass(frozen=True)
class Sufficiency:
    """How far the evidence suffices."""

    score: int
    """0-100."""
    level: Level
    basis: str
    """What counted, in words for the reader."""
    anchors: int | None = None
    """Guidelines of the recognized scenario that are among the evidence; None: there is none."""

    @property
    def is_enough(self) -> bool:
        """Whether nothing needs to be looked for elsewhere (EB-4.4)."""
        return self.score >= retrieval_policy().sufficiency.levels.good

    def as_body(self) -> dict[str, Any]:
        """As it stands in the answer."""
        return {"score": self.score, "level": self.level, "basis": self.basis}


def assess(ranked: Ranked, scenario: Scenario | None) -> Sufficiency:
    """Score the kept evidence.

    In a recognized scenario its guidelines count, up to two reviews and up to three trials or
    cohorts on the same disease and decision, and nothing else (EB-4.1). Without one, the number of
    documents, how much of the question the best passage covers, and the kinds of strong evidence.

    A question that names bodies or trials asks for their works and not for the pack: what is held
    of these counts as without a scenario, where that is more.
    """
    if scenario is None:
        return _general(ranked.kept)
    anchored = _anchored(ranked.kept, scenario)
    named = [one for one in ranked.kept if one.named]
    asked_for = _general(named, "document that is named", "documents that are named")
    return max(anchored, asked_for, key=lambda one: one.score) if named else anchored


def assess_with_rerun(
    rank: Callable[[bool], Ranked], scenario: Scenario | None
) -> tuple[Ranked, Sufficiency]:
    """Rank and score; where that is not enough though works of the scenario were found, once more
    with those sources alone whose disease and decision tags match (EB-4.3). The better one counts.

    Args:
        rank: ranks all that was found; True: only sources whose tags match both.
        scenario: see `assess`.
    """
    ranked = rank(False)
    first = assess(ranked, scenario)
    if first.is_enough or scenario is None:
        return ranked, first
    if not any(entry_of(scenario, one.candidate.identifiers) for one in ranked.decisions):
        return ranked, first
    strict = rank(True)
    again = assess(strict, scenario)
    if again.score <= first.score:
        return ranked, first
    return strict, replace(again, basis=f"{again.basis}; only sources that match by tags")


def _general(
    kept: Sequence[Decision], name: str = "relevant document", plural: str | None = None
) -> Sufficiency:
    policy = retrieval_policy().sufficiency
    if not kept:
        return Sufficiency(0, "insufficient", "no relevant document is held")
    covered = max(place.covered for one in kept for place in one.places)
    kinds = sorted({name for one in kept for name in _kinds(one)})
    possible = len(_STRONG) + 1
    score = round(
        100
        * (
            policy.weights.documents * min(1.0, len(kept) / policy.enough_documents)
            + policy.weights.coverage * covered
            + policy.weights.kinds * len(kinds) / possible
        )
    )
    basis = f"{_counted(len(kept), name, plural)}; the best passage covers {covered:.0%}"
    return Sufficiency(score, _level(score), "; ".join([basis, *kinds]))


def _anchored(kept: Sequence[Decision], scenario: Scenario) -> Sufficiency:
    """A work that is held twice, as an article and in a registry, counts once."""
    guidelines, reviews, studies = set[str](), set[str](), set[str]()
    for one in kept:
        entry = entry_of(scenario, one.candidate.identifiers)
        named = _name(entry) if entry else str(one.candidate.document_id)
        if entry is not None and entry.kind == "guideline":
            guidelines.add(named)
        elif _is_review(one, entry):
            reviews.add(named)
        elif _is_study(one, entry):
            studies.add(named)
    policy = retrieval_policy().sufficiency.anchored
    score = round(
        policy.guidelines.score(len(guidelines))
        + policy.reviews.score(len(reviews))
        + policy.studies.score(len(studies))
    )
    if len(guidelines) >= policy.floor.guidelines:
        score = max(score, policy.floor.score)
    counts = ", ".join(
        (
            _counted(len(guidelines), "guideline"),
            _counted(len(reviews), "systematic review"),
            _counted(len(studies), "trial or cohort", "trials or cohorts"),
        )
    )
    return Sufficiency(score, _level(score), f"{scenario.label}: {counts}", anchors=len(guidelines))


def _name(entry: Entry) -> str:
    return entry.trial or entry.title


def _is_review(decision: Decision, entry: Entry | None) -> bool:
    if entry is not None:
        return entry.kind == "systematic_review"
    return decision.on_topic and kind(decision.candidate) == "systematic_review"


def _is_study(decision: Decision, entry: Entry | None) -> bool:
    """Whether it is a trial or cohort of the pack, or on the same disease and decision: one that
    says what was found, so no registration alone."""
    if entry is not None and design(decision.candidate) not in _WITHOUT_RESULTS:
        return True
    return decision.primary_study and (entry is not None or decision.on_topic)


def _kinds(decision: Decision) -> list[str]:
    """The kinds of strong evidence that it is."""
    strong = _STRONG.get(kind(decision.candidate) or "")
    studies = ["primary study"] if decision.primary_study else []
    return [strong, *studies] if strong else studies


def _level(score: int) -> Level:
    levels = retrieval_policy().sufficiency.levels
    if score >= levels.excellent:
        return "excellent"
    if score >= levels.good:
        return "good"
    return "limited" if score >= levels.limited else "insufficient"


def _counted(count: int, name: str, plural: str | None = None) -> str:
    return f"{count} {name if count == 1 else plural or f'{name}s'}"
