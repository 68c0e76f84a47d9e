"""Two ranked lists of chunks become one; documents close in meaning support each other. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from knowledge.answering.policy import retrieval_policy


class Fused(NamedTuple):
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
        # what is near to nothing asked is found all the same: it may be all there is of a work
        scaled = {key: score / top if top > 0 else 0.0 for key, score in ranked}
        floor = min(scaled.values(), default=0.0) if len(ranked) >= policy.candidates else 0.0
        sides.append((scaled, max(floor, 0.0), dict(ranked)))
    (words, word_floor, word_raw), (meaning, meaning_floor, meaning_raw) = sides
    weight = policy.lexical_weight
    return _ordered(
        Fused(
            key,
            weight * words.get(key, word_floor) + (1 - weight) * meaning.get(key, meaning_floor),
            word_raw.get(key),
            meaning_raw.get(key),
        )
        for key in words.keys() | meaning.keys()
    )


def support(
    fused: Sequence[Fused], document: Mapping[int, int], centroids: NDArray[np.float32]
) -> list[Fused]:
    """`fused` with a share of each score taken from the documents nearest to its own.

    Documents close to each other tend to be relevant to the same questions (van Rijsbergen's
    cluster hypothesis); Diaz, Regularizing ad hoc retrieval scores, CIKM 2005. A document's score
    is that of its best passage, what its neighbours lend it is their mean score, weighted by
    cosine. All passages of a document get the same: within it their order stays. (ADR 0012)

    Args:
        document: the row of each chunk's document in `centroids`, for all of `fused`.
        centroids: one vector a document, of length 1, (n, d).
    """
    policy = retrieval_policy().neighbours
    if len(centroids) < 2:
        return list(fused)
    rows = np.array([document[one.chunk_id] for one in fused])
    best = np.zeros(len(centroids))
    np.maximum.at(best, rows, [one.score for one in fused])
    # Not `@`: BLAS shares even this little among threads, and waits for those of busy cores.
    near = np.maximum(np.einsum("id,jd->ij", centroids, centroids), 0.0)
    np.fill_diagonal(near, 0.0)
    if len(near) > policy.count:
        near[near < np.partition(near, -policy.count)[:, [-policy.count]]] = 0.0
    weights = near.sum(axis=1, dtype=np.float64)  # as `near @ best` adds up: no mean above the most
    lent = np.divide(near @ best, weights, out=best.copy(), where=weights > 0)[rows]
    return _ordered(
        Fused(
            one.chunk_id,
            (1 - policy.share) * one.score + policy.share * other,
            one.lexical,
            one.dense,
        )
        for one, other in zip(fused, lent.tolist(), strict=True)
    )


def _ordered(fused: Iterable[Fused]) -> list[Fused]:
    return sorted(fused, key=lambda one: (-one.score, one.chunk_id))
