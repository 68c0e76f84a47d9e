"""`python plan.py JOB`: what a training reads, as JSON for `train.py`. Chosen once, not tuned."""

import json
import sys
from typing import Any

# Shares of each source that an epoch reads; all of what is not named.
LONG = {
    "pool": 0.5, "twins": 0.5, "findings": 0.25, "abstracts": 0.4, "sentences": 0.25,
    "open-citint": 0.1, "open-clinifact": 0.3, "open-conjnli": 0.15, "open-condaqa": 0.2,
    "open-scone": 0.1, "open-mnli_dev": 0.4, "open-cad_nli": 0.4, "open-entailmentbank": 0.3,
    "open-evidence_inference": 0.5, "open-expertqa": 0.3, "open-wice": 0.5, "open-scitail_dev": 0.5,
}  # fmt: skip
# The last steps, with SciFact's claims.
LAST = {name: share * 0.3 for name, share in LONG.items()} | {
    "twins": 0.25, "sentences": 0.05, "pool": 0.2, "written-other": 0.5,
}  # fmt: skip
# The learning curve: what is written, and little else.
CURVE = dict.fromkeys([*LONG, "scifact", "scifact-whole"], 0.0) | {
    "twins": 0.25, "open-mnli_dev": 0.3, "open-cad_nli": 0.3, "findings": 0.1, "open-fm2": 0.3,
    "open-check_covid": 0.3, "open-scitab": 0.2, "open-neg_nli": 0.2,
}  # fmt: skip
# One core without an accelerator: what is written first, a little of the rest. The shipped weights
# also read a quarter of seven sets that are no longer read (docs/verifier.md).
SMALL = {
    "pool": 0, "twins": 0.08, "findings": 0.03, "abstracts": 0.03, "sentences": 0.02,
    "open-citint": 0.0075, "open-clinifact": 0.0225, "open-conjnli": 0.01125,
    "open-condaqa": 0.015, "open-scone": 0.0075, "open-mnli_dev": 0.03, "open-cad_nli": 0.03,
    "open-entailmentbank": 0.0225, "open-evidence_inference": 0.0375, "open-expertqa": 0.0225,
    "open-wice": 0.0375, "open-scitail_dev": 0.0375, "written-other": 0.5,
    "open-check_covid": 0.25,
    "open-fm2": 0.25,
    "open-medec": 0.25, "open-neg_nli": 0.25, "open-scitab": 0.25,
    "open-summedits": 0.25,
}  # fmt: skip

TEACHER = "t1"


def job(name: str) -> dict[str, Any]:
    """The settings of a job by its name.

    `s0` is a student without a teacher, the first result. `t1` is the teacher, `d0` the student
    taught by it (none of the three has seen a claim of SciFact), `f` the one that is shipped (`d0`
    and some steps with SciFact's claims), `f0` to `f4` the same without a fold, `c1`, `c2`, `c4`
    the learning curve by quarters, `cpu` one without a teacher on one core.
    """
    taught = {"teachers": [TEACHER], "name": name}
    if name == "s0":
        own = {"epochs": 5, "rate": 3e-4, "drop_fold": -1, "save": True}
        return {"name": name, "sources": LONG | {"pool": 0.0}} | own
    if name == TEACHER:
        return {
            "name": name, "model": "teacher", "epochs": 3, "rate": 4e-5, "tokens": 24000,
            "average": 0.995, "drop_fold": -1, "label_all": True, "sources": LONG | {"pool": 0.0},
        }  # fmt: skip
    if name == "d0":
        return taught | {"epochs": 8, "rate": 3e-4, "drop_fold": -1, "save": True, "sources": LONG}
    if name.startswith("f"):
        fold = int(name[1:]) if name[1:] else -2
        last = {"start": "d0", "epochs": 3, "rate": 1e-4, "mix": 0.3, "sources": LAST}
        return taught | last | {"drop_fold": fold, "save": fold == -2}
    if name.startswith("c") and name[1:].isdigit():
        curve = {"epochs": 4, "rate": 2e-4, "quarters": int(name[1:]), "sources": CURVE}
        return {"name": name} | curve
    if name == "cpu":
        return {
            "name": name, "epochs": 6, "seconds": 5100, "rate": 1e-4, "tokens": 2500,
            "dropout": 0.0, "average": 0.995, "drop_fold": 0, "save": True, "sources": SMALL,
        }  # fmt: skip
    raise ValueError(f"no job is called {name}")


if __name__ == "__main__":
    print(json.dumps(job(sys.argv[1])))
