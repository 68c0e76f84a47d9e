"""`python -m benchmarks.claims.lies`: how many made falsehoods the verifier calls supported.

The true and false edits of `benchmarks.guards`, of sentences of real abstracts, are judged against
their sentence and, every other one, against it amid its neighbours. Printed for each kind: claims,
how many the verifier accepts, how many with one threshold for all lengths (`--flat`), and how many
of the first the guards of claims then let through. Last, the CPU time of a claim.
"""

import argparse
import random
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.guard_edits import FALSE, TRUE, Case, Edit
from benchmarks.guards import cases, grounds_of
from workers.verify.entailment.model import Judgement, judge_all
from workers.verify.entailment.states import TokenReader
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.vetoes import vetoes


def edited(
    edit: Edit, sample: list[Case], limit: int, rng: random.Random
) -> Iterator[tuple[str, Grounds]]:
    """At most `limit` claims of one kind with what they are held against."""
    made = 0
    for case in sample:
        claim = edit(case, rng)
        if claim is None or claim == case.sentence or claim in case.text:
            continue
        yield claim, grounds_of(case, wide=made % 2 == 1)
        made += 1
        if made == limit:
            return


def row(kind: str, made: list[tuple[str, Grounds]], judged: list[Judgement], flat: float) -> str:
    """One line of the matrix."""
    accepted = [pair for pair, j in zip(made, judged, strict=True) if j.label == "supported"]
    once = sum(j.p_supported >= flat and not j.vetoes for j in judged)
    passed = sum(not vetoes(claim, grounds) for claim, grounds in accepted)
    return f"{kind:34.34} {len(made):6} {len(accepted):8} {once:6} {passed:14}"


def main() -> None:
    """Prints the matrix."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--scifact", type=int, default=5183, help="documents of SciFact")
    parser.add_argument("--limit", type=int, default=40, help="claims a kind")
    parser.add_argument("--flat", type=float, default=0.71, help="one threshold for all lengths")
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    sample = cases(options.shared, options.scifact, rng)
    rng.shuffle(sample)
    reader = TokenReader(Path(".attest/encoder"), threads=1)
    claims, spent = 0, 0.0
    for title, edits in (("false", FALSE), ("true", TRUE)):
        print(f"{title:34} claims accepted   flat  guards let by")
        for kind, edit in edits.items():
            made = list(edited(edit, sample, options.limit, rng))
            begun = time.process_time()
            judged = list(judge_all([(c, grounds.passage) for c, grounds in made], reader))
            spent += time.process_time() - begun
            claims += len(made)
            print(row(kind, made, judged, options.flat), flush=True)
    print(f"ms of CPU a claim: {1000 * spent / max(1, claims):.1f}")


if __name__ == "__main__":
    main()
