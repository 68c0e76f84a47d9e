"""`python -m benchmarks.selector.train GROUPS.jsonl OUT.safetensors`: trains the selector.

Numpy alone, on one core. Words and what they tell are not trained: principal axes of the packaged
encoder's words, and rarity among the sentences of the groups. Of what the reader (`features`) sees,
a score is learned that is a line plus a layer of tanh plus a product of what the question expects
with what the sentence says. The loss is over a question's list (ListNet, Cao et al., ICML 2007),
and over each row alone, so that a score means the same whatever stands beside it. Adam; the mean of
the weights over steps is kept. Figures are of questions held out.
"""

import argparse
import json
import math
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer

from workers.encoder.minilm import model_folder
from workers.generate.selector import Reader, Words

Matrix = NDArray[np.float32]
SHARPNESS = 2.0  # of the aim over grades
ANSWERS = 1.5  # the least grade of what answers


class Group(NamedTuple):
    """A question's rows: features (rows, f), expectation (e,), grades (rows,)."""

    held: bool
    own: bool
    features: Matrix
    expects: Matrix
    grades: Matrix


def vocabulary(groups: list[dict[str, Any]], size: int) -> Words:
    """The words of the encoder along their principal axes, and how rare each is in the groups."""
    folder = model_folder()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    texts = list({row[0]: None for group in groups for row in group["rows"]})
    encoded = tokenizer.encode_batch_fast(texts, add_special_tokens=False)
    held = Counter(token for one in encoded for token in set(one.ids))
    count = tokenizer.get_vocab_size()
    rare = np.array([math.log(1 + len(texts) / (1 + held[token])) for token in range(count)])
    words = load_file(folder / "model.safetensors")["embeddings.word_embeddings.weight"]
    seen = np.array(sorted(held))
    centered = words - words[seen].mean(0)
    _, axes = np.linalg.eigh(centered[seen].T @ centered[seen])
    table = centered @ axes[:, ::-1][:, :size]
    table /= np.linalg.norm(table, axis=1, keepdims=True) + 1e-6
    return Words(table.astype(np.float32), rare.astype(np.float32))


def read(groups: list[dict[str, Any]], words: Words) -> list[Group]:
    """The features of all groups."""
    reader = Reader(words)
    found = []
    for one in groups:
        rows = one["rows"]
        features, expects = reader.features(
            one["question"], [(row[0], row[1], row[3]) for row in rows]
        )
        grades = np.array([row[2] for row in rows], np.float32)
        own = one["id"].startswith("own")
        found.append(Group(one["part"] == "held", own, features, expects, grades))
    return found


def start(features: int, expects: int, hidden: int, rng: np.random.Generator) -> dict[str, Matrix]:
    """Weights before training."""

    def some(*shape: int) -> Matrix:
        return (rng.normal(size=shape) / math.sqrt(shape[0])).astype(np.float32)

    return {
        "line": np.zeros(features, np.float32),
        "into": some(features, hidden),
        "bias": np.zeros(hidden, np.float32),
        "out": np.zeros(hidden, np.float32),
        "meets": np.zeros((expects, features), np.float32),
        "zero": np.zeros(1, np.float32),
    }


def forward(w: dict[str, Matrix], x: Matrix, e: Matrix) -> tuple[Matrix, Matrix]:
    """Scores of rows, and the hidden layer."""
    h = np.tanh(x @ w["into"] + w["bias"])
    return x @ (w["line"] + e @ w["meets"]) + h @ w["out"], h


def gain(scores: Matrix, grades: Matrix) -> float:
    """nDCG of the first ten."""
    discount = 1 / np.log2(np.arange(2, 12))
    found, best = grades[np.argsort(-scores, kind="stable")[:10]], np.sort(grades)[::-1][:10]
    cut = discount[: len(found)]
    return float(((2**found - 1) * cut).sum() / ((2**best - 1) * cut).sum())


def figures(w: dict[str, Matrix], groups: list[Group]) -> dict[str, float]:
    """nDCG@10, a first row that answers, gold among the first ten."""
    seen: dict[str, list[float]] = {"ndcg": [], "first": [], "in_ten": []}
    for one in groups:
        scores, y = forward(w, one.features, one.expects)[0], one.grades
        order = np.argsort(-scores, kind="stable")
        seen["ndcg"].append(gain(scores, y))
        if y.max() >= 3:
            seen["first"].append(float(y[order[0]] >= 3))
        gold = y >= 1.5
        seen["in_ten"].append(float(gold[order[:10]].sum() / max(1, min(10, gold.sum()))))
    return {name: round(float(np.mean(one)), 4) for name, one in seen.items()}


