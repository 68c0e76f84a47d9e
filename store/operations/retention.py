"""What is older than words are kept goes by itself (`retention.yaml`)."""

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session

from knowledge.retention import BY_AGE, TextKind, retention_policy
from store.core.unit_of_work import Store
from store.operations import erasure

ACTOR = "scheduler"


def erase_old(store: Store, days: Mapping[TextKind, int], at: datetime) -> Counter[TextKind]:
    """Erase the words of what ended and is older than so many days; gives the rows by kind.

    Each row is a transaction: who holds the dead letters of one and waits for those of another
    meets a replay of both crosswise. Any number of schedulers may do this at once. What is under
    way is left for the next time, and so is a question that was asked anew and has not ended yet.

    Args:
        days: by kind; what is not in it is kept.
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
            for one in ids:
                with (
                    suppress(erasure.UnderWay, erasure.NotThere),
                    store.unit_of_work(ACTOR) as work,
                ):
                    erased[kind] += len(erasure.erase(work, kind, one, BY_AGE))
    return erased


def _due(session: Session, kind: TextKind, before: datetime, tried: set[UUID]) -> list[UUID]:
    """The next batch, the oldest first."""
    holder = erasure.HOLDERS[kind]
    rows = session.execute(
        sa.text(  # the status as a literal, because the index is of these rows only
            f"SELECT id FROM {holder.table} WHERE status IN ('{holder.done}', 'failed') "  # noqa: S608  our own
            "AND created_at < :before AND NOT id = ANY(:tried) ORDER BY created_at LIMIT :batch"
        ),
        {"before": before, "tried": list(tried), "batch": retention_policy().batch},
    )
    return list(rows.scalars())
