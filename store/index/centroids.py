"""Where documents lie in the space of the encoder, as far as their chunks were found."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from sqlmodel import Session

from store.index.wire import Ids, ask

_VECTORS = """
    SELECT c.id, uuid_send(c.version_id), halfvec_send(v.embedding)
    FROM chunk c LEFT JOIN chunk_vector v ON v.chunk_id = c.id
    WHERE c.id = ANY(CAST(%(ids)s AS bigint[]))
"""
_HEADER_BYTES = 4  # pgvector's halfvec_send: two 16-bit numbers, then the components, big-endian

Centroids = tuple[dict[int, int], NDArray[np.float32]]
"""The row of each found chunk's document, and a vector a row, of length 1, (n, d)."""


def centroids(session: Session, chunks: Ids) -> Callable[[], Centroids]:
    """The mean vector of each document's found chunks.

    A document counts by its version: of one document, one version stands at a time.

    Args:
        chunks: the ids of what was found, of standing versions.

    Returns:
        What works them out: the caller may ask PostgreSQL for something else before.
    """
    windows = ask(session, _VECTORS, {"ids": chunks}).fetchall()
    return lambda: _means(windows)


def _means(windows: Sequence[tuple[int, bytes, bytes | None]]) -> Centroids:
    number: dict[bytes, int] = {}
    rows = {
        chunk_id: number.setdefault(version, len(number))
        for chunk_id, version, _ in sorted(windows)
    }
    found = sorted((rows[chunk_id], vector) for chunk_id, _, vector in windows if vector)
    if not found:
        return rows, np.zeros((len(number), 1), np.float32)
    joined = b"".join(vector[_HEADER_BYTES:] for _, vector in found)
    vectors = np.frombuffer(joined, ">f2").reshape(len(found), -1).astype(np.float32)
    of = np.array([row for row, _ in found])
    first = np.flatnonzero(np.diff(of, prepend=-1))
    sums = np.zeros((len(number), vectors.shape[1]), np.float32)
    sums[of[first]] = np.add.reduceat(vectors, first)
    return rows, sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
