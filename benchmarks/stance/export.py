"""`python -m benchmarks.stance.export DATA TRAINED OUT`: what was trained, as the product reads it.

DATA is `data.npz` of `pack`, TRAINED the folder and name of a training (`OUT/NAME` of `train.py`):
its weights become int8 as `benchmarks.verifier.export` does it, and the temperature is the one of
the least surprise on what it held out.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from benchmarks.verifier.calibrate import temperature
from workers.encoder.int8_graph import quantized
from workers.verify.entailment.siding import ABOVE, FACTS

LAYERS = 6


def converted(raw: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The tensors of the trained layers."""
    found: dict[str, NDArray[Any]] = {}
    last, width = f"layer.{LAYERS - 1}.qkv.", len(raw["pooler.bias"])
    raw = dict(raw)
    for part in ("weight", "bias"):  # of the last layer the first token alone asks
        whole = raw.pop(last + part)
        at = last.removesuffix("qkv.")
        raw[f"{at}q.{part}"], raw[f"{at}kv.{part}"] = whole[:width], whole[width:]
    for name, array in raw.items():
        if array.ndim == 2:
            at = name.removesuffix(".weight")
            found[at + ".int8"], found[at + ".scale"] = quantized(array)
        else:
            found[name] = array.astype(np.float32)
    return found


def main() -> None:
    """Writes weights and facts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("trained", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    raw: dict[str, NDArray[Any]] = {}
    for path in sorted(options.trained.parent.glob(f"{options.trained.name}.weights.*.npz")):
        raw |= dict(np.load(path))
    options.out.mkdir(parents=True, exist_ok=True)
    save_file(converted(raw), options.out / ABOVE)
    columns, held = np.load(options.data), np.load(f"{options.trained}.npz")
    label = columns["label"][held["dev_rows"]].astype(np.int64)
    facts = {"temperature": temperature(held["dev"].astype(np.float64), label), "pairs": len(label)}
    (options.out / FACTS).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    print((options.out / ABOVE).stat().st_size, "bytes", facts)


if __name__ == "__main__":
    main()
