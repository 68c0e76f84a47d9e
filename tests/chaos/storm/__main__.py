"""`python -m tests.chaos.storm --seeds 20`: storms, each with what it broke and what was found.

The exit code is 0 only if nothing was found. A seed that found something finds it again most
times: `--first-seed N --seeds 1`.
"""

import argparse
import json
import sys
from dataclasses import asdict

from tests.chaos.storm.run import storm


def main() -> None:
    """Run the storms, print a line for each, and one JSON object at the end."""
    parser = argparse.ArgumentParser(description="Break a running system, and see what it keeps.")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=20.0, help="of each storm")
    given = parser.parse_args()
    outcomes = []
    for seed in range(given.first_seed, given.first_seed + given.seeds):
        one = storm(seed, given.seconds)
        outcomes.append(one)
        verdict = "; ".join(one.found) if one.found else "nothing lost, nothing doubled"
        sys.stdout.write(
            f"seed {seed}: {one.acts} acts, {one.accepted} questions accepted, {one.answered} "
            f"answered, {one.failed} failed, settled in {one.settled_seconds} s: {verdict}\n"
        )
        sys.stdout.flush()
    red = [one for one in outcomes if one.found]
    sys.stdout.write(
        json.dumps({"storms": len(outcomes), "red": len(red), "each": list(map(asdict, outcomes))})
        + "\n"
    )
    sys.exit(1 if red else 0)


if __name__ == "__main__":
    main()
