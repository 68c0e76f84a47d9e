"""The stage ledger: which worker holds which work, the lease and fencing token (invariant 2).

Unique on (stage, subject, input_hash): the same work requested twice is done once. Attempts are
counted in the claim's own transaction, before the work, so that a message which kills its worker
is counted too (DRAMATIQ 2.4 D1). So are losses: attempts that ended with the death of their worker
and left no result. A claim tells how many losses its work has had.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session


class LeaseLost(RuntimeError):
    """Another worker holds this work now: the result is discarded and nothing is written."""


class Standing(StrEnum):
    """Why a claim was refused."""

    DONE = "done"
    DEAD = "dead"
    RUNNING = "running"
    WAITING = "waiting"


@dataclass(frozen=True)
class Claim:
    """The right to do one piece of work until its lease ends, proven by `token`."""

    run_id: int
    token: int
    attempts: int
    losses: int = 0
    """How many workers died during this work so far."""


_FENCE = (
    "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint) * 1024 "
    "+ nextval('fencing_token') % 1024"
)
"""A claim may be lost with its server, and the sequence's value with it; the time is not given out
twice. The sequence tells claims of one microsecond apart."""
_CLAIM = sa.text(
    f"""
    INSERT INTO stage_run AS run (stage, subject, input_hash, status, attempts, token, worker,
                                  outbox_id, lease_until, deadline, started_at)
    SELECT CAST(:stage AS varchar), :subject, :input_hash, 'running', 1, {_FENCE},
           :worker, CAST(:outbox_id AS uuid),
           clock_timestamp() + make_interval(secs => :lease),
           clock_timestamp() + make_interval(secs => :limit), clock_timestamp()
    WHERE :though_paused OR NOT EXISTS (
        SELECT FROM stage_circuit AS c
        WHERE c.stage = CAST(:stage AS varchar) AND c.state <> 'closed')
    ON CONFLICT (stage, subject, input_hash) DO UPDATE
    SET status = 'running', attempts = run.attempts + 1,
        token = greatest(run.token + 1, excluded.token),
        losses = run.losses + CASE WHEN run.status = 'running' THEN 1 ELSE 0 END,
        worker = excluded.worker, outbox_id = excluded.outbox_id,
        lease_until = excluded.lease_until, deadline = excluded.deadline,
        started_at = excluded.started_at
    WHERE (run.status = 'running' AND run.lease_until < clock_timestamp())
       OR (run.status = 'waiting' AND NOT EXISTS (
            SELECT FROM outbox WHERE outbox.id = run.outbox_id AND outbox.status = 'pending'
                                 AND outbox.not_before > clock_timestamp()))
    RETURNING id, token, attempts, losses,
        CASE WHEN :is_light AND attempts = 1 AND NOT EXISTS (
                SELECT FROM outbox WHERE outbox.id = run.outbox_id AND publish_count > 1)
             THEN set_config('synchronous_commit', 'off', true) END
    """  # noqa: S608  our own fragment
)
_STANDING = sa.text(
    """
    SELECT status FROM stage_run
    WHERE stage = :stage AND subject = :subject AND input_hash = :input_hash
      AND (:though_paused OR NOT EXISTS (
          SELECT FROM stage_circuit AS c WHERE c.stage = :stage AND c.state <> 'closed'))
    """
)


def claim(
    session: Session,
    *,
    stage: str,
    subject: str,
    input_hash: str,
    worker: str,
    outbox_id: UUID | None,
    lease_seconds: float,
    limit_seconds: float | None = None,
    though_paused: bool = True,
    is_light: bool = False,
) -> Claim | Standing | None:
    """Claim a piece of work in the session's (short) transaction, or return why it was refused.

    Work that was put back waits for its time: an earlier second delivery (DRAMATIQ 2.4) neither
    shortens the back-off nor uses an attempt.

    Args:
        limit_seconds: time limit of the attempt; None: no limit is known.
        though_paused: claim also if the stage's circuit (`store.pipeline.circuits`) is not closed;
            if False, the result is then None.
        is_light: do not wait for the disk at the commit of this transaction if the work is claimed
            for the first time and its message was sent once (ADR 0063). Of a server that crashes
            such a claim may be lost, and all that was committed with it; the message is then sent
            again, and counted.
    """
    key = {
        "stage": stage,
        "subject": subject,
        "input_hash": input_hash,
        "though_paused": though_paused,
    }
    row = session.execute(
        _CLAIM,
        {
            **key,
            "worker": worker,
            "outbox_id": outbox_id,
            "lease": lease_seconds,
            "limit": limit_seconds,
            "is_light": is_light,
        },
    ).one_or_none()
    if row is not None:
        return Claim(row.id, row.token, row.attempts, row.losses)
    status = session.execute(_STANDING, key).scalar_one_or_none()
    return None if status is None else Standing(status)


_WITHDRAW = sa.text(
    f"""
    INSERT INTO stage_run AS run (stage, subject, input_hash, status, attempts, token, worker,
                                  started_at, finished_at)
    VALUES (:stage, :subject, :input_hash, 'dead', 0, {_FENCE}, :worker,
            clock_timestamp(), clock_timestamp())
    ON CONFLICT (stage, subject, input_hash) DO UPDATE
    SET status = CASE WHEN run.status = 'done' THEN 'done' ELSE 'dead' END,
        token = greatest(run.token + 1, excluded.token), lease_until = NULL, error = NULL
    WHERE run.status <> 'running' OR run.lease_until < clock_timestamp()
    RETURNING id
    """  # noqa: S608  our own fragment
)


def withdraw(session: Session, *, stage: str, subject: str, input_hash: str, worker: str) -> bool:
    """Prevent this piece of work from being started, whether it was claimed before or not. Returns
    False and changes nothing if a worker holds a lease on it."""
    row = session.execute(
        _WITHDRAW,
        {"stage": stage, "subject": subject, "input_hash": input_hash, "worker": worker},
    ).one_or_none()
    return row is not None


_RENEW = sa.text(
    """
    WITH held AS (
        SELECT id, token FROM stage_run
        WHERE id = ANY(:ids) AND token = ANY(:tokens) AND status = 'running'),
    free AS (
        SELECT run.id FROM stage_run AS run JOIN held ON held.id = run.id
        WHERE run.token = held.token AND run.status = 'running' FOR UPDATE OF run SKIP LOCKED),
    renewed AS (
        UPDATE stage_run SET lease_until = clock_timestamp() + make_interval(secs => :lease)
        FROM free WHERE stage_run.id = free.id)
    SELECT token FROM held
    """
)


def renew(session: Session, claims: Iterable[Claim], lease_seconds: float) -> set[int]:
    """Extend the leases of `claims`; returns the tokens that are still valid.

    A locked row is being committed or claimed. It is skipped, so that one slow commit does not let
    the other leases of its process run out.
    """
    held = list(claims)
    rows = session.execute(
        _RENEW,
        {
            "ids": [claim.run_id for claim in held],
            "tokens": [claim.token for claim in held],
            "lease": lease_seconds,
        },
    )
    return {row.token for row in rows}


def _close(session: Session, held: Claim, change: str, **values: object) -> datetime | None:
    row = session.execute(
        sa.text(
            f"UPDATE stage_run SET {change} "  # noqa: S608  our own fragments, no input
            "WHERE id = :run_id AND token = :token AND status = 'running' RETURNING first_failed_at"
        ),
        {"run_id": held.run_id, "token": held.token, **values},
    ).one_or_none()
    if row is None:
        raise _lost(held)
    first_failed_at: datetime | None = row.first_failed_at
    return first_failed_at


_FINISH = sa.text(
    """
    WITH run AS (
        UPDATE stage_run SET status = 'done', finished_at = clock_timestamp(), lease_until = NULL,
                             error = NULL
        WHERE id = :run_id AND token = :token AND status = 'running' RETURNING id),
    promise AS (
        UPDATE outbox SET status = 'done', done_at = clock_timestamp()
        WHERE id = :outbox_id AND status <> 'done' AND EXISTS (SELECT FROM run))
    SELECT id FROM run
    """
)


def finish(session: Session, held: Claim, outbox_id: UUID | None = None) -> None:
    """Mark the work and its outbox message done, in one statement: every stage does both.

    The row stays locked until the caller's transaction ends.

    Raises:
        LeaseLost: the token is stale, so the caller must not commit.
    """
    values = {"run_id": held.run_id, "token": held.token, "outbox_id": outbox_id}
    if session.execute(_FINISH, values).one_or_none() is None:
        raise _lost(held)


def _lost(held: Claim) -> LeaseLost:
    return LeaseLost(f"run {held.run_id}: token {held.token} is stale")


def put_back(
    session: Session, held: Claim, reason: str, *, counts: bool, lost: bool = False
) -> None:
    """Let the work wait for its next attempt; with `counts=False` this attempt is not counted.

    Args:
        lost: the attempt exceeded its worker's limits, so it counts as a loss.

    Raises:
        LeaseLost: the token is stale.
    """
    refund = ("" if counts else ", attempts = attempts - 1") + (
        ", losses = losses + 1" if lost else ""
    )
    _close(
        session,
        held,
        "status = 'waiting', lease_until = NULL, error = :reason, "
        f"first_failed_at = coalesce(first_failed_at, clock_timestamp()){refund}",
        reason=reason,
    )


def bury(session: Session, held: Claim, reason: str) -> datetime:
    """Mark the work dead; returns when it failed for the first time.

    Raises:
        LeaseLost: the token is stale.
    """
    first_failed_at = _close(
        session,
        held,
        "status = 'dead', finished_at = clock_timestamp(), lease_until = NULL, error = :reason, "
        "first_failed_at = coalesce(first_failed_at, clock_timestamp())",
        reason=reason,
    )
    assert first_failed_at is not None
    return first_failed_at