def train(groups: list[Group], options: argparse.Namespace) -> dict[str, Matrix]:
    """The mean of the weights over the steps of all epochs."""
    rng = np.random.default_rng(options.seed)
    w = start(groups[0].features.shape[1], len(groups[0].expects), options.hidden, rng)
    mean = {name: value.copy() for name, value in w.items()}
    first = {name: np.zeros_like(value) for name, value in w.items()}
    second = {name: np.zeros_like(value) for name, value in w.items()}
    order, step = np.arange(len(groups)), 0
    total = options.epochs * len(groups) // options.batch
    for _ in range(options.epochs):
        rng.shuffle(order)
        for at in range(0, len(order) - options.batch + 1, options.batch):
            grad = {name: np.zeros_like(value) for name, value in w.items()}
            for number in order[at : at + options.batch]:
                one = groups[number]
                x, e = one.features, one.expects
                if options.drop:
                    x = x * ((rng.random(x.shape[1]) > options.drop) / (1 - options.drop))
                    x = x.astype(np.float32)
                scores, h = forward(w, x, e)
                sure = 1 / (1 + np.exp(-scores - w["zero"]))
                apart = (sure - (one.grades >= ANSWERS)) * (options.alone / len(scores))
                back = _shares(scores) - _shares(one.grades * SHARPNESS) + apart
                back /= options.batch
                grad["zero"] += apart.sum(keepdims=True) / options.batch
                straight = back @ x
                inner = np.outer(back, w["out"]) * (1 - h * h)
                grad["line"] += straight
                grad["meets"] += np.outer(e, straight)
                grad["out"] += back @ h
                grad["into"] += x.T @ inner
                grad["bias"] += inner.sum(0)
            step += 1
            rate = options.rate * min(1.0, step / 50) * max(0.02, 1 - step / total)
            for name, value in w.items():
                g = grad[name]
                first[name] += 0.1 * (g - first[name])
                second[name] += 0.001 * (g * g - second[name])
                a, b = first[name] / (1 - 0.9**step), second[name] / (1 - 0.999**step)
                decay = options.decay * (10 if name == "meets" else 1)
                value -= rate * (a / (np.sqrt(b) + 1e-8) + decay * value)
                mean[name] += (value - mean[name]) * max(0.01, 1 / (step + 1))
    return mean


def _shares(values: Matrix) -> Matrix:
    grown = np.exp(values - values.max())
    found: Matrix = grown / grown.sum()
    return found


def main() -> None:
    """Trains and writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("groups", type=Path)
    parser.add_argument("out", type=Path)
    for name, value in (("size", 64), ("hidden", 24), ("epochs", 8), ("batch", 8), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=value)
    for name, number in (("rate", 1e-3), ("decay", 0.1), ("drop", 0.2), ("alone", 1.0)):
        parser.add_argument(f"--{name}", type=float, default=number)
    options = parser.parse_args()
    raw = [json.loads(one) for one in options.groups.read_text("utf-8").splitlines()]
    words = vocabulary(raw, options.size)
    began = time.process_time()
    groups = read(raw, words)
    print("features", round(time.process_time() - began, 1), "s", flush=True)
    every = np.concatenate([one.features for one in groups if not one.held])
    shift, scale = every.mean(0), every.std(0) + 1e-3
    groups = [one._replace(features=(one.features - shift) / scale) for one in groups]
    held = [one for one in groups if one.held]
    own = [one for one in groups if one.own]
    kept = train([one for one in groups if not one.held], options)
    report = figures(kept, held)
    print(report, figures(kept, own) if own else "", round(time.process_time() - began, 1), "s")
    scales = np.abs(words.table).max(1) / 127 + 1e-9
    save_file(
        {
            **kept,
            "shift": shift,
            "scale": scale,
            "words": np.round(words.table / scales[:, None]).astype(np.int8),
            "told": words.told.astype(np.float16),
        },
        options.out,
        {"figures": json.dumps(report)},
    )


if __name__ == "__main__":
    main()
