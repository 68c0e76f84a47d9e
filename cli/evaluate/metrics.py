"""Ranking metrics as trec_eval defines them. Pure."""

import math
from collections.abc import Mapping, Sequence


def ndcg(ranked: Sequence[str], gains: Mapping[str, int], k: int) -> float:
    """Normalized discounted cumulative gain at `k`, linear gains, log2 discount."""
    found = sum(
        gains.get(key, 0) / math.log2(rank + 1) for rank, key in enumerate(ranked[:k], start=1)
    )
    ideal = sorted(gains.values(), reverse=True)[:k]
    best = sum(gain / math.log2(rank + 1) for rank, gain in enumerate(ideal, start=1))
    return found / best if best else 0.0


def recall(ranked: Sequence[str], gains: Mapping[str, int], k: int) -> float:
    """The share of the relevant that is among the first `k`."""
    relevant = {key for key, gain in gains.items() if gain > 0}
    return len(relevant & set(ranked[:k])) / len(relevant) if relevant else 0.0


def reciprocal_rank(ranked: Sequence[str], gains: Mapping[str, int], k: int) -> float:
    """One over the rank of the first relevant among the first `k`, else 0."""
    for rank, key in enumerate(ranked[:k], start=1):
        if gains.get(key, 0) > 0:
            return 1 / rank
    return 0.0
