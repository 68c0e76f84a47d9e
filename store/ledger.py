"""The stage ledger: who works on what, until when, and with which fencing token (invariant 2).

Unique on (stage, subject, input_hash): the same work asked for twice is done once. Attempts are
counted in the claim's own transaction, before the work, so that a message which kills its worker
is counted too (DRAMATIQ 2.4 D1).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session


class LeaseLost(RuntimeError):
    """Somebody else holds this work now: what was done is thrown away, nothing is written."""


class Standing(StrEnum):
    """Why a claim was refused."""

    DONE = "done"
    DEAD = "dead"
    RUNNING = "running"


@dataclass(frozen=True)
class Claim:
    """The right to do one piece of work until the lease ends, proven by `token`."""

    run_id: int
    token: int
    attempts: int


_CLAIM = sa.text(
    """
    INSERT INTO stage_run AS run (stage, subject, input_hash, status, attempts, token, worker,
                                  outbox_id, lease_until, started_at)
    VALUES (:stage, :subject, :input_hash, 'running', 1, nextval('fencing_token'), :worker,
            :outbox_id, clock_timestamp() + make_interval(secs => :lease), clock_timestamp())
    ON CONFLICT (stage, subject, input_hash) DO UPDATE
    SET status = 'running', attempts = run.attempts + 1, token = nextval('fencing_token'),
        worker = excluded.worker, outbox_id = excluded.outbox_id,
        lease_until = excluded.lease_until, started_at = excluded.started_at
    WHERE run.status = 'waiting'
       OR (run.status = 'running' AND run.lease_until < clock_timestamp())
    RETURNING id, token, attempts
    """
)
_STANDING = sa.text(
    "SELECT status FROM stage_run WHERE stage = :stage AND subject = :subject "
    "AND input_hash = :input_hash"
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
) -> Claim | Standing:
    """Claim a piece of work in the session's (short) transaction, or say why not."""
    key = {"stage": stage, "subject": subject, "input_hash": input_hash}
    row = session.execute(
        _CLAIM, {**key, "worker": worker, "outbox_id": outbox_id, "lease": lease_seconds}
    ).one_or_none()
    if row is not None:
        return Claim(row.id, row.token, row.attempts)
    status = session.execute(_STANDING, key).scalar_one()
    # A run that waits again by now was released between the two statements: someone comes back.
    return Standing(status) if status in ("done", "dead") else Standing.RUNNING


def renew(session: Session, claims: Iterable[Claim], lease_seconds: float) -> set[int]:
    """Extend the leases of `claims`; returns the tokens that still hold."""
    tokens = [held.token for held in claims]
    rows = session.execute(
        sa.text(
            "UPDATE stage_run SET lease_until = clock_timestamp() + make_interval(secs => :lease) "
            "WHERE token = ANY(:tokens) AND status = 'running' RETURNING token"
        ),
        {"lease": lease_seconds, "tokens": tokens},
    )
    return {row.token for row in rows}


def _close(session: Session, held: Claim, change: str, **values: object) -> None:
    row = session.execute(
        sa.text(
            f"UPDATE stage_run SET {change} "  # noqa: S608  our own fragments, no input
            "WHERE id = :run_id AND token = :token AND status = 'running' RETURNING id"
        ),
        {"run_id": held.run_id, "token": held.token, **values},
    ).one_or_none()
    if row is None:
        raise LeaseLost(f"run {held.run_id}: token {held.token} is stale")


def finish(session: Session, held: Claim) -> None:
    """Mark the work done; the row stays locked until the caller's transaction ends.

    Raises:
        LeaseLost: the token is stale, so the caller must not commit.
    """
    _close(
        session,
        held,
        "status = 'done', finished_at = clock_timestamp(), lease_until = NULL, error = NULL",
    )


def put_back(session: Session, held: Claim, reason: str, *, counts: bool) -> None:
    """Let the work wait for its next attempt; `counts=False` gives this attempt back.

    Raises:
        LeaseLost: the token is stale.
    """
    refund = "" if counts else ", attempts = attempts - 1"
    _close(
        session,
        held,
        "status = 'waiting', lease_until = NULL, error = :reason, "
        f"first_failed_at = coalesce(first_failed_at, clock_timestamp()){refund}",
        reason=reason,
    )


def bury(session: Session, held: Claim, reason: str) -> None:
    """Mark the work dead.

    Raises:
        LeaseLost: the token is stale.
    """
    _close(
        session,
        held,
        "status = 'dead', finished_at = clock_timestamp(), lease_until = NULL, error = :reason, "
        "first_failed_at = coalesce(first_failed_at, clock_timestamp())",
        reason=reason,
    )
