"""Train the reader that tells questions that are not clinical, and measure what it refuses.

    python -m benchmarks.questions.scope SETS OUT

SETS is a folder with `clinical.txt` and `other.txt`, a question a line, which are not in the
repository (docs/questions.md tells what they were made of); OUT gets `scope.json`. Our own
questions lie beside this file. The threshold is set on the training questions alone.
"""

import json
import random
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray

from store.core.settings import Settings
from workers.encoder import encoder_for
from workers.encoder.base import Matrix
from workers.retrieve.understanding.scope import LONGEST, names_clinical

HERE = Path(__file__).parent
_STEPS, _RATE, _PENALTY = 1500, 40.0, 3e-5
_OWN = 10.0
"""How much each of our few questions tells, beside one of the many made by a form."""
_FOLDS = 3
_REFUSED = 0.003
"""Share of the clinical questions left out that may be above the threshold less its margin: among
them are questions on software and traffic, and such as name nothing ("will it come back")."""
_MARGIN = 0.5
"""Log odds."""


def own_clinical(name: str) -> list[str]:
    """The plain clinical questions of `clinical_first` or `clinical_second`."""
    return [line.split("\t")[1] for line in (HERE / f"{name}.tsv").read_text().splitlines()]


def own_others() -> list[str]:
    """Our questions on other things, made of forms and things."""
    groups = yaml.safe_load((HERE / "other_first.yaml").read_text())
    return [
        form.format(thing)
        for group in groups
        for form, thing in product(group["forms"], group["things"])
    ]


def weights_of(
    clinical: Matrix, other: Matrix, weighed: NDArray[np.float64]
) -> tuple[Matrix, float]:
    """Logistic regression by gradient descent, both kinds of the same weight: weights of shape
    (384,) and the bias of the log odds that a question is none of ours."""
    rows = np.vstack([clinical, other]).astype(np.float64)
    told = np.r_[np.zeros(len(clinical)), np.ones(len(other))]
    share = 0.5 * np.r_[weighed / weighed.sum(), np.full(len(other), 1 / len(other))]
    weights, bias = np.zeros(rows.shape[1]), 0.0
    for _ in range(_STEPS):
        wrong = share * (1 / (1 + np.exp(-(rows @ weights + bias))) - told)
        weights -= _RATE * (rows.T @ wrong + _PENALTY * weights)
        bias -= _RATE * wrong.sum()
    return weights.astype(np.float32), float(bias)


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text("utf-8").splitlines() if line.strip()]


def main(sets: Path, out: Path) -> None:
    """Train on SETS and our first batches, write the weights, print figures."""
    encoder = encoder_for(Settings())
    chosen = random.Random(7)

    def encoded(questions: Sequence[str]) -> Matrix:
        return encoder.encode([one[:LONGEST] for one in questions])

    own = [*own_clinical("clinical_first"), *_lines(HERE / "lay_first.txt")]
    clinical = [*_lines(sets / "clinical.txt"), *own]
    others = [*_lines(sets / "other.txt"), *own_others()]
    chosen.shuffle(clinical)
    chosen.shuffle(others)
    rows, other_rows = encoded(clinical), encoded(others)
    weighed = np.array([_OWN if one in own else 1.0 for one in clinical])
    worths: list[float] = []
    for fold in range(_FOLDS):
        held = np.arange(len(clinical)) % _FOLDS == fold
        weights, bias = weights_of(rows[~held], other_rows, weighed[~held])
        unnamed = [
            (float(rows[n] @ weights + bias), clinical[n])
            for n in np.flatnonzero(held)
            if not names_clinical(clinical[n])
        ]
        print("left out, without a name, highest:", sorted(unnamed)[-5:])
        worths += [worth for worth, _ in unnamed]
    weights, bias = weights_of(rows, other_rows, weighed)
    print("trained on", len(clinical), len(others))
    facts = {
        "encoder": encoder.name,
        "bias": round(bias, 5),
        "threshold": round(sorted(worths)[-1 - int(_REFUSED * len(clinical))] + _MARGIN, 2),
        "weights": [round(float(one), 5) for one in weights],
    }
    (out / "scope.json").write_text(json.dumps(facts) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
