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
MAY = 0.3
"""Share of a word from which on it belongs to a value: of 0.1 to 0.5 the one with which most ends
of values were right, on documents that were not learned."""
BEGINS = 0.4
"""Share from which a word begins another entry (ours)."""
FIRST, INSIDE, LAST = range(3)
"""Where a stretch stands in its document."""


class Stated:
    """How sure each word of a document is of each field, and the words that state one."""

    def __init__(
        self,
        text: str,
        words: Sequence[Word],
        columns: Mapping[str, int],
        begins: Mapping[int, Matrix],
    ) -> None:
        """Keeps what was read.

        Args:
            columns: the place of each field in the shares of a word.
            begins: by where a token stands how surely it begins an entry of each list.
        """
        self._text, self._words, self._columns, self._begins = text, words, columns, begins

    def parts(self, field: str) -> list[Part]:
        """The words that state a field, the surest first; none of a field that it does not know."""
        if field not in self._columns:
            return []
        found = parts_of(self._text, self._words, self._columns[field], MAY)
        return sorted(found, key=lambda one: -one.share)

    def entries(self, field: str) -> list[Part]:
        """The entries of a list that are of now, in the order of the text."""
        if field not in self._columns:
            return []
        begins = LISTS.index(field)
        found: list[Part] = []
        for part in self.parts(field):
            inside = [one for one in self._words if part.start <= one.start < part.end]
            cuts = [n for n, one in enumerate(inside)
                    if n and self._begins[one.start][begins] >= BEGINS]  # fmt: skip
            for first, last in pairwise((0, *cuts, len(inside))):
                shares = [float(one.shares[self._columns[field]]) for one in inside[first:last]]
                place = inside[first].start, inside[last - 1].end
                found.append(Part(*place, sum(shares) / len(shares)))
        return sorted(found, key=lambda one: one.start)

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
            stretch = tokens.stretch(first, last - first)
            states = self.states(stretch, known + self._written(stretch))
            shares.append(self.shares(states[1:-1]))
        none = np.zeros((0, len(TAGS) + len(LISTS)), np.float32)
        read: Matrix = np.concatenate(shares) if shares else none
        places = tokens.places[: len(read)]
        words = list(words_of(text, places, read[:, : len(TAGS)])) if len(read) else []
        begins = {start: row for (start, _), row in zip(places, read[:, len(TAGS) :], strict=True)}
        wanted = {one for one in rubric(document_type).fields if one in TAGS}
        return Stated(text, words, {one: TAGS.index(one) for one in wanted}, begins)

    def _written(self, tokens: Tokens) -> Matrix:
        """How each token and the marks around stand on the page, `(tokens + 2, width)`."""
        found: Matrix = np.zeros((len(tokens.ids) + 2, self.own["before"].shape[1]), np.float32)
        found[1:-1] = self.own["before"][tokens.gaps[:-1]] + self.own["behind"][tokens.gaps[1:]]
        found[1:-1] += self.own["shapes"][tokens.shapes]
        return found


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
    """The fields that are read, in the order of the weights: all but the text itself, as the
    rubrics name them. Of a list, an entry of now is marked, and none that is past or another's."""
    every = [one for kind in DOCUMENT_TYPES for one in rubric(kind).fields]
    wanted = (one for one in every if field_policies()[one].extent != "document")
    return tuple(dict.fromkeys(wanted))


TAGS = _tags()
LISTS = tuple(one for one in TAGS if field_policies()[one].many)
"""Fields of lists: for each a further tag, behind the others, says where an entry begins."""


@cache
def load() -> SpanReader:
    """The committed model.

    Raises:
        FileNotFoundError: the package was installed without it.
    """
    return SpanReader(Path(str(files("workers.extract"))) / WEIGHTS, LAYERS)
