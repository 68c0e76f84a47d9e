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

from benchmarks.likeness import Example, fitted, write
from benchmarks.made_documents import heldout, reports, styles
from benchmarks.made_documents.writing import written
from cli.evaluate.extraction_cases import read_cases
from workers.extract.document_types import UNKNOWN, features_of, type_of
from workers.extract.rubrics import DOCUMENT_TYPES

HERE = Path(__file__).parent
TO = HERE.parent / "knowledge" / "rubrics" / "document_types.npz"
BY_HAND = ("documents/development", "documents/written", "documents/formats",
           "extraction_unseen", "extraction_unseen_2",
           "extraction_unseen_3", "extraction_unseen_4")  # fmt: skip
SYNTHETIC = {"reports": reports, "styles": styles,
             "heldout": heldout}  # fmt: skip
OF_SYNTHETIC = 0.4
"""What a synthetic document weighs; one written by hand weighs 1."""
KEPT = 4000
"""Features that are kept: those of the largest weights of a first fit."""
TYPES = tuple(one for one in DOCUMENT_TYPES if one != UNKNOWN)


class Document(NamedTuple):
    """A document of one type, with the set that it is of."""

    held_in: str
    read: Example


def examples() -> list[Document]:
    """All documents that are of one type, or of none."""
    found = [one for name in BY_HAND for one in _read(name, HERE / name, 1.0)]
    for name, module in SYNTHETIC.items():
        with tempfile.TemporaryDirectory() as folder:
            written(Path(folder), module.reports())
            found += _read(name, Path(folder), OF_SYNTHETIC)
    return found


def _read(name: str, folder: Path, weight: float) -> list[Document]:
    return [
        Document(name, Example(features_of(case.text), case.type, weight))
        for case in read_cases(folder)
        if case.type in DOCUMENT_TYPES
    ]


def figures(held: Sequence[Document]) -> None:
    """Print, of each set, how many types are right when the reader is fitted on the others."""
    for name in dict.fromkeys(one.held_in for one in held):
        reader = fitted([one.read for one in held if one.held_in != name], TYPES, KEPT)
        of_it = [one.read for one in held if one.held_in == name]
        right = sum(type_of(reader.likeness(one.features))[0] == one.kind for one in of_it)
        sys.stdout.write(f"{name}: {right} of {len(of_it)}\n")


if __name__ == "__main__":
    every = examples()
    if "--write" in sys.argv:
        write(fitted([one.read for one in every], TYPES, KEPT), TO)
    else:
        figures(every)
