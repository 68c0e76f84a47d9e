"""Watches: which query is followed at which source, and which documents each vouches for."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID, uuid4

import sqlalchemy as sa
from sqlmodel import Session, col, select

from store.core.unit_of_work import UnitOfWork
from store.models import Watch

MISSING_HOURS = 20.0
"""Our choice: below the shortest interval of two daily refreshes, longer than an outage."""

Origin = Literal["user", "suggested", "abstention"]


def follow(work: UnitOfWork, source: str, query: str, origin: Origin, at: datetime) -> Watch:
    """The watch on `query` at `source`, created if there is none.

    A watch that a user asks for is active from then on, whoever created it. One that an abstention
    created is asked once: what nobody chose to follow is not polled for ever, and what somebody
    stopped following stays stopped.
    """
    made = work.session.execute(
        sa.text(
            """
            INSERT INTO watch
                (id, source, query, origin, active, marks, failures, created_at, followed_at)
            VALUES (:id, :source, :query, :origin, :active, '{}', 0, :at, :at)
            ON CONFLICT (source, query) DO NOTHING RETURNING id
            """
        ),
        {
            "id": uuid4(),
            "source": source,
            "query": query,
            "origin": origin,
            "active": origin != "abstention",
            "at": at,
        },
    ).scalar_one_or_none()
    watch = work.session.exec(
        select(Watch).where(col(Watch.source) == source, col(Watch.query) == query)
    ).one()
    if made is not None:
        work.record("watch.added", watch.id, source=source, origin=origin)
    elif origin != "abstention" and not watch.active:
        # A refresh is locked before its watch everywhere; otherwise the two could deadlock.
        work.session.execute(
            sa.text(
                "SELECT FROM refresh WHERE watch_id = :id "
                "AND status IN ('queued', 'fetching', 'storing') FOR NO KEY UPDATE"
            ),
            {"id": watch.id},
        )
        watch.active, watch.origin, watch.followed_at = True, origin, at
        work.session.add(watch)
        work.record("watch.resumed", watch.id, source=source)
    return watch


def stop(work: UnitOfWork, watch_id: UUID, at: datetime) -> Watch:
    """Stop following: what is held stays, and grows stale. An open breach ends.

    Raises:
        LookupError: there is no such watch.
    """
    watch = work.session.get(Watch, watch_id)
    if watch is None:
        raise LookupError(f"there is no watch {watch_id}")
    if watch.active:
        watch.active = False
        work.session.add(watch)
        work.session.execute(
            sa.text(
                "UPDATE sla_breach SET ended_at = greatest(:at, began_at) "
                "WHERE watch_id = :id AND ended_at IS NULL"
            ),
            {"at": at, "id": watch.id},
        )
        work.record("watch.stopped", watch.id, source=watch.source)
    return watch


def listing(session: Session, source: str | None = None) -> list[Watch]:
    """All watches, or those of one source, in a stable order."""
    rows = select(Watch).order_by(col(Watch.source), col(Watch.created_at), col(Watch.id))
    return list(session.exec(rows if source is None else rows.where(col(Watch.source) == source)))


def vouch(
    session: Session, watch_id: UUID, source: str, document_ids: Collection[UUID], seen_at: datetime
) -> None:
    """Record that the watch saw these documents at its source, as they are held.

    Watches of other sources no longer vouch for them: the held version is not theirs.
    """
    ids = sorted(set(document_ids))
    session.execute(
        sa.text(
            """
            INSERT INTO watch_document (watch_id, document_id, seen_at)
            SELECT :watch, id, :at FROM unnest(CAST(:ids AS uuid[])) AS given (id)
            ON CONFLICT (watch_id, document_id) DO UPDATE
            SET seen_at = greatest(watch_document.seen_at, excluded.seen_at),
                missing_since = NULL, broken = NULL
            """
        ),
        {"watch": watch_id, "ids": ids, "at": seen_at},
    )
    session.execute(
        sa.text(
            "DELETE FROM watch_document wd USING watch w WHERE w.id = wd.watch_id "
            "AND wd.document_id = ANY(:ids) AND w.source <> :source"
        ),
        {"ids": ids, "source": source},
    )


def displaced(session: Session, document_ids: Collection[UUID], source: str | None) -> None:
    """The held versions of these documents come from `source`, or from a user. Watches of other
    sources no longer vouch for them, until their own source's record is held again."""
    session.execute(
        sa.text(
            "UPDATE watch_document wd SET broken = 'another source''s record is held' "
            "FROM watch w WHERE w.id = wd.watch_id AND wd.document_id = ANY(:ids) "
            "AND w.source IS DISTINCT FROM :source"
        ),
        {"ids": list(document_ids), "source": source},
    )


