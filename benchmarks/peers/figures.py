"""Figures out of measured times."""

import statistics
from collections.abc import Sequence


def spread(values: Sequence[float]) -> dict[str, float]:
    """The median, and what 95 of 100 are not above (nearest rank), to a tenth.

    Raises:
        ValueError: there are no values.
    """
    if not values:
        raise ValueError("nothing was measured")
    ordered = sorted(values)
    rank = -(-95 * len(ordered) // 100)
    return {"p50": round(statistics.median(ordered), 1), "p95": round(ordered[rank - 1], 1)}


def ahead(ours: float, others: Sequence[float], *, more_is_better: bool) -> float | None:
    """How many times as good as the best of the others; None without others or a figure."""
    if not others or not ours:
        return None
    best = max(others) if more_is_better else min(others)
    if not best:
        return None
    return round(ours / best if more_is_better else best / ours, 2)
