"""The learned alignment head in numpy: token states of two texts in, three logits out. Pure.

Every token of one side looks for its like on the other (soft alignment, and exact matches count
more); what was found is compared with what looked, and the comparisons are pooled. After Parikh et
al., A Decomposable Attention Model for Natural Language Inference (EMNLP 2016). Trained by
benchmarks/claims, whose torch code computes the same.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]
Ids = NDArray[np.int64]


class Tokens(NamedTuple):
    """The tokens of one text: `states` projected (n, width), `ids` (n,), `flags` (n, f)."""

    states: Matrix
    ids: Ids
    flags: Matrix

    @classmethod
    def joined(cls, parts: "list[Tokens]") -> "Tokens":
        """The tokens of several texts as of one."""
        return cls(*(np.concatenate(column) for column in zip(*parts, strict=True)))


class Head:
    """One set of trained weights; see `benchmarks.claims.head.fresh` for their names and shapes."""

    def __init__(self, weights: Mapping[str, Matrix]) -> None:
        self._w = {name: np.asarray(value, np.float32) for name, value in weights.items()}
        self._heads = len(self._w["match"])

    def project(self, states: Matrix) -> Matrix:
        """Token states in the head's own width."""
        projected: Matrix = states @ self._w["project"]
        return projected

    def logits(self, claim: Tokens, passage: Tokens) -> Matrix:
        """Logits of supported, contradicted, not_enough; both sides have a token at least."""
        same = (claim.ids[:, None] == passage.ids[None, :]).astype(np.float32)
        joined = np.concatenate(
            [
                *self._side("claim", claim, passage, same),
                *self._side("passage", passage, claim, same.T),
            ]
        )
        hidden = np.maximum(joined @ self._w["hidden"] + self._w["hidden_bias"], 0)
        out: Matrix = hidden @ self._w["out"] + self._w["out_bias"]
        return out

    def _side(self, name: str, own: Tokens, other: Tokens, same: Matrix) -> tuple[Matrix, ...]:
        w = self._w
        first, second = ("query", "key") if name == "claim" else ("key", "query")
        width = own.states.shape[1]
        q = self._split(own.states @ w[first])
        k = self._split(other.states @ w[second])
        scores = q @ k.transpose(0, 2, 1) / np.float32(np.sqrt(width / self._heads))
        found = _softmax(scores + w["match"][:, None, None] * same[None], axis=-1)
        aligned = (found @ self._split(other.states)).transpose(1, 0, 2).reshape(-1, width)
        parts = (
            own.states,
            aligned,
            np.abs(own.states - aligned),
            own.states * aligned,
            own.flags,
            same.max(axis=1, keepdims=True),
            found.mean(axis=0) @ other.flags,
            found.max(axis=(0, 2))[:, None],
        )
        compared = np.concatenate(parts, axis=1) @ w["compare_" + name] + w["bias_" + name]
        compared = np.maximum(compared, 0)
        share = _softmax(compared @ w["pool_" + name], axis=0)
        pooled = share.T @ compared
        return pooled[0], pooled[1], compared.max(axis=0)

    def _split(self, states: Matrix) -> Matrix:
        """(n, width) to (heads, n, width / heads)."""
        return states.reshape(len(states), self._heads, -1).transpose(1, 0, 2)


def _softmax(scores: Matrix, axis: int) -> Matrix:
    grown = np.exp(scores - scores.max(axis=axis, keepdims=True))
    shares: Matrix = grown / grown.sum(axis=axis, keepdims=True)
    return shares
