"""Fit the form of the answer once more, on more questions (docs/questions.md).

    python -m benchmarks.questions.forms OUT

Only the last layer of the form is fitted, over states as they are: softmax regression that is drawn
towards the weights that ship. Learned are the marked questions, the plain ones of
`clinical_first.tsv` and, three times as much, the odd lines of `forms.tsv`; the even lines are only
measured. What draws them was set by five folds of the odd lines. OUT gets the weights as the
product reads them. Some twenty seconds of one core.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from benchmarks.questions import HERE, WRITERS
from workers.retrieve.understanding.asked import reader
from workers.retrieve.understanding.asked.model import ANSWER_TYPES

_DRAW, _STEPS, _RATE, _MORE = 0.1, 400, 0.02, 3.0
Matrix = NDArray[Any]


class _Watched(reader.QuestionReader):
    """The reader that ships, with what its last layer was given."""

    given: Matrix

    def _form(self, states: Matrix, asking: Matrix) -> Any:
        about = (states * asking[:, None]).sum(0) / (asking.sum() + 1e-3)
        self.given = np.concatenate([states.mean(0), about])
        return super()._form(states, asking)


def plain(name: str) -> list[tuple[str, str]]:
    """Form and question of each line of a file."""
    lines = (HERE / name).read_text("utf-8").splitlines()
    return [(form, question) for form, _, question in (line.partition("\t") for line in lines)]


def learned() -> Iterator[tuple[str, str, float]]:
    """Form, question and weight."""
    for writer in WRITERS:
        for line in (HERE / "marked" / f"{writer}.jsonl").read_text("utf-8").splitlines():
            row = json.loads(line)
            yield row["type"], row["question"], 1.0
    yield from ((*one, 1.0) for one in plain("clinical_first.tsv"))
    yield from ((*one, _MORE) for one in plain("forms.tsv")[::2])


def fitted(
    given: Matrix, forms: Sequence[int], weights: Matrix, start: tuple[Matrix, Matrix]
) -> tuple[Matrix, Matrix]:
    """Weights and biases of the last layer, by Adam."""
    own = [one.astype(np.float64) for one in start]
    first, second = [np.zeros_like(one) for one in own], [np.zeros_like(one) for one in own]
    for step in range(1, _STEPS + 1):
        odds = given @ own[0].T + own[1]
        shares = np.exp(odds - odds.max(1, keepdims=True))
        shares /= shares.sum(1, keepdims=True)
        shares[np.arange(len(forms)), forms] -= 1
        shares *= (weights / weights.sum())[:, None]
        slopes = (shares.T @ given, shares.sum(0))
        for at, slope in enumerate(slopes):
            drawn = slope + _DRAW * (own[at] - start[at])
            first[at] = 0.9 * first[at] + 0.1 * drawn
            second[at] = 0.999 * second[at] + 0.001 * drawn**2
            mean, spread = first[at] / (1 - 0.9**step), second[at] / (1 - 0.999**step)
            own[at] = own[at] - _RATE * mean / (np.sqrt(spread) + 1e-8)
    return own[0], own[1]


def main() -> None:
    """Fit, write and say how many of the lines held out are right, before and after."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    path = Path(reader.__file__).parent / reader.WEIGHTS
    held, watched = load_file(path), _Watched(path, reader._LAYERS)

    def read(questions: Sequence[str]) -> Matrix:
        found = []
        for question in questions:
            watched.read(question)
            found.append(watched.given)
        return np.array(found, np.float64)

    forms, questions, weights = zip(*learned(), strict=True)
    numbers = [ANSWER_TYPES.index(one) for one in forms]
    start = held["types.weight"], held["types.bias"]
    own = fitted(read(questions), numbers, np.array(weights), start)
    kept = plain("forms.tsv")[1::2]
    given, right = read([one for _, one in kept]), [ANSWER_TYPES.index(one) for one, _ in kept]
    for weight, bias in (start, own):
        print(len(kept), round(float(((given @ weight.T + bias).argmax(1) == right).mean()), 3))
    changed = {"types.weight": own[0].astype(np.float32), "types.bias": own[1].astype(np.float32)}
    save_file(held | changed, options.out)


if __name__ == "__main__":
    main()
