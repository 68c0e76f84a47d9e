"""From two ranked lists of chunks to the passages that an answer may rest on. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from knowledge.policy import retrieval_policy


@dataclass(frozen=True)
class Fused:
    """A chunk with its fused score (0..1) and what each side said of it, if anything."""

    chunk_id: int
    score: float
    lexical: float | None
    dense: float | None


def fuse(lexical: Sequence[tuple[int, float]], dense: Sequence[tuple[int, float]]) -> list[Fused]:
    """Linear fusion of two lists (best first): score over maximum, a missing score is that list's
    last, zero where the list is shorter than it could be (LEXICAL.md, "Fusion")."""
    policy = retrieval_policy()
    sides = []
    for ranked in (lexical, dense):
        top = max((score for _, score in ranked), default=0.0)
        scaled = {key: score / top for key, score in ranked} if top > 0 else {}
        floor = min(scaled.values(), default=0.0) if len(ranked) >= policy.candidates else 0.0
        sides.append((scaled, max(floor, 0.0), dict(ranked)))
    (words, word_floor, word_raw), (meaning, meaning_floor, meaning_raw) = sides
    weight = policy.lexical_weight
    fused = [
        Fused(
            key,
            weight * words.get(key, word_floor) + (1 - weight) * meaning.get(key, meaning_floor),
            word_raw.get(key),
            meaning_raw.get(key),
        )
        for key in words.keys() | meaning.keys()
    ]
    return sorted(fused, key=lambda one: (-one.score, one.chunk_id))


def coverage(weighted: Mapping[int, float], found: Iterable[int]) -> float:
    """The share of the question's weight that a passage's terms hold, 0..1."""
    total = sum(weighted.values())
    if total <= 0:
        return 0.0
    return sum(weighted[term] for term in set(found) & weighted.keys()) / total


def is_relevant(covered: float, similarity: float | None) -> bool:
    """Whether a passage speaks to the question at all."""
    policy = retrieval_policy().relevance
    if covered >= policy.coverage_alone:
        return True
    return covered >= policy.coverage_with_similarity and (similarity or 0.0) >= policy.similarity


def sufficiency(covered: Sequence[float]) -> dict[str, object]:
    """Score 0-100 from how many relevant documents there are and how much the best covers."""
    policy = retrieval_policy().sufficiency
    if not covered:
        return {"score": 0, "level": "insufficient", "basis": "no relevant document is held"}
    breadth = min(1.0, len(covered) / policy.enough_documents)
    score = round(100 * (0.5 * breadth + 0.5 * max(covered)))
    levels = policy.levels
    level = (
        "excellent" if score >= levels.excellent else "good" if score >= levels.good else "limited"
    )
    basis = f"{len(covered)} relevant documents; the best passage covers {max(covered):.0%}"
    return {"score": score, "level": level, "basis": basis}
