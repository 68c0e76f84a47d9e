"""The ranking of what was found: which documents become evidence, in which order and why. Pure.

`assessment` says what each candidate is worth, `composition` which of them make the list.
"""

from collections.abc import Sequence
from typing import Any

from knowledge.answering.policy import retrieval_policy
from knowledge.scenarios import Scenario
from knowledge.works.conflicts import conflict_policy
from workers.retrieve.ranking.assessment import Assessed, assess, lift_anchors, only_works_named
from workers.retrieve.ranking.candidates import Candidate, Decision, Place, Ranked
from workers.retrieve.ranking.composition import compose
from workers.retrieve.ranking.diversity import KEPT
from workers.retrieve.understanding.model import Understanding


def rank(
    candidates: Sequence[Candidate],
    understanding: Understanding,
    scenario: Scenario | None,
    *,
    most: int,
    strict_tags: bool = False,
) -> Ranked:
    """Decide on every candidate (EB-5).

    The order is by score, highest first, then by document id; it does not depend on the order in
    which the candidates come.

    Args:
        candidates: each document once.
        scenario: the recognized one; its pack's works are boosted (EB-5.2).
        most: how many are kept at most; never more than ten (EB-5.7).
        strict_tags: keep only those whose disease and decision tags match (EB-4.3).
    """
    judged = [assess(one, understanding, scenario) for one in candidates]
    assessed = sorted(
        lift_anchors(only_works_named(judged, understanding.names), understanding),
        key=lambda one: (-one.score, one.candidate.document_id.int),
    )
    eligible, outcomes = [], {}
    for one in assessed:
        if one.excluded is not None:
            outcomes[one.candidate.version_id] = f"dropped: {one.excluded}"
        elif strict_tags and not one.topic.on_topic:
            outcomes[one.candidate.version_id] = "dropped: its tags do not both match (EB-4.3)"
        else:
            eligible.append(one)
    most = min(most, retrieval_policy().ranking.references.most)
    composed = compose(eligible, understanding.query_type, most=most)
    moves = {}
    for one, outcome, move in zip(eligible, composed.outcomes, composed.moves, strict=True):
        outcomes[one.candidate.version_id] = outcome
        moves[one.candidate.version_id] = move
    decisions = [
        _decision(one, outcomes[one.candidate.version_id], moves.get(one.candidate.version_id))
        for one in assessed
    ]
    decisions.sort(key=lambda one: not one.kept)
    return Ranked(tuple(decisions), composed.relaxations)


def _decision(one: Assessed, outcome: str, move: str | None) -> Decision:
    kept = outcome == KEPT
    return Decision(
        candidate=one.candidate,
        score=one.score,
        merit=one.merit,
        relevance=one.relevance,
        kept=kept,
        on_topic=one.topic.on_topic,
        primary_study=one.primary_study,
        places=one.places[: _most_passages(one.candidate)] if kept else (),
        reasons=(*one.reasons, *filter(None, [move])),
        outcome=outcome,
        anchor=one.anchor,
        named=one.named,
    )


def _most_passages(candidate: Candidate) -> int:
    policy = retrieval_policy()
    is_label = candidate.source_type in conflict_policy().label_sources
    return policy.chunks_per_label if is_label else policy.chunks_per_document


def explain(decision: Decision) -> dict[str, Any]:
    """Why a candidate was kept, moved or dropped, for the stored result. No words of the text."""
    candidate = decision.candidate
    return {
        "document_id": str(candidate.document_id),
        "version_id": str(candidate.version_id),
        "source_type": candidate.source_type,
        "decision": decision.outcome,
        "score": round(decision.score, 4),
        "relevance": decision.relevance,
        "on_topic": decision.on_topic,
        "primary_study": decision.primary_study,
        "anchor": decision.anchor,
        "reasons": list(decision.reasons),
        "passages": [_explain_place(place) for place in decision.places or candidate.places[:1]],
    }


def _explain_place(place: Place) -> dict[str, Any]:
    return {
        "chunk_id": place.chunk_id,
        "score": round(place.score, 4),
        "lexical": None if place.lexical is None else round(place.lexical, 4),
        "dense": None if place.dense is None else round(place.dense, 4),
        "coverage": round(place.covered, 4),
    }
