"""`python -m benchmarks.verifier.export WEIGHTS OUT`: trained weights as the product reads them.

Matrices become int8, symmetric, a scale a column, of 7 bits: processors without VNNI instructions
add two products in 16 bits, and 8 would overflow there without a sound. All else stays float32.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from workers.encoder.int8_graph import quantized
from workers.verify.entailment.reader import FACTS, WEIGHTS


def converted(raw: dict[str, NDArray[Any]], largest: int = 63) -> dict[str, NDArray[Any]]:
    """The tensors that `reader_graph` wants, of what `train.py` wrote."""
    layers = sum(name.endswith(".qkv.weight") for name in raw)
    found: dict[str, NDArray[Any]] = {"types": raw["types.weight"].astype(np.float32)}
    last = f"layer.{layers - 1}."
    width = len(raw["norm.weight"])
    raw = dict(raw)
    for part in ("weight", "bias"):  # of the last layer the question is asked for one token only
        whole = raw.pop(f"{last}qkv.{part}")
        raw[f"{last}q.{part}"], raw[f"{last}kv.{part}"] = whole[:width], whole[width:]
    for name, array in raw.items():
        if name == "types.weight":
            continue
        if array.ndim == 2:
            at = name.removesuffix(".weight")
            found[at + ".int8"], found[at + ".scale"] = quantized(array, largest)
        else:
            found[name] = array.astype(np.float32)
    return found


def main() -> None:
    """Writes weights and facts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "weights", type=Path, nargs="+", help="what `train.py` wrote, may be in parts"
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--bits", type=int, default=7)
    parser.add_argument("--facts", type=json.loads, default={"temperature": 1.0})
    options = parser.parse_args()
    raw: dict[str, NDArray[Any]] = {}
    for path in options.weights:
        raw |= dict(np.load(path))
    found = converted(raw, 2 ** (options.bits - 1) - 1)
    options.out.mkdir(parents=True, exist_ok=True)
    save_file(found, options.out / WEIGHTS)
    facts = json.dumps(options.facts, indent=1) + "\n"
    (options.out / FACTS).write_text(facts, encoding="utf-8")
    print((options.out / WEIGHTS).stat().st_size, "bytes")


if __name__ == "__main__":
    main()
