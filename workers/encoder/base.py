"""The interface of an encoder, its errors, and the rule that cuts long texts into windows."""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from store.core.spans import Span

Matrix = NDArray[np.float32]
Rule = Callable[[int], bool]


class EncoderUnavailable(RuntimeError):
    """The encoder cannot answer now but may later: no connection, time-out, 429, 5xx.

    `retry_after` is the pause in seconds that the service asks for, or None.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class EncoderRefused(RuntimeError):
    """The encoder will never answer this request; a retry cannot help."""


class Encoder(Protocol):
    """Turns texts into vectors. Safe to call from several threads at once."""

    @property
    def name(self) -> str:
        """Weights, pooling and window rule: only vectors of equal names can be compared."""

    @property
    def dimensions(self) -> int:
        """The number of components of one vector."""

    def encode(self, texts: Sequence[str]) -> Matrix:
        """The vectors of `texts`, in their order: shape (n, dimensions), rows of length 1.

        Raises:
            EncoderUnavailable: a remote encoder may answer later.
            EncoderRefused: a remote encoder will never answer this.
        """

    def windows(self, text: str) -> list[Span]:
        """Contiguous ranges of `text`, each short enough for the encoder to read whole."""


def unit_rows(vectors: Matrix) -> Matrix:
    """`vectors` with every row scaled to length 1; a row of zeros becomes the first unit vector.

    A vector of zeros has no cosine distance in pgvector (NaN), so none is returned.
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    empty = lengths[:, 0] == 0.0
    rows = (vectors / np.where(lengths == 0.0, 1.0, lengths)).astype(np.float32)
    rows[empty, 0] = 1.0
    return rows


def even_cuts(
    count: int,
    limit: int,
    preferred: Rule,
    allowed: Rule,
) -> list[int]:
    """The start of each piece of `count` units, with no piece longer than `limit` units.

    Pieces are about equally long, because a short remainder would give a vector of almost nothing.
    Each cut is the first preferred place at or after the even one, else the last one in the half
    before it, else the same with allowed places; if there is none, it is at the limit.

    Args:
        count: units (tokens or characters) of the whole.
        limit: units that fit in one piece, at least 1.
        preferred: whether unit `i` is a good start of a piece, such as after white space.
        allowed: whether unit `i` may start a piece at all.
    """
    starts = [0]
    while (left := count - starts[-1]) > limit:
        begin = starts[-1]
        pieces = _ceil(left, limit)
        even = begin + _ceil(left, pieces)
        starts.append(_cut(begin, even, begin + limit, preferred, allowed))
    return starts


def _ceil(dividend: int, divisor: int) -> int:
    return -(-dividend // divisor)


def _cut(begin: int, even: int, last: int, preferred: Rule, allowed: Rule) -> int:
    half = (begin + even) // 2  # a preferred place before it would leave a very short piece
    after = range(even, last + 1)
    for places, rule in (
        (after, preferred),
        (range(even - 1, half, -1), preferred),
        (after, allowed),
        (range(even - 1, begin, -1), allowed),
    ):
        for place in places:
            if rule(place):
                return place
    return last


def spans_between(starts: Sequence[int], end: int) -> list[Span]:
    """The ranges from each of `starts` to the next, the last one to `end`."""
    return [Span(start, stop) for start, stop in zip(starts, (*starts[1:], end), strict=True)]
