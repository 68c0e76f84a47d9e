"""The outbox: every message is a row first (invariant 3). Redis only wakes workers.

A row is `pending` (to be published at `not_before`), `published` (a broker should hold it), `done`
(its stage committed) or `dead`. A published row without a live lease that no broker holds is lost:
it becomes pending again.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session

from store.core.copying import uuid_array

SLOWEST_REPUBLISH_SECONDS = 300.0
BACKLOG_SECONDS = 600.0
"""How long published rows of a queue that still holds messages may wait, doubled after each
publication: such a queue is slow, not lossy, and a queue without a worker must not fill with
copies. Rows published well before the message at its front have left it: this does not apply."""

PUT = """
    INSERT INTO outbox (id, stage, payload, request_id, status, publish_count,
                        not_before, published_at, created_at)
    SELECT id, stage, payload, request_id, 'published', 1,
           clock_timestamp(), clock_timestamp(), clock_timestamp()
    FROM unnest(CAST(:promise_ids AS uuid[]), CAST(:promise_stages AS varchar[]),
                CAST(:promise_payloads AS jsonb[]), CAST(:promise_requests AS uuid[]))
         AS promise (id, stage, payload, request_id)
"""
"""Inserts new rows (`columns`); for use within larger statements.

Rows are written as published, because they are about to be: that saves a second commit per hop. If
it never happens, the reconciler finds a message that nobody claimed; so its clock dates them."""
_PUT = sa.text(PUT)


def columns(promises: Sequence[Mapping[str, Any]]) -> dict[str, object]:
    """The parameters of `PUT`; each promise has `id`, `stage`, `payload` and `request_id`."""
    return {
        "promise_ids": uuid_array([promise["id"] for promise in promises]),
        "promise_stages": [promise["stage"] for promise in promises],
        "promise_payloads": [json.dumps(promise["payload"]) for promise in promises],
        "promise_requests": uuid_array([promise["request_id"] for promise in promises]),
    }


def put(session: Session, promises: Sequence[Mapping[str, Any]]) -> None:
    """Write new rows, to be published as soon as the session's transaction has committed."""
    session.execute(_PUT, columns(promises))


def take_due(
    session: Session, limit: int = 500
) -> list[sa.Row[tuple[UUID, str, dict[str, object]]]]:
    """Mark the due rows as published and return them; publish them before the commit.

    Any number of relays may run: rows locked by another relay are skipped.
    """
    return list(
        session.execute(
            sa.text(
                """
                WITH due AS (
                    SELECT id FROM outbox
                    WHERE status = 'pending' AND not_before <= clock_timestamp()
                    ORDER BY not_before LIMIT :limit FOR UPDATE SKIP LOCKED)
                UPDATE outbox SET status = 'published', published_at = clock_timestamp(),
                                  publish_count = publish_count + 1
                FROM due WHERE outbox.id = due.id
                RETURNING outbox.id, outbox.stage, outbox.payload
                """
            ),
            {"limit": limit},
        )
    )


def unpublish(session: Session, ids: Sequence[UUID]) -> None:
    """Make these rows pending again, which the broker did not take: the relay retries them."""
    session.execute(
        sa.text(
            "UPDATE outbox SET status = 'pending', not_before = clock_timestamp(), "
            "publish_count = greatest(publish_count - 1, 0) "
            "WHERE id = ANY(:ids) AND status = 'published'"
        ),
        {"ids": list(ids)},
    )


def done(session: Session, outbox_id: UUID) -> None:
    """Mark the outbox message done."""
    session.execute(
        sa.text(
            "UPDATE outbox SET status = 'done', done_at = clock_timestamp() "
            "WHERE id = :id AND status <> 'done'"
        ),
        {"id": outbox_id},
    )


def dead(session: Session, outbox_id: UUID) -> dict[str, object] | None:
    """Mark the outbox message dead; its dead letter says why.

    Returns:
        The payload of the message; None if it was done or dead before, or never existed.
    """
    row = session.execute(
        sa.text(
            "UPDATE outbox SET status = 'dead', done_at = clock_timestamp() "
            "WHERE id = :id AND status IN ('pending', 'published') RETURNING payload"
        ),
        {"id": outbox_id},
    ).one_or_none()
    payload: dict[str, object] | None = None if row is None else row.payload
    return payload


