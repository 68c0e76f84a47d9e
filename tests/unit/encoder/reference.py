"""The forward pass written out from the papers, in double precision, one sequence at a time.

Devlin et al., BERT (2019): embeddings are the sum of word, position and segment; the encoder is
Vaswani et al., Attention Is All You Need (2017), section 3, with GELU (Hendrycks & Gimpel 2016).
"""

import json
from math import erf, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file

Array = np.ndarray[Any, np.dtype[np.float64]]

_distribution = np.vectorize(lambda x: 0.5 * (1.0 + erf(x / sqrt(2.0))), otypes=[np.float64])


class ReferenceBert:
    def __init__(self, folder: Path) -> None:
        checkpoint = load_file(folder / "model.safetensors")
        self.weights = {name: array.astype(np.float64) for name, array in checkpoint.items()}
        self.config = json.loads((folder / "config.json").read_text())

    def vector(self, ids: list[int]) -> Array:
        """Mean of the last layer over all tokens, length 1."""
        w = self.weights
        x = w["embeddings.word_embeddings.weight"][ids]
        x = x + w["embeddings.position_embeddings.weight"][np.arange(len(ids))]
        x = x + w["embeddings.token_type_embeddings.weight"][0]
        x = self._norm(x, "embeddings.LayerNorm")
        for number in range(self.config["num_hidden_layers"]):
            x = self._layer(x, f"encoder.layer.{number}.")
        mean = x.mean(axis=0)
        return np.asarray(mean / np.sqrt((mean**2).sum()))

    def _layer(self, x: Array, at: str) -> Array:
        q, k, v = (self._linear(x, f"{at}attention.self.{of}") for of in ("query", "key", "value"))
        size = q.shape[1] // self.config["num_attention_heads"]
        heads = []
        for begin in range(0, q.shape[1], size):
            own = slice(begin, begin + size)
            shares = np.exp(q[:, own] @ k[:, own].T / sqrt(size))
            heads.append(shares / shares.sum(axis=1, keepdims=True) @ v[:, own])
        attended = self._linear(np.concatenate(heads, axis=1), at + "attention.output.dense")
        x = self._norm(x + attended, at + "attention.output.LayerNorm")
        inner = self._linear(x, at + "intermediate.dense")
        outer = self._linear(inner * _distribution(inner), at + "output.dense")
        return self._norm(x + outer, at + "output.LayerNorm")

    def _linear(self, x: Array, name: str) -> Array:
        return np.asarray(x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"])

    def _norm(self, x: Array, name: str) -> Array:
        spread = np.sqrt(x.var(axis=1, keepdims=True) + self.config["layer_norm_eps"])
        scaled = (x - x.mean(axis=1, keepdims=True)) / spread
        return np.asarray(scaled * self.weights[name + ".weight"] + self.weights[name + ".bias"])
