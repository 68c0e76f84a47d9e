"""A small learned reader: how much a text is like each of some classes, by its words. Pure.

A linear reader (ridge regression on which features stand in a text, rare ones counting more),
fitted by `benchmarks/likeness.py`.
"""

from collections.abc import Iterable, Mapping
from importlib.resources import as_file, files
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FEW = 16
"""Features that are known; fewer say less (ours)."""


class TextReader(NamedTuple):
    """`features` numbers n words and pairs of words; `rarity` (n), `weights` (n, classes)."""

    classes: tuple[str, ...]
    features: Mapping[str, int]
    rarity: NDArray[np.float32]
    weights: NDArray[np.float32]

    def likeness(self, told: Iterable[str]) -> dict[str, float]:
        """How much a text of these features is like each class: about 1 where it is, else 0."""
        held = [self.features[one] for one in told if one in self.features]
        if not held:
            return dict.fromkeys(self.classes, 0.0)
        rarity = self.rarity[held]
        found = rarity @ self.weights[held] / np.linalg.norm(rarity) * min(1.0, len(held) / FEW)
        return dict(zip(self.classes, map(float, found), strict=True))


def text_reader(*path: str) -> TextReader:
    """The reader that lies below `knowledge/`."""
    with as_file(files("knowledge").joinpath(*path)) as file, np.load(file) as held:
        return TextReader(
            tuple(held["types"].tobytes().decode().split("\n")),
            {one: at for at, one in enumerate(held["features"].tobytes().decode().split("\n"))},
            held["rarity"].astype(np.float32),
            held["weights"].astype(np.float32),
        )
