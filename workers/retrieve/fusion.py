"""Two ranked lists of chunks become one. Pure."""

from collections.abc import Sequence
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
