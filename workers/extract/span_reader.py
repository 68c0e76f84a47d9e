"""The learned reader of documents: the words that state a field, wherever they stand. Pure.

The packaged encoder with its last layers trained on documents whose values are marked
(`benchmarks.span_reader`), int8: their weights lie beside this file. It reads a document as a
whole, knows no list of labels, and fails differently from the rules.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import numpy as np

from workers.encoder.tagging import LONGEST, Matrix, Part, Tagger, Word, parts_of, words_of
from workers.encoder.tokens import Tokens, tokens_of
from workers.extract.rubrics import DOCUMENT_TYPES, field_policies, rubric

WEIGHTS = "span_reader.safetensors"
LAYERS = 6
"""Of the encoder, with the trained ones (benchmarks/span_reader/README.md)."""
MOST = 64
"""Stretches that are read of one document: some 16,000 tokens. Behind them it says nothing."""
FIRST, INSIDE, LAST = range(3)
"""Where a stretch stands in its document."""


class Stated:
    """How sure each word of a document is of each field, and the words that state one."""

    def __init__(self, text: str, words: Sequence[Word], columns: Mapping[str, int]) -> None:
        """Keeps what was read: `columns` has the place of each field in the shares of a word."""
        self._text, self._words, self._columns = text, words, columns

    def parts(self, field: str) -> list[Part]:
        """The words that state a field, the surest first; none of a field that it does not know."""
        if field not in self._columns:
            return []
        found = parts_of(self._text, self._words, self._columns[field])
        return sorted(found, key=lambda one: -one.share)

    def share(self, field: str, start: int, end: int) -> float | None:
        """How sure the words in `[start, end)` are of a field, in the mean; None where unknown."""
        if field not in self._columns:
            return None
        inside = [one for one in self._words if one.start < end and start < one.end]
        shares = [float(one.shares[self._columns[field]]) for one in inside]
        return sum(shares) / len(shares) if shares else None


class SpanReader(Tagger):
    """The model, loaded. Safe to call from several threads at once."""

    def read(self, text: str, document_type: str) -> Stated:
        """What the words of a document of a type state."""
        tokens, shares = tokens_of(text), []
        cuts = list(stretches(text, tokens))[:MOST]
        about = self.own["types"][DOCUMENT_TYPES.index(document_type)]
        for first, last in cuts:
            known = about + self.own["places"][place_of(first, last, len(tokens.ids))]
            states = self.states(tokens.stretch(first, last - first), known)
            shares.append(self.shares(states[1:-1]))
        read: Matrix = np.concatenate(shares) if shares else np.zeros((0, len(TAGS)), np.float32)
        words = list(words_of(text, tokens.places[: len(read)], read)) if len(read) else []
        wanted = {one for one in rubric(document_type).fields if one in TAGS}
        return Stated(text, words, {one: TAGS.index(one) for one in wanted})


def stretches(text: str, tokens: Tokens) -> Iterator[tuple[int, int]]:
    """The tokens `[first, last)` that are read together, cut at an end of line where there is one
    in their second half."""
    ends = [n for n, (one, behind) in enumerate(pairwise(tokens.places), 1)
            if "\n" in text[one[1] : behind[0]]]  # fmt: skip
    at, count = 0, len(tokens.ids)
    while at < count:
        end = min(count, at + LONGEST)
        if end < count:
            end = max((one for one in ends if at + LONGEST // 2 < one <= end), default=end)
        yield at, end
        at = end


def place_of(first: int, last: int, count: int) -> int:
    """Where the tokens `[first, last)` stand in a document of so many."""
    return FIRST if first == 0 else LAST if last == count else INSIDE


def _tags() -> tuple[str, ...]:
    """The fields that are read, in the order of the weights: those of one value, as the rubrics
    name them. Lists are the rules' business: which entries are of now it told no better."""
    every = [one for kind in DOCUMENT_TYPES for one in rubric(kind).fields]
    wanted = (one for one in every if one != "raw_text" and not field_policies()[one].many)
    return tuple(dict.fromkeys(wanted))


TAGS = _tags()


@cache
def load() -> SpanReader:
    """The committed model.

    Raises:
        FileNotFoundError: the package was installed without it.
    """
    return SpanReader(Path(str(files("workers.extract"))) / WEIGHTS, LAYERS)