def dead_if_idle(session: Session, outbox_id: UUID) -> dict[str, object] | None:
    """As `dead`, but only if the row is published and no worker holds a lease on it.

    Otherwise a late copy of the message died, and another worker handles the message itself.
    """
    row = session.execute(
        sa.text(
            """
            UPDATE outbox SET status = 'dead', done_at = clock_timestamp()
            WHERE id = :id AND status = 'published' AND NOT EXISTS (
                SELECT FROM stage_run AS run
                WHERE run.outbox_id = outbox.id AND run.status = 'running'
                  AND run.lease_until > clock_timestamp())
            RETURNING payload
            """
        ),
        {"id": outbox_id},
    ).one_or_none()
    payload: dict[str, object] | None = None if row is None else row.payload
    return payload


def dead_with_its_work(
    session: Session, outbox_id: UUID, *, stage: str, subject: str, input_hash: str
) -> None:
    """Mark a second message for work that has died dead too: one dead letter, one replay.

    Nothing changes if the work was revived in the meantime.
    """
    session.execute(
        sa.text(
            """
            UPDATE outbox SET status = 'dead', done_at = clock_timestamp()
            WHERE id = :id AND status = 'published' AND EXISTS (
                SELECT FROM stage_run WHERE stage = :stage AND subject = :subject
                                        AND input_hash = :input_hash AND status = 'dead')
            """
        ),
        {"id": outbox_id, "stage": stage, "subject": subject, "input_hash": input_hash},
    )


def postpone(session: Session, outbox_id: UUID, seconds: float) -> None:
    """Publish again in `seconds`. Retries wait here, not in Redis, where they can be stranded."""
    session.execute(
        sa.text(
            "UPDATE outbox SET status = 'pending', publish_count = 0, "
            "not_before = clock_timestamp() + make_interval(secs => :seconds) "
            "WHERE id = :id AND status IN ('pending', 'published')"
        ),
        {"id": outbox_id, "seconds": seconds},
    )


def take_back_lost(
    session: Session,
    backlog: Mapping[str, int],
    lost_after: float,
    heads: Mapping[UUID, datetime] = MappingProxyType({}),
) -> int:
    """Make published rows pending again that no worker holds and no queue seems to hold.

    A message that a stopping worker puts back goes to the end of its queue and is taken for lost
    once: its copy is then as young as its neighbours. A row is dated by its last publication, but
    the message at the front may stem from an earlier one. So the front counts only if its row was
    published once, and from the time it was sent if that was earlier.

    A row whose work was claimed and whose lease has ended waits in no queue: who ran on with it
    (ADR 0048) had no message of it. It does not wait for others, the first time.

    Args:
        backlog: messages waiting in the broker, by stage.
        lost_after: seconds after publishing, doubled with each publication.
        heads: the message at the front of each queue and when it was sent; see
            `WokenBroker.heads`.
    """
    return len(
        session.execute(
            sa.text(
                """
                WITH head AS MATERIALIZED (
                    SELECT stage, min(least(published_at, sent_at))
                                  - make_interval(secs => :lost_after) AS since
                    FROM unnest(CAST(:heads AS uuid[]), CAST(:sent AS timestamptz[]))
                         AS front (id, sent_at) JOIN outbox USING (id)
                    WHERE status = 'published' AND publish_count = 1 GROUP BY stage)
                UPDATE outbox SET status = 'pending', not_before = clock_timestamp()
                WHERE status = 'published'
                  AND published_at < clock_timestamp() - make_interval(secs =>
                        CASE WHEN stage = ANY(:busy) AND published_at >= coalesce(
                                (SELECT since FROM head WHERE head.stage = outbox.stage),
                                '-infinity')
                              AND NOT (publish_count = 1 AND EXISTS (
                                SELECT FROM stage_run AS run
                                WHERE run.outbox_id = outbox.id AND run.status = 'running'))
                             THEN :backlog * 2 ^ least(greatest(publish_count - 1, 0), 8)
                             ELSE least(:lost_after * 2 ^ least(greatest(publish_count - 1, 0), 16),
                                        :slowest)
                        END)
                  AND NOT EXISTS (SELECT FROM stage_run AS run
                                  WHERE run.outbox_id = outbox.id AND run.status = 'running'
                                    AND run.lease_until > clock_timestamp())
                RETURNING id
                """
            ),
            {
                "busy": [stage for stage, waiting in backlog.items() if waiting > 0],
                "backlog": BACKLOG_SECONDS,
                "lost_after": lost_after,
                "heads": list(heads.keys()),
                "sent": list(heads.values()),
                "slowest": SLOWEST_REPUBLISH_SECONDS,
            },
        ).all()
    )
