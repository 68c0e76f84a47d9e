"""Writes the index of chunks: on the first server, or on the partitions that their works belong to.

A partition is written before the first server is (`place`): what stands there is then always found
here. The chunks get their ids on the first server beforehand, in a transaction of their own, as a
partition must not hold ids that a crash gives to others. All of it may be repeated.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from uuid import UUID

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlmodel import Session

from store.core.unit_of_work import Store
from store.index import dense, lexical
from store.index.partitions import Servers


@dataclass(frozen=True)
class Window:
    """A range of one chunk that the encoder read, `[start, end)` of the version's text."""

    start: int
    end: int
    vector: NDArray[np.float32]


@dataclass(frozen=True)
class Indexed:
    """One chunk `[start, end)` of one version with its windows and its term counts."""

    version_id: UUID
    ordinal: int
    section: str
    start: int
    end: int
    windows: Sequence[Window]
    term_counts: dict[int, int]


@dataclass(frozen=True)
class Encoded:
    """Chunks, and the encoder of their vectors."""

    chunks: Sequence[Indexed]
    encoder: str
    dimensions: int


def write(session: Session, encoded: Encoded) -> None:
    """Write new chunks and their index in the session's transaction.

    Raises:
        EncoderMismatch: the index has vectors of another encoder.
    """
    dense.require_encoder(session, encoded.encoder, encoded.dimensions)
    _write(session, _insert(session, encoded.chunks), encoded.chunks)


def _write(session: Session, ids: Sequence[int], chunks: Sequence[Indexed]) -> None:
    dense.write_vectors(
        session,
        [
            (chunk_id, window.start, window.end, window.vector)
            for chunk_id, one in zip(ids, chunks, strict=True)
            for window in one.windows
        ],
    )
    lexical.write_segment(
        session,
        [(chunk_id, one.term_counts) for chunk_id, one in zip(ids, chunks, strict=True)],
    )


def _insert(session: Session, chunks: Sequence[Indexed]) -> list[int]:
    """Insert the chunks, or find them; returns their ids in the same order."""
    rows = session.execute(
        sa.text(
            'INSERT INTO chunk (version_id, ordinal, section, start, "end") '
            "SELECT * FROM unnest(CAST(:versions AS uuid[]), CAST(:ordinals AS int[]), "
            "CAST(:sections AS varchar[]), CAST(:starts AS int[]), CAST(:ends AS int[])) "
            "ON CONFLICT (version_id, ordinal) DO UPDATE SET ordinal = excluded.ordinal "
            "RETURNING id, version_id, ordinal"
        ),
        {
            "versions": [one.version_id for one in chunks],
            "ordinals": [one.ordinal for one in chunks],
            "sections": [one.section for one in chunks],
            "starts": [one.start for one in chunks],
            "ends": [one.end for one in chunks],
        },
    )
    ids = {(row.version_id, row.ordinal): row.id for row in rows}
    return [ids[one.version_id, one.ordinal] for one in chunks]


def place(store: Store, encoded: Encoded, documents: Mapping[UUID, UUID]) -> bool:
    """Write the index of new versions on the partitions of their works; False if there are none.

    Args:
        documents: the document of each version.

    Raises:
        PartitionAway: a partition does not answer; what is written already stays.
        EncoderMismatch: the index has vectors of another encoder.
    """
    if not store.servers.urls:
        return False
    with Session(store.engine) as session:
        names = session.execute(ACTIVE).scalars().all()
        if names:
            _record(session, {one: chosen(work, names) for one, work in documents.items()})
        where = placed(session, documents)
        if where:
            dense.require_encoder(session, encoded.encoder, encoded.dimensions)
        ids = _insert(session, encoded.chunks) if where else []
        session.commit()
    for name in sorted(set(where.values())):
        own = [
            (chunk_id, one)
            for chunk_id, one in zip(ids, encoded.chunks, strict=True)
            if where[one.version_id] == name
        ]
        write_partition(store.servers, name, encoded, own)
    return bool(where)


ACTIVE = sa.text("SELECT name FROM index_partition WHERE state = 'active'")


def chosen(work: UUID, names: Sequence[str]) -> str:
    """The partition of a work: always the same among the same ones. Another one takes its share of
    the works of each (rendezvous hashing: Thaler and Ravishankar, IEEE/ACM Trans. Netw. 6, 1998).
    """
    return max(names, key=lambda name: sha256(f"{work}/{name}".encode()).digest())


def _record(session: Session, where: Mapping[UUID, str]) -> None:
    session.execute(
        sa.text(
            "INSERT INTO version_partition (version_id, name) SELECT * FROM "
            "unnest(CAST(:versions AS uuid[]), CAST(:names AS varchar[])) ON CONFLICT DO NOTHING"
        ),
        {"versions": list(where), "names": list(where.values())},
    )


def placed(session: Session, version_ids: Iterable[UUID]) -> dict[UUID, str]:
    """The partition of each version that is on one."""
    rows = session.execute(
        sa.text("SELECT version_id, name FROM version_partition WHERE version_id = ANY(:ids)"),
        {"ids": list(version_ids)},
    )
    return {row.version_id: row.name for row in rows}


def write_partition(
    servers: Servers, name: str, encoded: Encoded, chunks: Sequence[tuple[int, Indexed]]
) -> None:
    """Write those of the chunks, each with its id, that a partition does not have."""
    with servers.transaction(name) as session:
        dense.require_encoder(session, encoded.encoder, encoded.dimensions)
        fresh = set(
            session.execute(
                NEW_CHUNKS,
                {
                    "ids": [key for key, _ in chunks],
                    "versions": [one.version_id for _, one in chunks],
                },
            ).scalars()
        )
        new = [(key, one) for key, one in chunks if key in fresh]
        if new:
            _write(session, [key for key, _ in new], [one for _, one in new])


NEW_CHUNKS = sa.text(
    "INSERT INTO chunk (id, version_id) SELECT * FROM "
    "unnest(CAST(:ids AS bigint[]), CAST(:versions AS uuid[])) ON CONFLICT DO NOTHING RETURNING id"
)
