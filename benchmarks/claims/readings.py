"""Token states of all training texts, compressed, on disk; and a reader that answers from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.claims.pairs import Pair
from benchmarks.claims.tables import Array, Sample, Table
from workers.verify.entailment.flags import token_flags
from workers.verify.entailment.model import LABELS
from workers.verify.entailment.states import Reading, TokenReader

COMPONENTS = 256
LONGEST_TEXT = 96  # tokens of a text; what lies behind is left out in training
_SAMPLE = 40_000  # tokens


@dataclass(frozen=True)
class Readings:
    """`states` (tokens, COMPONENTS) float16 of all texts in a row, `places` of each in it."""

    states: Array
    ids: Array
    vectors: Array
    places: Mapping[str, tuple[int, int, int]]
    components: Array
    vocabulary: Mapping[str, int]

    def read(self, texts: Sequence[str]) -> list[Reading]:
        """As `TokenReader.read`, with compressed states. Raises KeyError for an unknown text."""
        found = []
        for text in texts:
            start, end, number = self.places[text]
            found.append(Reading(self.states[start:end], self.vectors[number], self.ids[start:end]))
        return found

    @property
    def table(self) -> Table:
        """The same as the head's training wants it."""
        return Table(self.states, self.ids, token_flags(self.vocabulary))

    def samples(self, pairs: Sequence[Pair]) -> list[Sample]:
        """The pairs as rows of the table."""

        def rows(texts: Sequence[str]) -> Array:
            return np.concatenate([np.arange(*self.places[text][:2]) for text in texts])

        return [
            Sample(rows([p.claim]), rows(p.evidence), LABELS.index(p.label), p.weight)
            for p in pairs
        ]


def read_all(
    texts: Sequence[str], reader: TokenReader, components: Array | None = None, log: Any = print
) -> Readings:
    """Reads every text once. `components` (768, COMPONENTS) compress the states; without them the
    principal directions of a sample of the tokens are taken."""
    states: list[Array] = []
    ids: list[Array] = []
    vectors: list[Array] = []
    places: dict[str, tuple[int, int, int]] = {}
    total = 0
    for begin in range(0, len(texts), 512):
        batch = texts[begin : begin + 512]
        for text, reading in zip(batch, reader.read(batch), strict=True):
            kept = reading.states[:LONGEST_TEXT].astype(np.float16)
            places[text] = (total, total + len(kept), len(vectors))
            total += len(kept)
            states.append(kept if components is None else _compressed(kept, components))
            ids.append(reading.ids[:LONGEST_TEXT])
            vectors.append(reading.vector)
        if begin % 5120 == 0:
            log(f"read {begin + len(batch)} of {len(texts)} texts")
    table = np.concatenate(states)
    if components is None:
        components = _principal(table)
        parts = range(0, len(table), _SAMPLE)
        table = np.concatenate([_compressed(table[i : i + _SAMPLE], components) for i in parts])
    return Readings(
        table, np.concatenate(ids), np.stack(vectors), places, components, reader.vocabulary
    )


def _compressed(states: Array, components: Array) -> Array:
    return (states.astype(np.float32) @ components).astype(np.float16)


def _principal(states: Array) -> Array:
    """The first principal directions, shape (width, COMPONENTS), not centred."""
    count = min(_SAMPLE, len(states))
    chosen = np.sort(np.random.default_rng(0).choice(len(states), count, replace=False))
    sample = states[chosen].astype(np.float32)
    _, vectors = np.linalg.eigh(sample.T.astype(np.float64) @ sample)
    return vectors[:, ::-1][:, :COMPONENTS].astype(np.float32)


def save(readings: Readings, path: Path) -> None:
    """Writes all but the vocabulary."""
    np.savez(
        path,
        states=readings.states,
        ids=readings.ids,
        vectors=readings.vectors,
        components=readings.components,
        texts=np.array(list(readings.places)),
        places=np.array(list(readings.places.values())),
    )


def restore(path: Path, vocabulary: Mapping[str, int]) -> Readings:
    """What `save` wrote."""
    with np.load(path, allow_pickle=False) as held:
        texts = held["texts"].tolist()
        places = [(int(a), int(b), int(c)) for a, b, c in held["places"]]
        return Readings(
            held["states"],
            held["ids"],
            held["vectors"],
            dict(zip(texts, places, strict=True)),
            held["components"],
            vocabulary,
        )
