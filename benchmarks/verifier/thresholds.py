"""`python -m benchmarks.verifier.thresholds PAIRS`: from when on the verifier is sure.

Read are the written pairs of texts that were held out of training (one in ten; PAIRS is the file of
`benchmarks.verifier.pairs`), by the product's weights. Printed, for
`knowledge/answering/judging.yaml`:

- `supported`: the decision without a model (no hard fact, no doubt, no copy with a change, a score
  from here on) accepts at most 1.5 % of the pairs that are not borne out;
- `contradicted`: at most 1 % of the pairs that are borne out are above;
- `disagrees`: 15 % of the pairs that are borne out are below;

and what the decision without a model then does on both, with and without facts and doubts.
"""

import argparse
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.verifier.pack import HELD_OUT, spread
from workers.verify.doubts import doubts
from workers.verify.entailment.reader import load
from workers.verify.guards.grounds import Grounds
from workers.verify.hard_facts import hard_facts
from workers.verify.passages.comparable import is_own_wording

MEASURED = ("written", "written-other", "written-wider")
ACCEPTED, DENIED, DOUBTED = 0.015, 0.01, 0.15


def held(path: Path) -> Iterator[dict[str, Any]]:
    """The written pairs that no training saw."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if row["source"] in MEASURED and row["label"] and spread(row["group"], HELD_OUT) == 0:
                yield row


def main() -> None:
    """Prints the thresholds and what they do."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", type=Path)
    options = parser.parse_args()
    rows = list(held(options.pairs))
    readings = load().judge_all((row["claim"], row["passage"]) for row in rows)
    true = np.array([row["label"] == "supported" for row in rows])
    supported = np.array([one.supported for one in readings])
    contradicted = np.array([one.contradicted for one in readings])
    clear = np.array([not _objected(row) for row in rows])
    wrong = np.sort(np.where(clear, supported, 0.0)[~true])[::-1]
    sure = float(wrong[math.floor(ACCEPTED * len(wrong))])
    alone = float(np.sort(supported[~true])[::-1][math.floor(ACCEPTED * len(wrong))])
    denies = float(np.quantile(contradicted[true], 1 - DENIED))
    disagrees = float(np.quantile(supported[true], DOUBTED))
    found = {
        "supported": round(sure, 3),
        "contradicted": round(denies, 3),
        "disagrees": round(disagrees, 3),
        "pairs": len(rows),
        "true_accepted": round(float((clear & (supported > sure))[true].mean()), 4),
        "false_accepted": round(float((clear & (supported > sure))[~true].mean()), 4),
        "true_accepted_without_doubts": round(float((supported > alone)[true].mean()), 4),
        "false_denied": round(float((contradicted > denies)[~true].mean()), 4),
        "false_doubted": round(float((supported < disagrees)[~true].mean()), 4),
    }
    print(json.dumps(found, indent=1))


def _objected(row: dict[str, Any]) -> bool:
    """Whether a hard fact or a doubt speaks up, or a claim is too short or almost its passage,
    which stands for its document."""
    claim, grounds = row["claim"], Grounds(row["passage"], "", row["passage"])
    return bool(
        hard_facts(claim, grounds)
        or doubts(claim, grounds)
        or not is_own_wording(claim, grounds.passage)
    )


if __name__ == "__main__":
    main()
