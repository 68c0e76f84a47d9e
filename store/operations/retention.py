"""Erases words automatically when their retention period is over (`retention.yaml`)."""

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session

from knowledge.operation.retention import BY_AGE, TextKind, retention_policy
from store.core.unit_of_work import Store
from store.operations import erasure

ACTOR = "scheduler"


def erase_old(store: Store, days: Mapping[TextKind, int], at: datetime) -> Counter[TextKind]:
    """Erase the words of finished rows older than `days`; returns the number of rows by kind.

    Each row is erased in its own transaction: holding the dead letters of one row while waiting for
    those of another could deadlock with a replay of both. Any number of schedulers may run this.
    Work in progress is left for the next run, as is a question that was asked again and has not
    ended yet.

    Args:
        days: retention in days, by kind; other kinds are kept.
    """
    erased: Counter[TextKind] = Counter()
    for kind, kept in days.items():
        before, tried = at - timedelta(days=kept), set[UUID]()
        while True:
            with store.reading() as session:
                ids = _due(session, kind, before, tried)
            if not ids:
                break
            tried.update(ids)
            for row_id in ids:
                with (
                    suppress(erasure.UnderWay, erasure.NotThere),
                    store.unit_of_work(ACTOR) as work,
                ):
                    erased[kind] += len(erasure.erase(work, kind, row_id, BY_AGE))
    return erased


def _due(session: Session, kind: TextKind, before: datetime, tried: set[UUID]) -> list[UUID]:
    """The next batch, the oldest first."""
    holder = erasure.HOLDERS[kind]
    rows = session.execute(
        sa.text(  # the status as a literal, because the index is partial
            f"SELECT id FROM {holder.table} WHERE status IN ('{holder.done}', 'failed') "  # noqa: S608  our own
            "AND created_at < :before AND NOT id = ANY(:tried) ORDER BY created_at LIMIT :batch"
        ),
        {"before": before, "tried": list(tried), "batch": retention_policy().batch},
    )
    return list(rows.scalars())
