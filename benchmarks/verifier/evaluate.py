"""`python -m benchmarks.verifier.evaluate [FOLDER]`: the figures of the int8 reader.

FOLDER holds exported weights; without one those of the product are read. Prints one JSON object:
all figures of `figures.py`, and what a pair of 160 tokens costs on one thread.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np

from benchmarks.verifier import cases
from benchmarks.verifier.figures import figures
from workers.verify.entailment.reader import FACTS, WEIGHTS, PairReader, load


def milliseconds(reader: PairReader, tokens: int = 160, times: int = 50) -> dict[str, float]:
    """Median and least CPU time of one pair of so many tokens."""
    pair = ("drug " * 30, "dose " * (tokens - 33))
    spent = []
    for _ in range(times + 5):
        before = time.process_time()
        reader.judge_all([pair])
        spent.append(1000 * (time.process_time() - before))
    return {"median": round(float(np.median(spent[5:])), 2), "least": round(min(spent[5:]), 2)}


def main() -> None:
    """Prints the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--sets", nargs="*", default=["written", "scifact", "healthver", "nli4ct"])
    options = parser.parse_args()
    folder = options.folder
    reader = PairReader(folder / WEIGHTS, folder / FACTS) if folder else load()
    asked = [one for one in cases.gather(options.shared) if one.case.set in options.sets]
    readings = reader.judge_all((one.claim, one.passage) for one in asked)
    found = figures([one.case for one in asked], np.array([read.supported for read in readings]))
    cost = milliseconds(reader)
    print(json.dumps({"digest": reader.digest, "ms_160_tokens": cost, **found}, indent=1))


if __name__ == "__main__":
    main()
