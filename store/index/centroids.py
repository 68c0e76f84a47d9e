"""Where documents lie in the space of the encoder, as far as their chunks were found."""

from collections.abc import Hashable, Mapping

import numpy as np
from numpy.typing import NDArray
from sqlmodel import Session

_VECTORS = """
    SELECT chunk_id, halfvec_send(embedding) FROM chunk_vector
    WHERE chunk_id = ANY(CAST(%(ids)s AS bigint[]))
"""
_HEADER_BYTES = 4  # pgvector's halfvec_send: two 16-bit numbers, then the components, big-endian


def centroids(
    session: Session, document: Mapping[int, Hashable]
) -> tuple[dict[int, int], NDArray[np.float32]]:
    """The mean vector of each document's found chunks.

    Args:
        document: the document of each found chunk, by the chunk's id.

    Returns:
        The row of each chunk's document, and the vectors, of length 1, (n, d).
    """
    number = {name: n for n, name in enumerate(dict.fromkeys(document.values()))}
    rows = {chunk_id: number[name] for chunk_id, name in document.items()}
    connection = session.connection().connection.driver_connection
    assert connection is not None
    with connection.cursor(binary=True) as cursor:
        cursor.execute(_VECTORS, {"ids": list(document)})
        found = sorted((rows[chunk_id], vector) for chunk_id, vector in cursor.fetchall())
    if not found:
        return rows, np.zeros((len(number), 1), np.float32)
    joined = b"".join(vector[_HEADER_BYTES:] for _, vector in found)
    windows = np.frombuffer(joined, ">f2").reshape(len(found), -1).astype(np.float32)
    of = np.array([row for row, _ in found])
    first = np.flatnonzero(np.diff(of, prepend=-1))
    sums = np.zeros((len(number), windows.shape[1]), np.float32)
    sums[of[first]] = np.add.reduceat(windows, first)
    return rows, sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
