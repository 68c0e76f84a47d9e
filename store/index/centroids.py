"""The positions of documents in the encoder's space, from their found chunks."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from sqlmodel import Session

from store.index.partitions import at_each, received_last
from store.index.wire import Ids, ask

_VECTORS = """
    SELECT c.id, uuid_send(c.version_id), halfvec_send(v.embedding)
    FROM chunk c LEFT JOIN chunk_vector v ON v.chunk_id = c.id
    WHERE c.id = ANY(CAST(%(ids)s AS bigint[]))
"""
_HEADER_BYTES = 4  # pgvector's halfvec_send: two 16-bit numbers, then the components, big-endian

Centroids = tuple[dict[int, int], NDArray[np.float32]]
"""The row of each found chunk's document, and one vector of length 1 per row, (n, d)."""


def centroids(session: Session, chunks: Ids) -> Callable[[], Centroids]:
    """The mean vector of each document's found chunks.

    A document is identified by its version: only one version of a document stands at a time.

    Args:
        chunks: the ids of the found chunks, of standing versions.

    Returns:
        A function that computes them, so that the caller can query PostgreSQL first.
    """
    cursor = ask(session, _VECTORS, {"ids": chunks})
    there = at_each(session, lambda _, its: ask(its, _VECTORS, {"ids": chunks}).fetchall)
    windows = cursor.fetchall()
    for found in received_last(session, there).values():
        windows += found
    return lambda: _means(windows)


def _means(windows: Sequence[tuple[int, bytes, bytes | None]]) -> Centroids:
    number: dict[bytes, int] = {}
    rows = {
        chunk_id: number.setdefault(version, len(number))
        for chunk_id, version in sorted({(chunk_id, version) for chunk_id, version, _ in windows})
    }
    placed = sorted((rows[chunk_id], vector) for chunk_id, _, vector in windows if vector)
    if not placed:
        return rows, np.zeros((len(number), 1), np.float32)
    joined = b"".join(vector[_HEADER_BYTES:] for _, vector in placed)
    vectors = np.frombuffer(joined, ">f2").reshape(len(placed), -1).astype(np.float32)
    of = np.array([row for row, _ in placed])
    first = np.flatnonzero(np.diff(of, prepend=-1))
    sums = np.zeros((len(number), vectors.shape[1]), np.float32)
    sums[of[first]] = np.add.reduceat(vectors, first)
    return rows, sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
