"""Folds that share no claim and no abstract, and the logistic model. numpy only."""

from collections.abc import Sequence

import numpy as np

from benchmarks.claims.sources import SciFactPair
from benchmarks.claims.tables import Array


def folds(pairs: Sequence[SciFactPair], count: int, seed: int) -> list[int]:
    """The fold of each pair; pairs of one claim or one abstract always share it."""
    parent: dict[str, str] = {}

    def root(key: str) -> str:
        parent.setdefault(key, key)
        while parent[key] != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    for pair in pairs:
        parent[root("claim " + pair.claim_key)] = root("abstract " + pair.abstract.key)
    members: dict[str, list[int]] = {}
    for i, pair in enumerate(pairs):
        members.setdefault(root("claim " + pair.claim_key), []).append(i)
    groups = list(members.values())
    np.random.default_rng(seed).shuffle(groups)
    groups.sort(key=len, reverse=True)
    sizes, found = [0] * count, [0] * len(pairs)
    for group in groups:
        fold = int(np.argmin(sizes))
        sizes[fold] += len(group)
        for i in group:
            found[i] = fold
    return found


class Logistic:
    """Multinomial logistic regression with a quadratic penalty, fitted by gradient descent with
    momentum on standardized measures."""

    def __init__(self, penalty: float = 0.02, steps: int = 3000, rate: float = 0.3) -> None:
        self._penalty, self._steps, self._rate = penalty, steps, rate

    def fit(self, x: Array, y: Array, weight: Array) -> "Logistic":
        """Fits to `x` (n, k), labels `y` (n,) of 0..2 and weights (n,)."""
        weight = weight / weight.sum()
        self.mean = weight @ x
        self.scale = np.sqrt(weight @ (x - self.mean) ** 2) + 1e-3
        z = (x - self.mean) / self.scale
        wanted = np.eye(3)[y]
        self.weights, self.bias = np.zeros((x.shape[1], 3)), np.zeros(3)
        speed, speed_bias = np.zeros_like(self.weights), np.zeros(3)
        for _ in range(self._steps):
            error = (_shares(z @ self.weights + self.bias) - wanted) * weight[:, None]
            speed = 0.9 * speed - self._rate * (z.T @ error + self._penalty * self.weights)
            speed_bias = 0.9 * speed_bias - self._rate * error.sum(0)
            self.weights, self.bias = self.weights + speed, self.bias + speed_bias
        return self

    def shares(self, x: Array) -> Array:
        """Probabilities (n, 3)."""
        return _shares((x - self.mean) / self.scale @ self.weights + self.bias)


def _shares(scores: Array) -> Array:
    grown = np.exp(scores - scores.max(-1, keepdims=True))
    shares: Array = grown / grown.sum(-1, keepdims=True)
    return shares


def coverage_at(p: Array, supported: Array, most: float) -> tuple[float, float]:
    """The largest share of `supported` accepted with at most `most` of the others, and the
    threshold on `p` that does so."""
    others = np.sort(p[~supported])[::-1]
    allowed = int(np.floor(most * len(others)))
    threshold = float(others[allowed]) if allowed < len(others) else 0.0
    return float((p[supported] > threshold).mean()), threshold
