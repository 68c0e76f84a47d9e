"""`python -m benchmarks.checks [--shared DIR] [--every N]`: what each check of the gate is worth.

Read are the written pairs of `benchmarks/verifier/written`: each claim beside a passage that bears
it out and beside one that does not. For every hard fact and every doubt is printed in how many
true claims it speaks up and in how many false ones; then how many all hard facts together stop.
The pairs taught the verifier, whose figures are therefore not taken here, and no rule was tuned to
single ones of them.
"""

import argparse
import json
from collections import Counter
from pathlib import Path

from benchmarks.verifier.written import documents, written
from workers.verify.doubts import doubts
from workers.verify.guards.grounds import Grounds
from workers.verify.hard_facts import hard_facts


def main() -> None:
    """Prints the table, and the same as one JSON object on its last line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--every", type=int, default=1, help="take each Nth pair only")
    options = parser.parse_args()
    texts = documents(options.shared / "data")
    totals: Counter[bool] = Counter()
    found: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    for number, pair in enumerate(written(options.shared / "data")):
        if number % options.every:
            continue
        whole = pair.passage if pair.edited else texts[pair.document]
        grounds = Grounds(pair.passage, "", whole)
        true = pair.label == "supported"
        codes = {f"fact {one.code}" for one in hard_facts(pair.claim, grounds)}
        codes |= {"any fact"} if codes else set()
        asked = {f"doubt {one.kind}" for one in doubts(pair.claim, grounds)}
        codes |= asked | ({"any doubt"} if asked else set())
        totals[true] += 1
        found[true].update(codes)
    rows = {
        name: {
            "true": round(found[True][name] / totals[True], 4),
            "false": round(found[False][name] / totals[False], 4),
        }
        for name in sorted({*found[True], *found[False]})
    }
    print(f"{'check':24} true claims  false claims")
    for name, row in rows.items():
        print(f"{name:24} {row['true']:11.2%}  {row['false']:12.2%}")
    print(json.dumps({"true": totals[True], "false": totals[False], "checks": rows}))


if __name__ == "__main__":
    main()
