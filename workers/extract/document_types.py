"""Of which type a clinical document is, by its words and pairs of words; learned. Pure.

A linear reader (ridge regression on which words stand in a document, rare ones counting more) says
how much each type is like it. `benchmarks/document_types.py` fits it and says on what and how well.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import as_file, files
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

UNKNOWN = "unknown"
_WORD = re.compile(r"[a-z]{2,}")
LEAST = 0.08
"""Likeness below which a document is of no type (benchmarks/document_types.py)."""
FEW = 16
"""Words and pairs that are known; fewer say less of the type (ours)."""
SURE = 0.4
"""Likeness from which a type is as sure as its share of the two best says (ours)."""


class TypeReader(NamedTuple):
    """`features` numbers n words and pairs; `rarity` (n), `weights` (n, types)."""

    types: tuple[str, ...]
    features: Mapping[str, int]
    rarity: NDArray[np.float32]
    weights: NDArray[np.float32]

    def likeness(self, told: set[str]) -> dict[str, float]:
        """How much a text of these features is like each type: about 1 where it is, else 0."""
        held = [self.features[one] for one in told if one in self.features]
        if not held:
            return dict.fromkeys(self.types, 0.0)
        rarity = self.rarity[held]
        found = rarity @ self.weights[held] / np.linalg.norm(rarity) * min(1.0, len(held) / FEW)
        return dict(zip(self.types, map(float, found), strict=True))


def features_of(text: str) -> set[str]:
    """The words of a text in small letters, and the pairs of words that follow each other."""
    words = _WORD.findall(text.lower())
    return {*words, *map(" ".join, pairwise(words))}


@cache
def type_reader() -> TypeReader:
    """The reader as it was fitted."""
    place = files("knowledge") / "rubrics" / "document_types.npz"
    with as_file(place) as path, np.load(path) as held:
        return TypeReader(
            tuple(held["types"].tobytes().decode().split("\n")),
            {one: at for at, one in enumerate(held["features"].tobytes().decode().split("\n"))},
            held["rarity"].astype(np.float32),
            held["weights"].astype(np.float32),
        )


def type_of(likeness: Mapping[str, float]) -> tuple[str, float]:
    """The type that is likest, and how sure that is, 0-1: its share of the two best."""
    (best, most), (_, second) = sorted(likeness.items(), key=lambda one: -one[1])[:2]
    if most < LEAST:
        return UNKNOWN, 0.0
    return best, round(min(1.0, most / SURE) * most / (most + max(0.0, second)), 3)
