"""`python -m benchmarks.stance.pack PAIRS OUT`: what `benchmarks/verifier/train.py` needs.

`data.npz` holds the pairs, `student.npz` the packaged words and positions, `shipped.weights.0.npz`
the reader of claim and passage that ships, whose last layers are trained on, and
`sides.weights.0.npz` the same under the last layers of the reader of sides that ships.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

from benchmarks.verifier.pack import Texts, packed_cases, packed_pairs, spread, student
from benchmarks.verifier.pairs import lines
from workers.verify.entailment.reader import WEIGHTS
from workers.verify.entailment.siding import ABOVE

HELD_OUT = 7  # one question, family or text in so many is kept for temperature and thresholds
_FOLDER = Path("workers/verify/entailment")


def shipped(*above: str) -> dict[str, NDArray[Any]]:
    """The tensors that ship, under the names and in the shapes of training; `above`: files whose
    tensors stand for those of their names."""
    raw = load_file(_FOLDER / WEIGHTS)
    for name in above:
        raw |= load_file(_FOLDER / name)
    found: dict[str, NDArray[Any]] = {"types": raw.pop("types")}
    for name, array in raw.items():
        if name.endswith(".int8"):
            at = name.removesuffix(".int8")
            found[at + ".weight"] = (array.astype(np.float32) * raw[at + ".scale"]).T
        elif not name.endswith(".scale"):
            found[name] = array
    for name in [name for name in found if ".kv." in name]:
        first = found.pop(name.replace(".kv.", ".q."))
        found[name.replace(".kv.", ".qkv.")] = np.concatenate([first, found.pop(name)])
    return found


def _write(path: Path, arrays: dict[str, Any]) -> None:
    np.savez_compressed(path, **arrays)


def main() -> None:
    """Writes the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    texts = Texts()
    rows = list(lines(options.pairs))
    columns = packed_pairs(rows, texts) | packed_cases([], texts)
    columns["held"] = np.array([spread(row["group"], HELD_OUT, "stance") == 0 for row in rows])
    columns |= {"case_claim": np.zeros(0, np.int32), "case_passage": np.zeros(0, np.int32)}
    parts = {
        "data": columns | texts.tokens(),
        "student": student(),
        "shipped.weights.0": shipped(),
        "sides.weights.0": shipped(ABOVE),
    }
    for name, arrays in parts.items():
        _write(options.out / f"{name}.npz", arrays)


if __name__ == "__main__":
    main()
