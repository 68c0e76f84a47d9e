"""The trade-off between coverage and unsafe acceptance, as the training report shows it. Pure."""

import numpy as np

from benchmarks.claims.tables import Array

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


def threshold(p: Array, labels: Array, vetoed: Array, most: float) -> float:
    """The smallest hundredth at which, vetoes applied, at most the share `most` of the pairs that
    are not supported is accepted."""
    others = p[(labels != 0) & ~vetoed]
    total = int(np.sum(labels != 0))
    return next(i / 100 for i in range(1, 102) if np.sum(others >= i / 100) <= most * total)
