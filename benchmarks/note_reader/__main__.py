"""`python -m benchmarks.note_reader [--write] [--all]`: trains the reader of acts, and reports."""

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.note_reader.data import (
    Marked,
    aci,
    dialogues,
    mts,
    named,
    of_whole,
    pieces,
    rendered,
    whole,
    written,
)
from benchmarks.notes_marked.marks import marked
from workers.summarize import acts as product
from workers.summarize.acts import ACTS, BUCKETS, Weights, acts_by, indices

_STEPS, _RATE, _PENALTY = 250, 0.05, 2e-5
_LEVEL = 0.5
_WHOLE = 2.0
"""Weight of a statement of a whole note, of which one form is learned, of a line five (ours)."""
_CALM = 0.5  # of the logs of what follows what: the notes it is counted in are few (ours)


def training(*, everything: bool = False) -> Iterable[Marked]:
    """What the reader is trained on; `everything`: with the notes that are held out."""
    for note in whole(held_out=False):
        yield of_whole(note, _WHOLE)
    if everything:
        for note in whole(held_out=True):
            yield of_whole(note, _WHOLE)
    for lines in (
        *(lines for _, lines in written()),
        *(lines for lines, _ in named("named_1.txt")),
    ):
        for form in ("headed", "plain", "prose", "capitals", "labelled"):
            yield rendered(lines, form, 1.0)
        for size in (1, 3):
            for piece in pieces(lines, size):
                yield rendered(piece, "headed", 0.5)
                yield rendered(piece, "prose", 0.5)
                if piece[0][0] == "H":
                    yield rendered(piece, "labelled", 0.5)
    for lines in aci("train"):
        for form in ("headed", "prose", "plain"):
            yield rendered(lines, form, 0.15)
    for lines in mts("Training"):
        yield rendered(lines, "plain", 0.15, ordered=False)
    yield from dialogues("Training")


def trained(notes: Sequence[Marked]) -> Weights:
    """Multinomial logistic regression over hashed features by Adam; the same weights each time."""
    rows = [(indices(one), act, note.weight) for note in notes
            for one, act in zip(note.statements, note.acts, strict=True)]  # fmt: skip
    flat = np.concatenate([np.array(row[0]) for row in rows])
    starts = np.cumsum([0, *(len(row[0]) for row in rows[:-1])])
    lengths = np.array([len(row[0]) for row in rows])
    target = np.eye(len(ACTS), dtype=np.float32)[[row[1] for row in rows]]
    weight = np.array([row[2] for row in rows], dtype=np.float32)
    share = weight @ target / weight.sum()
    weight *= target @ share**-_LEVEL  # so that rare acts count
    weight /= weight.sum()
    table, bias = np.zeros((BUCKETS, len(ACTS)), np.float32), np.zeros(len(ACTS), np.float32)
    moments = [np.zeros_like(table), np.zeros_like(table)]
    for step in range(1, _STEPS + 1):
        scores = np.add.reduceat(table[flat], starts, axis=0) + bias
        shares = np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
        wrong = (shares - target) * weight[:, None]
        spread = np.repeat(wrong, lengths, axis=0)
        slope = np.stack([np.bincount(flat, spread[:, n], BUCKETS) for n in range(len(ACTS))], 1)
        slope = slope + _PENALTY * table
        moments[0] = 0.9 * moments[0] + 0.1 * slope
        moments[1] = 0.999 * moments[1] + 0.001 * slope**2
        table -= (
            _RATE
            * (moments[0] / (1 - 0.9**step))
            / (np.sqrt(moments[1] / (1 - 0.999**step)) + 1e-8)
        )
        bias -= 2.0 * wrong.sum(axis=0)
    follows, begins = np.ones((len(ACTS),) * 2), np.ones(len(ACTS))
    shares_of = np.ones(len(ACTS))
    for note in notes:
        if note.ordered and note.acts:
            begins[note.acts[0]] += note.weight * (len(note.acts) > 3)
            np.add.at(shares_of, note.acts, note.weight)
            for before, after in pairwise(note.acts):
                follows[before, after] += note.weight
    frequent = np.log(shares_of / shares_of.sum())
    return Weights(
        table.astype(np.float32),
        bias,
        (_CALM * (np.log(follows / follows.sum(1, keepdims=True)) - frequent)).astype(np.float32),
        (_CALM * (np.log(begins / begins.sum()) - frequent)).astype(np.float32),
    )


def rounded(known: Weights) -> tuple[Weights, dict[str, NDArray[Any]]]:
    """The weights as bytes, and what is read of them."""
    scale = np.abs(known.table).max(axis=0) / 127
    table = np.round(known.table / scale).astype(np.int8)
    stored = {"table": table, "scale": scale.astype(np.float32), "bias": known.bias,
              "follows": known.follows, "begins": known.begins}  # fmt: skip
    return Weights(table * scale, known.bias, known.follows, known.begins), stored


def measured(known: Weights, notes: Iterable[Marked]) -> dict[str, Any]:
    """The share of statements whose act is right, and recall and precision of orders."""
    right: Counter[str] = Counter()
    pairs: Counter[str] = Counter()
    for note in notes:
        for act, wanted in zip(acts_by(known, note.statements), note.acts, strict=True):
            right[ACTS[wanted]] += act.name == ACTS[wanted]
            right["all of " + ACTS[wanted]] += 1
            pairs[f"{ACTS[wanted]} > {act.name}"] += act.name != ACTS[wanted]
    return {name: f"{right[name]} of {right['all of ' + name]}" for name in ACTS} | {
        "mistaken": dict(pairs.most_common(8))
    }


def kept_back() -> Iterable[Marked]:
    """The development half of the marked notes, and the whole notes that are held out."""
    path = Path(__file__).parents[1] / "notes_marked/development.txt"
    for note in (*marked(path), *whole(held_out=True)):
        yield of_whole(note, 1.0)


def main() -> None:
    """Trains, prints the report, and with `--write` keeps the weights."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--write", action="store_true")
    options.add_argument("--all", action="store_true")
    chosen = options.parse_args()
    notes = list(training(everything=chosen.all))
    known, stored = rounded(trained(notes))
    report: dict[str, Any] = {}
    report["statements"] = {
        name: sum(note.acts.count(n) for note in notes) for n, name in enumerate(ACTS)
    }
    report["kept back"] = measured(known, kept_back())
    for form in ("headed", "prose"):
        notes = [rendered(one, form, 1.0) for one in aci("valid")]
        report[f"ACI-BENCH validation, {form}"] = measured(known, notes)
    print(json.dumps(report, indent=1))
    if chosen.write:
        np.savez_compressed(
            Path(product.__file__).parent / "acts.npz",
            table=stored["table"], scale=stored["scale"], bias=stored["bias"],
            follows=stored["follows"], begins=stored["begins"],
        )  # fmt: skip


if __name__ == "__main__":
    main()
