"""Fits the reader of document types and measures it on sets that it did not see.

    python -m benchmarks.document_types           # the figures, a set left out at a time
    python -m benchmarks.document_types --write   # knowledge/rubrics/document_types.npz

It learns from the documents of this folder whose type is marked: benchmarks/documents/development
and the four unseen sets, written by hand, and the synthetic reports, styles and former held-out
sets, which count less. All are the project's own texts. benchmarks/documents/held_back is not read.
"""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks import extraction_heldout, extraction_reports, extraction_styles
from benchmarks.extraction_made import written
from cli.evaluate.extraction_cases import read_cases
from workers.extract.document_types import UNKNOWN, TypeReader, features_of, type_of
from workers.extract.rubrics import DOCUMENT_TYPES

HERE = Path(__file__).parent
TO = HERE.parent / "knowledge" / "rubrics" / "document_types.npz"
BY_HAND = ("documents/development", "extraction_unseen", "extraction_unseen_2",
           "extraction_unseen_3", "extraction_unseen_4")  # fmt: skip
SYNTHETIC = {"reports": extraction_reports, "styles": extraction_styles,
             "heldout": extraction_heldout}  # fmt: skip
OF_SYNTHETIC = 0.4
"""What a synthetic document weighs; one written by hand weighs 1."""
KEPT = 4000
"""Features that are kept: those of the largest weights of a first fit."""
LEAST_DOCUMENTS = 3
RIDGE = 0.3
TYPES = tuple(one for one in DOCUMENT_TYPES if one != UNKNOWN)


class Example(NamedTuple):
    """A document of one type, with the set that it is of."""

    held_in: str
    features: set[str]
    type: str
    weight: float


def examples() -> list[Example]:
    """All documents that are of one type, or of none."""
    found = [one for name in BY_HAND for one in _read(name, HERE / name, 1.0)]
    for name, module in SYNTHETIC.items():
        with tempfile.TemporaryDirectory() as folder:
            written(Path(folder), module.reports())
            found += _read(name, Path(folder), OF_SYNTHETIC)
    return found


def _read(name: str, folder: Path, weight: float) -> list[Example]:
    return [
        Example(name, features_of(case.text), case.type, weight)
        for case in read_cases(folder)
        if case.type in DOCUMENT_TYPES
    ]


def fitted(held: Sequence[Example]) -> TypeReader:
    """A reader of the examples: fitted twice, the second time on the features that told most."""
    first = _fit(held, None)
    told = np.abs(first.weights).max(axis=1)
    names = list(first.features)
    return _fit(held, {names[at] for at in np.argsort(-told, kind="stable")[:KEPT]})


def _fit(held: Sequence[Example], kept: set[str] | None) -> TypeReader:
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
    rarity = np.array([np.log(len(held) / seen[word]) + 1e-6 for word in words])
    rows = np.zeros((len(held), len(words)))
    for row, one in zip(rows, held, strict=True):
        at = [features[word] for word in one.features if word in features]
        row[at] = rarity[at]
        row /= np.linalg.norm(row) or 1.0
    wanted = np.array([[float(one.type == name) for name in TYPES] for one in held])
    damped = np.diag([RIDGE / one.weight for one in held])
    weights = rows.T @ np.linalg.solve(rows @ rows.T + damped, wanted - wanted.mean(axis=0))
    narrow = (one.astype(np.float32) for one in (rarity, weights))
    return TypeReader(TYPES, features, *narrow)


def write(reader: TypeReader) -> None:
    """Write the reader in half precision."""
    np.savez_compressed(
        TO,
        types=np.frombuffer("\n".join(reader.types).encode(), np.uint8),
        features=np.frombuffer("\n".join(reader.features).encode(), np.uint8),
        rarity=reader.rarity.astype(np.float16),
        weights=reader.weights.astype(np.float16),
    )


def figures(held: Sequence[Example]) -> None:
    """Print, of each set, how many types are right when the reader is fitted on the others."""
    for name in dict.fromkeys(one.held_in for one in held):
        reader = fitted([one for one in held if one.held_in != name])
        of_it = [one for one in held if one.held_in == name]
        right = sum(type_of(reader.likeness(one.features))[0] == one.type for one in of_it)
        sys.stdout.write(f"{name}: {right} of {len(of_it)}\n")


if __name__ == "__main__":
    every = examples()
    if "--write" in sys.argv:
        write(fitted(every))
    else:
        figures(every)