def sighted(
    session: Session, watch_id: UUID, document_ids: Collection[UUID], seen_at: datetime
) -> None:
    """Mark these documents as not missing: they came, though something else is held of them."""
    session.execute(
        sa.text(
            """
            UPDATE watch_document SET seen_at = greatest(seen_at, :at), missing_since = NULL,
                broken = CASE WHEN missing_since IS NULL THEN broken END
            WHERE watch_id = :watch AND document_id = ANY(CAST(:ids AS uuid[]))
            """
        ),
        {"watch": watch_id, "ids": list(document_ids), "at": seen_at},
    )


def doubt(session: Session, watch_id: UUID, reasons: Mapping[str, str], seen_at: datetime) -> int:
    """Record that these documents (by key) came at `seen_at` and could not be read: the watch no
    longer vouches for them, but they are not missing.

    Returns how many of them are held.
    """
    rows = session.execute(
        sa.text(
            """
            UPDATE watch_document wd
            SET broken = given.reason, seen_at = greatest(wd.seen_at, :at), missing_since = NULL
            FROM unnest(CAST(:keys AS varchar[]), CAST(:reasons AS varchar[]))
                 AS given (key, reason), document d
            WHERE d.source_key = given.key AND wd.document_id = d.id AND wd.watch_id = :watch
            RETURNING wd.document_id
            """
        ),
        {
            "watch": watch_id,
            "keys": list(reasons),
            "reasons": list(reasons.values()),
            "at": seen_at,
        },
    )
    return len(rows.all())


@dataclass(frozen=True)
class Due:
    """A document that a watch has not fetched itself for long."""

    document_id: UUID
    key: str


def unseen_since(
    session: Session, watch_id: UUID, before: datetime, *, but_not: Collection[str], limit: int
) -> Sequence[Due]:
    """The documents of the watch that it last fetched before `before`, oldest first.

    `but_not`: ids of documents to leave out.
    """
    rows = session.execute(
        sa.text(
            "SELECT d.id, d.source_key FROM watch_document wd JOIN document d "
            "ON d.id = wd.document_id WHERE wd.watch_id = :watch AND wd.seen_at < :before "
            "AND d.id <> ALL(CAST(:but_not AS uuid[])) "
            "ORDER BY wd.seen_at, d.id LIMIT :limit"
        ),
        {"watch": watch_id, "before": before, "limit": limit, "but_not": list(but_not)},
    )
    return [Due(row.id, row.source_key) for row in rows]


def account_for(
    session: Session, watch_id: UUID, asked: Collection[str], started_at: datetime, at: datetime
) -> list[UUID]:
    """Mark the documents asked for by id since `started_at` that did not come as missing.

    Returns those missing for the second time: one empty answer may be a hiccup, two that lie
    `MISSING_HOURS` apart are a deletion. The watch follows them again when it sees them again.
    """
    rows = session.execute(
        sa.text(
            """
            UPDATE watch_document wd
            SET missing_since = coalesce(wd.missing_since, :at), broken = 'missing at the source'
            WHERE wd.watch_id = :watch AND wd.document_id = ANY(CAST(:ids AS uuid[]))
              AND wd.seen_at < :started_at
            RETURNING wd.document_id, wd.missing_since
            """
        ),
        {"watch": watch_id, "ids": list(asked), "started_at": started_at, "at": at},
    )
    long_ago = at - timedelta(hours=MISSING_HOURS)
    lost = [row.document_id for row in rows if row.missing_since <= long_ago]
    session.execute(
        sa.text(
            "DELETE FROM watch_document WHERE watch_id = :watch "
            "AND document_id = ANY(CAST(:ids AS uuid[]))"
        ),
        {"watch": watch_id, "ids": lost},
    )
    return lost


def watches_of(session: Session, document_ids: Collection[UUID]) -> list[UUID]:
    """The watches that follow any of these documents."""
    rows = session.execute(
        sa.text(
            "SELECT DISTINCT watch_id FROM watch_document WHERE document_id = ANY(:ids) "
            "ORDER BY watch_id"
        ),
        {"ids": list(document_ids)},
    )
    return list(rows.scalars())
