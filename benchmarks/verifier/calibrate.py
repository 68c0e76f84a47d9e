"""`python -m benchmarks.verifier.calibrate DATA SEEN JOB`: a reader's temperature and thresholds.

Both come from written pairs that were held out of training (one text in ten), never from an
evaluation set. DATA is `data.npz` of `pack`, SEEN the log odds that `train.py` wrote (`JOB.npz`, or
`seen.npz` of several jobs). What is printed goes to `export --facts`.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.verifier.figures import coverage

MEASURED = ("written", "written-other")


def shares(logits: NDArray[Any], heat: float) -> NDArray[Any]:
    """Probabilities at a temperature."""
    grown = np.exp((logits - logits.max(1, keepdims=True)) / heat)
    found: NDArray[Any] = grown / grown.sum(1, keepdims=True)
    return found


def temperature(logits: NDArray[Any], label: NDArray[Any]) -> float:
    """The temperature of the least surprise, to a hundredth."""
    steps = np.arange(0.5, 4.0, 0.01)
    rows = np.arange(len(label))
    surprise = [-np.log(shares(logits, heat)[rows, label] + 1e-9).mean() for heat in steps]
    return round(float(steps[int(np.argmin(surprise))]), 2)


def facts(data: Path, seen: Path, job: str) -> dict[str, Any]:
    """What is kept beside the weights."""
    columns, held = np.load(data), np.load(seen)
    at = "" if "dev" in held.files else job + "."
    rows, logits = held[at + "dev_rows"], held[at + "dev"].astype(np.float64)
    names = columns["sources"][columns["source"][rows]]
    label = columns["label"][rows]
    here = np.isin(names, MEASURED) & (label >= 0)
    logits, label = logits[here], label[here].astype(np.int64)
    heat = temperature(logits, label)
    supported = shares(logits, heat)[:, 0]
    thresholds = {}
    for most in (0.02, 0.05):
        share, threshold = coverage(supported[label == 0], supported[label > 0], most)
        thresholds[str(most)] = {"from": round(threshold, 4), "supported": round(share, 4)}
    return {"temperature": heat, "thresholds": thresholds, "pairs": int(here.sum())}


def main() -> None:
    """Prints the facts as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("seen", type=Path)
    parser.add_argument("job")
    options = parser.parse_args()
    print(json.dumps(facts(options.data, options.seen, options.job)))


if __name__ == "__main__":
    main()
