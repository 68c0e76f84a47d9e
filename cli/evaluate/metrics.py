"""Ranking metrics as trec_eval defines them. Pure."""

import math
from collections.abc import Mapping, Sequence


def ndcg(ranked: Sequence[str], gains: Mapping[str, int], k: int) -> float:
    """Return the normalized discounted cumulative gain at `k`, linear gains, log2 discount."""
    gained = sum(
        gains.get(key, 0) / math.log2(rank + 1) for rank, key in enumerate(ranked[:k], start=1)
    )
    ideal = sorted(gains.values(), reverse=True)[:k]
    best = sum(gain / math.log2(rank + 1) for rank, gain in enumerate(ideal, start=1))
    return gained / best if best else 0.0


def recall(ranked: Sequence[str], gains: Mapping[str, int], k: int) -> float:
    """Return the share of the relevant documents that is among the first `k`."""
    relevant = {key for key, gain in gains.items() if gain > 0}
    return len(relevant & set(ranked[:k])) / len(relevant) if relevant else 0.0


def reciprocal_rank(ranked: Sequence[str], gains: Mapping[str, int], k: int) -> float:
    """Return one over the rank of the first relevant document among the first `k`, else 0."""
    for rank, key in enumerate(ranked[:k], start=1):
        if gains.get(key, 0) > 0:
            return 1 / rank
    return 0.0
