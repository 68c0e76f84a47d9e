"""Fits a small learned reader (`knowledge/matching/likeness.py`): ridge regression in half
precision."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from knowledge.matching.likeness import TextReader

LEAST_DOCUMENTS = 3
RIDGE = 0.3


class Example(NamedTuple):
    """The features of a text, its class (one that is not fitted: of none), and its weight."""

    features: set[str]
    kind: str
    weight: float


def fitted(held: Sequence[Example], classes: Sequence[str], kept: int) -> TextReader:
    """A reader of the examples: fitted twice, the second time on the `kept` features that told
    most."""
    first = _fit(held, classes, None)
    told = np.abs(first.weights).max(axis=1)
    names = list(first.features)
    return _fit(held, classes, {names[at] for at in np.argsort(-told, kind="stable")[:kept]})


def _fit(held: Sequence[Example], classes: Sequence[str], kept: set[str] | None) -> TextReader:
    seen: dict[str, int] = {}
    for one in held:
        for word in one.features:
            seen[word] = seen.get(word, 0) + 1
    words = sorted(
        word
        for word, count in seen.items()
        if count >= LEAST_DOCUMENTS and (kept is None or word in kept)
    )
    features = {word: at for at, word in enumerate(words)}
    rarity = np.array([np.log(len(held) / seen[word]) + 1e-6 for word in words], np.float32)
    rows = np.zeros((len(held), len(words)), np.float32)
    for row, one in zip(rows, held, strict=True):
        at = [features[word] for word in one.features if word in features]
        row[at] = rarity[at]
        row /= np.linalg.norm(row) or 1.0
    wanted = np.array([[float(one.kind == name) for name in classes] for one in held])
    damped = np.diag([RIDGE / one.weight for one in held])
    weights = rows.T @ np.linalg.solve(rows @ rows.T + damped, wanted - wanted.mean(axis=0))
    return TextReader(tuple(classes), features, rarity, weights.astype(np.float32))


def write(reader: TextReader, to: Path) -> None:
    """Write the reader in half precision."""
    np.savez_compressed(
        to,
        types=np.frombuffer("\n".join(reader.classes).encode(), np.uint8),
        features=np.frombuffer("\n".join(reader.features).encode(), np.uint8),
        rarity=reader.rarity.astype(np.float16),
        weights=reader.weights.astype(np.float16),
    )
