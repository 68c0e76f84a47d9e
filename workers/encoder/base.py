"""What an encoder is, the errors it raises, and the rule that cuts long texts into windows."""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from store.core.spans import Span

Matrix = NDArray[np.float32]
Rule = Callable[[int], bool]


class EncoderUnavailable(RuntimeError):
    """The encoder cannot answer now and may later: no connection, time-out, 429, 5xx.

    `retry_after` is the pause in seconds that the service asked for, or None.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class EncoderRefused(RuntimeError):
    """The encoder will not answer this request however often it is sent."""


class Encoder(Protocol):
    """Turns texts into vectors. Safe to call from several threads at once."""

    @property
    def name(self) -> str:
        """Weights, pooling and window rule in one word: vectors compare only under equal names."""

    @property
    def dimensions(self) -> int:
        """Components of one vector."""

    def encode(self, texts: Sequence[str]) -> Matrix:
        """The vectors of `texts`, in their order: shape (n, dimensions), rows of length 1.

        Raises:
            EncoderUnavailable: a remote encoder may answer later.
            EncoderRefused: a remote encoder will never answer this.
        """

    def windows(self, text: str) -> list[Span]:
        """Ranges of `text` that follow each other without a gap, each read whole by the encoder."""


def unit_rows(vectors: Matrix) -> Matrix:
    """`vectors` with every row scaled to length 1; a row of zeros becomes the first unit vector.

    Vectors without a direction have no cosine distance in pgvector (NaN), so none is let out.
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
    """Where each piece of `count` units begins, no piece longer than `limit` units.

    Pieces are made about equally long, because a short remainder would be a vector of almost
    nothing. Each cut is the first preferred place at or after the even one, else the last one in
    the half before it, else the same with allowed places; where there is none, it is at the limit.

    Args:
        count: units (tokens or characters) of the whole.
        limit: units that fit in one piece, at least 1.
        preferred: whether unit `i` may begin a piece without harm, such as after white space.
        allowed: whether unit `i` may begin a piece at all.
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
    half = (begin + even) // 2  # a preferred place nearer to the beginning leaves a crumb
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
    """The ranges that begin at `starts` and reach to the next start, the last one to `end`."""
    return [Span(a, b) for a, b in zip(starts, (*starts[1:], end), strict=True)]
