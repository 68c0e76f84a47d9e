"""Feature hashing: vectors without a model, for load tests only.

Texts with equal words get near vectors, texts with equal meaning do not: never serve answers from
it.
Weinberger et al., Feature Hashing for Large Scale Multitask Learning (ICML 2009), section 2.
"""

import re
import zlib
from collections.abc import Sequence
from itertools import chain

import numpy as np

from store.core.spans import Span
from workers.encoder.base import Matrix, unit_rows

_WORD = re.compile(r"\w+")
_REMEMBERED_WORDS = 1 << 17  # some 15 MB
_TEXTS_AT_ONCE = 1024  # bounds the counting table to a few MB


class _Buckets(dict[str, int]):
    """Maps words to buckets; the buckets from `dimensions` on count negatively."""

    def __init__(self, dimensions: int) -> None:
        super().__init__()
        self._buckets = 2 * dimensions

    def __missing__(self, word: str) -> int:
        if len(self) >= _REMEMBERED_WORDS:
            self.clear()
        bucket = self[word] = zlib.crc32(word.encode("utf-8", "surrogatepass")) % self._buckets
        return bucket


class HashEncoder:
    """Signed counts of lower-case words in `dimensions` hashed buckets. For load tests only."""

    def __init__(self, dimensions: int = 384) -> None:
        self.name = f"hash-crc32/{dimensions}/whole"
        self.dimensions = dimensions
        self._buckets = _Buckets(dimensions)

    def encode(self, texts: Sequence[str]) -> Matrix:
        """One vector a text, shape (n, dimensions), rows of length 1; see `Encoder.encode`."""
        parts = [
            self._encode(texts[i : i + _TEXTS_AT_ONCE])
            for i in range(0, len(texts), _TEXTS_AT_ONCE)
        ]
        return np.concatenate(parts) if parts else np.zeros((0, self.dimensions), np.float32)

    def windows(self, text: str) -> list[Span]:
        """The whole text as one range: its length is not limited."""
        return [Span(0, len(text))]

    def _encode(self, texts: Sequence[str]) -> Matrix:
        words = [_WORD.findall(text.lower()) for text in texts]
        lengths = [len(text_words) for text_words in words]
        width = 2 * self.dimensions
        buckets = np.fromiter(
            map(self._buckets.__getitem__, chain.from_iterable(words)), np.int64, sum(lengths)
        )
        rows = np.repeat(np.arange(len(texts), dtype=np.int64) * width, lengths)
        counts = np.bincount(rows + buckets, minlength=len(texts) * width).reshape(-1, width)
        signed = counts[:, : self.dimensions] - counts[:, self.dimensions :]
        return unit_rows(signed.astype(np.float32))
