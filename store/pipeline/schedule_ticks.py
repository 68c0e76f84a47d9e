"""Ticks of scheduled jobs: each (job, fire time) is taken once, however many schedulers run."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session


def take(session: Session, job: str, fire_at: datetime, at: datetime) -> bool:
    """Take the tick; returns False if it was taken before.

    While another transaction is taking it, this waits until that one ends.
    """
    row = session.execute(
        sa.text(
            "INSERT INTO tick (job, fire_at, created_at) VALUES (:job, :fire_at, :at) "
            "ON CONFLICT DO NOTHING RETURNING job"
        ),
        {"job": job, "fire_at": fire_at, "at": at},
    ).one_or_none()
    return row is not None


def began(session: Session, job: str, fire_at: datetime, refresh_id: UUID) -> None:
    """Record which refresh the tick began."""
    session.execute(
        sa.text("UPDATE tick SET refresh_id = :id WHERE job = :job AND fire_at = :fire_at"),
        {"id": refresh_id, "job": job, "fire_at": fire_at},
    )


def taken(session: Session, some: Sequence[tuple[str, datetime]]) -> set[tuple[str, datetime]]:
    """The ticks (job, fire time) among `some` that are taken."""
    rows = session.execute(
        sa.text(
            "SELECT job, fire_at FROM tick JOIN unnest(CAST(:jobs AS varchar[]), "
            "CAST(:times AS timestamptz[])) AS given (job, fire_at) USING (job, fire_at)"
        ),
        {"jobs": [job for job, _ in some], "times": [fire_at for _, fire_at in some]},
    )
    return {(row.job, row.fire_at) for row in rows}


def forget(session: Session, before: datetime, limit: int) -> int:
    """Delete at most `limit` ticks that fired and were taken before `before`; returns how many."""
    rows = session.execute(
        sa.text(
            "DELETE FROM tick WHERE (job, fire_at) IN ("
            "SELECT job, fire_at FROM tick WHERE fire_at < :before AND created_at < :before "
            "ORDER BY job, fire_at LIMIT :limit FOR UPDATE SKIP LOCKED) RETURNING job"
        ),
        {"before": before, "limit": limit},
    )
    return len(rows.all())


@dataclass(frozen=True)
class LastAsked:
    """When a refresh of the watch was last requested, and whether one is in progress."""

    requested_at: datetime | None
    under_way: bool


def last_asked(
    session: Session, watch_ids: Sequence[UUID], until: datetime
) -> dict[UUID, LastAsked]:
    """The last request of each of these watches, ignoring requests after `until`.

    Takes two index look-ups for each watch, however many refreshes it had.
    """
    rows = session.execute(
        sa.text(
            """
            SELECT given.id, last.requested_at, EXISTS (
                SELECT FROM refresh r WHERE r.watch_id = given.id
                                        AND r.status IN ('queued', 'fetching', 'storing')
            ) AS under_way
            FROM unnest(CAST(:ids AS uuid[])) AS given (id)
            LEFT JOIN LATERAL (
                SELECT requested_at FROM refresh r
                WHERE r.watch_id = given.id AND r.requested_at <= :until
                ORDER BY requested_at DESC LIMIT 1
            ) AS last ON true
            """
        ),
        {"ids": list(watch_ids), "until": until},
    )
    return {row.id: LastAsked(row.requested_at, row.under_way) for row in rows}


def under_way(session: Session) -> dict[str, int]:
    """How many refreshes of each source are in progress, whoever requested them."""
    rows = session.execute(
        sa.text(
            "SELECT w.source, count(*) AS refreshes FROM refresh r JOIN watch w "
            "ON w.id = r.watch_id WHERE r.status IN ('queued', 'fetching', 'storing') "
            "GROUP BY w.source"
        )
    )
    return {row.source: row.refreshes for row in rows}
