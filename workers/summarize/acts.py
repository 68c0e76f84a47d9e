"""What a statement of a note does: it orders, judges, names a problem, tells, finds. Pure.

A linear reader of open vocabulary: words, beginnings and ends of words, form and the heading above,
hashed into a table of weights (`acts.npz`), then the likeliest row of acts of the whole note, for
orders follow orders. Trained by `benchmarks.note_reader` on marked notes; it knows no list of drugs
or tests.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

ACTS = (
    "order", "judgement", "problem", "history", "medicine", "finding", "result", "snapshot",
    "courtesy",
)  # fmt: skip
BUCKETS = 1 << 14
_TOKEN = re.compile(r"[^\W\d_]+|\d+(?:[.,:/-]\d+)*|[^\w\s]")
_LABEL = re.compile(r"\A[^\W\d_][^:\n]{0,40}:(?=\s)")
_TOKENS = 60
"""Tokens of a statement that are read (ours)."""
_TEMPER = 0.7
"""Of the sum of two readers' log odds, which know the same in part (ours)."""
_EDGES = (3, 4)
_LENGTHS = (2, 4, 7, 12, 20, 35)


class Statement(NamedTuple):
    """Words with where they stand: under which title of which kind, below which lines."""

    words: str
    title: str = ""
    kind: str = "other"
    over: str = ""
    listed: bool = False
    place: float | None = None
    """How far in the note, from 0 to 1; None where that says nothing."""


class Act(NamedTuple):
    """What a statement does, by the whole note; how likely it is an order; and how likely it is one
    or names a medicine, which below the heading of a plan is one as well."""

    name: str
    sure: float
    order: float
    step: float


UNREAD = Act("history", 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Weights:
    """`table`: (BUCKETS, acts); `bias`: (acts,); `follows`: (acts, acts), log of what follows what;
    `begins`: (acts,)."""

    table: NDArray[np.float32]
    bias: NDArray[np.float32]
    follows: NDArray[np.float32]
    begins: NDArray[np.float32]


def features(one: Statement) -> Iterator[str]:
    """What is known of a statement, each as a word to be hashed."""
    label = _LABEL.match(one.words)
    tokens = _tokens(one.words)[:_TOKENS]
    for token in tokens:
        yield f"w {token}"
        yield from _edges("w", token)
    for before, after in pairwise(tokens):
        yield f"b {before} {after}"
    said = _tokens(one.words[label.end() :])[:_TOKENS] if label else tokens
    if said:
        yield f"f {said[0]}"
        yield f"f {' '.join(said[:2])}"
        yield f"f {' '.join(said[:3])}"
        yield from _edges("f", said[0])
        yield f"e {said[-1]}"
    yield f"n {sum(len(tokens) > one for one in _LENGTHS)}"
    if one.listed:
        yield "listed"
    if label:
        yield from (f"l {token}" for token in _tokens(label[0]))
    yield f"k {one.kind}"
    for name, words in (("t", one.title), ("o", one.over)):
        for token in _tokens(words)[:12]:
            yield f"{name} {token}"
            yield from _edges(name, token)
    if one.place is not None:
        yield f"p {int(one.place * 5)}"


def indices(one: Statement) -> list[int]:
    """The buckets of a statement's features, each once."""
    return sorted({crc32(word.encode()) % BUCKETS for word in features(one)})


def read_acts(
    statements: Sequence[Statement], beside: NDArray[np.float32] | None = None
) -> list[Act]:
    """What each statement of a note does, in its order; linear in their number.

    Args:
        beside: log odds (statements, acts) by another reader, counted as much as these.
    """
    return acts_by(weights(), statements, beside)


def acts_by(
    known: Weights,
    statements: Sequence[Statement],
    beside: NDArray[np.float32] | None = None,
) -> list[Act]:
    """`read_acts` by given weights."""
    if not statements:
        return []
    scores = np.array([known.table[indices(one)].sum(axis=0) + known.bias for one in statements])
    if beside is not None:
        scores = _TEMPER * (scores + beside)
    alone = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
    forward, backward = np.empty_like(alone), np.zeros_like(alone)
    forward[0] = known.begins + alone[0]
    for n in range(1, len(alone)):
        forward[n] = alone[n] + np.logaddexp.reduce(forward[n - 1][:, None] + known.follows, axis=0)
    for n in range(len(alone) - 2, -1, -1):
        backward[n] = np.logaddexp.reduce(known.follows + alone[n + 1] + backward[n + 1], axis=1)
    told = forward + backward
    shares = np.exp(told - np.logaddexp.reduce(told, axis=1, keepdims=True))
    medicine = ACTS.index("medicine")
    return [
        Act(ACTS[n], float(row[n]), float(row[0]), float(row[0] + row[medicine]))
        for row, n in zip(shares, shares.argmax(axis=1), strict=True)
    ]


@cache
def weights() -> Weights:
    """The packaged weights: bytes with a scale for each act."""
    with files("workers.summarize").joinpath("acts.npz").open("rb") as file:
        stored = np.load(file)
        table = stored["table"].astype(np.float32) * stored["scale"]
        return Weights(table, stored["bias"], stored["follows"], stored["begins"])


def _tokens(words: str) -> list[str]:
    return ["0" if one[0].isdigit() else one for one in _TOKEN.findall(words.casefold())]


def _edges(name: str, token: str) -> Iterator[str]:
    for size in _EDGES:
        if len(token) > size + 1:
            yield f"{name} {token[:size]}-"
            yield f"{name} -{token[-size:]}"
