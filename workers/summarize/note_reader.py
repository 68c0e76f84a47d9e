"""The learned reader of notes: the words that name a problem of the patient, and what each
statement does.

The packaged encoder with its last layers trained on marked notes (`benchmarks.note_reader`), int8:
their weights lie beside this file. A name is a problem by what is said around it: what is denied,
a relative's, feared, screened for or over is none. It knows no list of diseases.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np

from store.core.spans import Span
from workers.encoder.tagging import LONGEST, Matrix, Tagger, parts_of, words_of
from workers.encoder.tokens import Tokens, tokens_of
from workers.summarize.acts import ACTS

WEIGHTS = "note_reader.safetensors"
LAYERS = 6
"""Of the encoder, with the trained ones (benchmarks/note_reader/README.md)."""
MOST = 48
"""Stretches that are read of one note: some 12,000 tokens. Behind them no name is found, and what a
statement does is read by `acts` alone."""
PROBLEM = 0
"""The tag of the words that name a problem."""


class Read(NamedTuple):
    """Of each statement, in their order: the words that name a problem of the patient, and log
    odds of its acts (statements, acts), 0 where it was not read."""

    problems: list[tuple[Span, ...]]
    acts: Matrix


class NoteReader(Tagger):
    """The model, loaded. Safe to call from several threads at once."""

    def read(self, text: str, units: Sequence[Span]) -> Read:
        """What the statements at `units`, in order, name and do."""
        tokens = tokens_of(text)
        places = token_places(tokens, units)
        states = np.zeros((len(tokens.ids), len(self.own["acts.weight"][0])), np.float32)
        read = 0
        for first, last in list(stretches(tokens, units))[:MOST]:
            states[first:last] = self.states(tokens.stretch(first, last - first))[1:-1]
            read = last
        shares = self.shares(states)
        acts = np.zeros((len(units), len(ACTS)), np.float32)
        problems: list[tuple[Span, ...]] = []
        for n, (first, last) in enumerate(places):
            last = min(last, read)
            if first >= last:
                problems.append(())
                continue
            words = list(words_of(text, tokens.places[first:last], shares[first:last]))
            parts = parts_of(text, words, PROBLEM)
            ends = ((one.start, min(one.end, units[n].end)) for one in parts)
            problems.append(tuple(Span(start, end) for start, end in ends if start < end))
            mean = states[first:last].mean(0)
            acts[n] = self.own["acts.weight"] @ mean + self.own["acts.bias"]
        return Read(problems, acts)


def token_places(tokens: Tokens, units: Sequence[Span]) -> list[tuple[int, int]]:
    """The numbers of the first token of each unit and of the one behind its last."""
    starts = [start for start, _ in tokens.places]
    return [(bisect_left(starts, one.start), bisect_left(starts, one.end)) for one in units]


def stretches(tokens: Tokens, units: Sequence[Span]) -> Iterator[tuple[int, int]]:
    """The tokens `[first, last)` that are read together: as many whole units as there may be."""
    cuts = sorted({first for first, _ in token_places(tokens, units)})
    at, count = 0, len(tokens.ids)
    while at < count:
        end = min(count, at + LONGEST)
        if end < count:
            n = bisect_left(cuts, end + 1) - 1
            end = cuts[n] if n >= 0 and cuts[n] > at else end
        yield at, end
        at = end


@cache
def load() -> NoteReader:
    """The committed model.

    Raises:
        FileNotFoundError: the package was installed without it.
    """
    return NoteReader(Path(str(files("workers.summarize"))) / WEIGHTS, LAYERS)
