"""The relay publishes the outbox; the reconciler finds lost messages (invariants 1 and 3)."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from uuid import UUID

from sqlmodel import Session

from store.core.unit_of_work import Promise, Publisher, Store
from store.pipeline import outbox


def sweep(store: Store, publish: Publisher, *, limit: int = 500) -> int:
    """Publish due outbox messages; returns how many.

    They are published inside the transaction that marks them: if publishing fails they stay
    pending, and if the process dies in between they are published twice, which the ledger absorbs.
    """
    with Session(store.engine) as session:
        rows = outbox.take_due(session, limit)
        promises: Sequence[Promise] = [Promise(row.id, row.stage, row.payload) for row in rows]
        if promises:
            publish(promises)
        session.commit()
    return len(promises)


def reconcile(
    store: Store,
    backlog: Mapping[str, int],
    *,
    lost_after: float,
    heads: Mapping[UUID, datetime] = MappingProxyType({}),
) -> int:
    """Make lost messages (published, but in no queue) pending again; returns how many."""
    with Session(store.engine) as session:
        count = outbox.take_back_lost(session, backlog, lost_after, heads)
        session.commit()
    return count
