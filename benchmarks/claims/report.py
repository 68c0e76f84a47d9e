"""The trade-off between coverage and unsafe acceptance, as the training report shows it. Pure."""

from collections.abc import Sequence
from math import exp, fsum, lgamma, log
from typing import Any

import numpy as np

from benchmarks.claims.tables import Array

Steps = Sequence[tuple[int, float]]

# Lengths of passages, in sentences, from which on a threshold of its own is chosen. Ours: SciFact
# gives each class some 500 pairs that are not supported.
LENGTHS = (1, 2, 5)
CONFIDENCE = 0.8  # of the limit that the bound is held against, one-sided; ours
TOO_FEW = 1.01  # a threshold that nothing reaches and no policy may hold
STEPS = (0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9)


def curve(p: Array, labels: Array, vetoed: Array) -> list[dict[str, float]]:
    """At each threshold on the probability `p` of supported (label 0), vetoes applied: the share of
    supported pairs accepted, and that of all others."""
    supported = labels == 0
    rows = []
    for step in STEPS:
        accepted = (p >= step) & ~vetoed
        rows.append(
            {
                "threshold": step,
                "coverage": round(float(np.mean(accepted[supported])), 4),
                "unsafe_acceptance": round(float(np.mean(accepted[~supported])), 4),
            }
        )
    return rows


def thresholds(
    p: Array, labels: Array, vetoed: Array, lengths: Array, most: float
) -> list[tuple[int, float]]:
    """For each class of `LENGTHS` the smallest thousandth at which, vetoes applied, the upper limit
    of the share accepted of the pairs that are not supported is at most `most`; never less than
    for a shorter passage. `TOO_FEW` where the pairs are too few to tell."""
    found: list[tuple[int, float]] = []
    for start, end in zip(LENGTHS, (*LENGTHS[1:], np.inf), strict=True):
        here = (lengths >= start) & (lengths < end) & (labels != 0)
        others, total = p[here & ~vetoed], int(np.sum(here))
        step = 1010  # of thousandths; downwards, more and more pairs are accepted
        while step > 1:
            count = int(np.sum(others >= (step - 1) / 1000))
            if upper_limit(count, total, CONFIDENCE) > most:
                break
            step -= 1
        share = step / 1000 if step <= 1000 else TOO_FEW
        found.append((start, max(share, found[-1][1] if found else 0.0)))
    return found


def needed(steps: Steps, lengths: Array) -> Array:
    """The threshold for passages of these lengths."""
    starts, shares = (np.array(column) for column in zip(*steps, strict=True))
    chosen: Array = shares[np.searchsorted(starts, lengths, side="right") - 1]
    return chosen


def at(accepted: Array, labels: Array) -> dict[str, Any]:
    """Coverage and unsafe acceptance of what was accepted, and the latter's upper 95 % limit."""
    others = labels != 0
    unsafe, total = int(np.sum(accepted & others)), int(np.sum(others))
    return {
        "coverage": round(float(np.mean(accepted[~others])), 4),
        "unsafe_acceptance": round(unsafe / total, 4),
        "unsafe_acceptance_at_most": round(upper_limit(unsafe, total, 0.95), 4),
        "pairs": len(labels),
    }


def upper_limit(count: int, total: int, confidence: float) -> float:
    """The one-sided upper limit of a share of which `count` of `total` were seen.

    Clopper and Pearson, Biometrika 26 (1934): the share at which so few have the probability
    1 - `confidence`.
    """
    if count >= total:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        if _at_most(count, total, middle) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def _at_most(count: int, total: int, share: float) -> float:
    """The probability of `count` or fewer of `total`, each with probability `share`."""
    ways = lgamma(total + 1)
    return fsum(
        exp(
            ways
            - lgamma(k + 1)
            - lgamma(total - k + 1)
            + k * log(share)
            + (total - k) * log(1 - share)
        )
        for k in range(count + 1)
    )
