"""Packs the encoder's vectors of single words: `python -m benchmarks.word_vectors`.

Words of the encoder's own vocabulary, the commonest first, and those of the marked documents and
notes of this folder, each encoded alone; the `WIDTH` directions in which they differ most, as
bytes. `benchmarks/documents/held_back` and `strangers` are not read.
"""

import json
import re
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

from workers.encoder.minilm import MiniLM, model_folder

HERE = Path(__file__).parent
TO = HERE.parent / "knowledge" / "rubrics" / "word_vectors.npz"
SOURCES = ("documents/development", "documents/written", "extraction_unseen", "extraction_unseen_2",
           "extraction_unseen_3", "extraction_unseen_4", "note_reader")  # fmt: skip
LISTS = ("headings.txt", "cells.txt")
"""Of which each word counts, though it stands there alone."""
COMMON = 9_000
WIDTH = 40
_WORD = re.compile(r"[^\W\d_]+")
_WHOLE = re.compile(r"[a-z]{2,}")


def words() -> list[str]:
    """The words, in order of the alphabet."""
    told = json.loads((model_folder() / "tokenizer.json").read_text())["model"]["vocab"]
    common = [one for one in sorted(told, key=told.get) if _WHOLE.fullmatch(one)][:COMMON]
    texts = [path.read_text() for name in SOURCES for path in sorted((HERE / name).glob("*.txt"))]
    texts.append((HERE.parent / "knowledge" / "rubrics" / "fields.yaml").read_text())
    seen = Counter(word for text in texts for word in set(_WORD.findall(text.casefold())))
    listed = {
        word
        for name in LISTS
        for word in _WORD.findall((HERE / "documents" / "written" / name).read_text().casefold())
    }
    return sorted({*common, *listed, *(word for word, count in seen.items() if count > 1)})


def main() -> None:
    """Encode and write them."""
    every = words()
    with tempfile.TemporaryDirectory() as folder:
        matrix = np.asarray(MiniLM(Path(folder), 1).encode(every), np.float32)
    matrix -= matrix.mean(axis=0)
    values, directions = np.linalg.eigh(matrix.T @ matrix)
    kept = matrix @ directions[:, np.argsort(-values)[:WIDTH]]
    kept = kept / np.abs(kept).max(axis=0)
    np.savez_compressed(
        TO,
        words=np.frombuffer("\n".join(every).encode(), np.uint8),
        vectors=np.rint(kept * 127).astype(np.int8),
    )
    print(f"{len(every)} words, {TO.stat().st_size} bytes")


if __name__ == "__main__":
    main()
