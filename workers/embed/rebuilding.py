"""Writes the lost index of a partition anew, from the texts of the first server."""

from collections.abc import Callable
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session

from clinical_text.chunks import Chunk
from store.core.unit_of_work import Store
from store.documents.documents import get_versions
from store.index.dense import require_encoder
from store.index.writing import write_partition
from store.operations import partitions
from workers.embed.stage import encode
from workers.encoder import Encoder

AT_ONCE = 50
"""Versions in one transaction, and in one segment. Ours: as a message of an import has."""
_NEXT = sa.text(
    "SELECT version_id FROM version_partition WHERE name = :name AND version_id > :after "
    "ORDER BY version_id LIMIT :most"
)
_FIRST = UUID(int=0)


def rebuild(
    store: Store,
    encoder: Encoder,
    name: str,
    actor: str,
    told: Callable[[int], None] = lambda _: None,
) -> int:
    """Write what a partition should hold and does not; returns how many versions that were.

    Its database may be empty, or hold what an interrupted run left. Meanwhile it is not searched:
    answers say so, and no work goes there.

    Args:
        told: is told of the versions that were looked at so far.

    Raises:
        NoPartition, PartitionAway, WrongServer, EncoderMismatch: it cannot be.
    """
    with Session(store.engine) as session:
        require_encoder(session, encoder.name, encoder.dimensions)
        session.commit()
    partitions.set_state(store, name, "rebuilding", actor)
    partitions.prepare(store, name)
    after, seen, written = _FIRST, 0, 0
    while True:
        with Session(store.engine) as session:
            values = {"name": name, "after": after, "most": AT_ONCE}
            page = list(session.execute(_NEXT, values).scalars())
        if not page:
            break
        written += _write(store, encoder, name, page)
        after, seen = page[-1], seen + len(page)
        told(seen)
    partitions.set_state(store, name, "active", actor)
    return written


def _write(store: Store, encoder: Encoder, name: str, page: list[UUID]) -> int:
    with store.servers.transaction(name) as there:
        held = set(there.execute(_HELD, {"ids": page}).scalars())
    lacking = [one for one in page if one not in held]
    if not lacking:
        return 0
    with Session(store.engine) as session:
        versions = {one.id: one for one in get_versions(session, lacking)}
        rows = session.execute(_CHUNKS, {"ids": lacking}).all()
    pieces = [
        (versions[row.version_id], Chunk(row.ordinal, row.section, row.start, row.end))
        for row in rows
    ]
    encoded = encode(encoder, pieces)
    ids = [row.id for row in rows]
    write_partition(store.servers, name, encoded, list(zip(ids, encoded.chunks, strict=True)))
    return len(lacking)


_HELD = sa.text("SELECT DISTINCT version_id FROM chunk WHERE version_id = ANY(:ids)")
_CHUNKS = sa.text(
    'SELECT id, version_id, ordinal, section, start, "end" FROM chunk '
    "WHERE version_id = ANY(:ids) ORDER BY id"
)
