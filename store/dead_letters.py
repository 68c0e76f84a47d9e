"""Dead letters: what died, where, why, and the way back. Payloads hold ids and hashes only."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from typing import Any
from uuid import UUID, uuid4

import sqlalchemy as sa
from sqlmodel import Session, col, select

from store.models import DeadLetter, now
from store.unit_of_work import UnitOfWork

CODE_VERSION = version("attest")


class NotReplayable(ValueError):
    """Replaying this dead letter is refused; the text says why and what to do."""


@dataclass(frozen=True)
class Death:
    """How a message died."""

    stage: str
    payload: Mapping[str, Any]
    error_type: str
    cause: str
    traceback: str = ""
    attempts: int = 1
    outbox_id: UUID | None = None
    subject: str | None = None
    first_failed_at: datetime | None = None

    @property
    def fingerprint(self) -> str:
        """The same fault has the same fingerprint, whichever ids and numbers it names."""
        shape = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|0x[0-9a-f]+|\d+", "#", self.cause)
        return hashlib.sha256(f"{self.stage}|{self.error_type}|{shape}".encode()).hexdigest()[:16]


def add(work: UnitOfWork, death: Death) -> UUID:
    """Write `death` in the unit of work's transaction, with its audit event."""
    schema = death.payload.get("schema")
    letter = DeadLetter(
        id=uuid4(),
        outbox_id=death.outbox_id,
        stage=death.stage,
        subject=death.subject,
        payload=dict(death.payload),
        error_type=death.error_type,
        cause=death.cause,
        traceback=death.traceback,
        fingerprint=death.fingerprint,
        attempts=death.attempts,
        code_version=CODE_VERSION,
        message_schema=schema if isinstance(schema, str) else None,
        first_failed_at=death.first_failed_at or now(),
        died_at=now(),
    )
    work.session.add(letter)
    work.record(
        "message.dead",
        death.subject or death.outbox_id or letter.id,
        dead_letter_id=str(letter.id),
        stage=death.stage,
        error_type=death.error_type,
        fingerprint=letter.fingerprint,
    )
    return letter.id


def is_open(session: Session, outbox_id: UUID) -> bool:
    """Whether an unresolved dead letter of this promise exists."""
    query = select(DeadLetter.id).where(
        DeadLetter.outbox_id == outbox_id, DeadLetter.status == "open"
    )
    return session.exec(query).first() is not None


def listing(
    session: Session, *, status: str | None = "open", stage: str | None = None, limit: int = 100
) -> list[DeadLetter]:
    """The newest dead letters, filtered."""
    query = select(DeadLetter).order_by(col(DeadLetter.died_at).desc()).limit(limit)
    if status:
        query = query.where(DeadLetter.status == status)
    if stage:
        query = query.where(DeadLetter.stage == stage)
    return list(session.exec(query))


def replay(work: UnitOfWork, letter_id: UUID) -> DeadLetter:
    """Set the work of a dead letter pending again, with fresh attempts.

    Raises:
        LookupError: there is no such dead letter.
        NotReplayable: it was resolved already, or nothing was promised that could be kept.
    """
    letter = work.session.get(DeadLetter, letter_id, with_for_update=True)
    if letter is None:
        raise LookupError(f"there is no dead letter {letter_id}")
    if letter.status != "open":
        raise NotReplayable(f"dead letter {letter_id} is {letter.status} already")
    if letter.error_type in {"UnknownMessage", "InvalidMessage", "UndecodableMessage"}:
        raise NotReplayable(f"it can never succeed as it is: {letter.cause}")
    promised = work.session.execute(
        sa.text(
            "UPDATE outbox SET status = 'pending', not_before = clock_timestamp(), "
            "publish_count = 0, done_at = NULL WHERE id = :id AND status = 'dead' RETURNING id"
        ),
        {"id": letter.outbox_id},
    ).one_or_none()
    if promised is None:
        raise NotReplayable("its promise in the outbox is gone or was kept in the meantime")
    work.session.execute(
        sa.text(
            "UPDATE stage_run SET status = 'waiting', attempts = 0, finished_at = NULL "
            "WHERE stage = :stage AND subject = :subject AND status = 'dead'"
        ),
        {"stage": letter.stage, "subject": letter.subject},
    )
    work.session.execute(
        sa.text(
            "UPDATE question SET status = 'queued', error = NULL, finished_at = NULL "
            "WHERE id::text = :subject AND status = 'failed'"
        ),
        {"subject": letter.subject},
    )
    work.session.execute(
        sa.text(
            "UPDATE ingest_item SET status = 'pending', error = NULL, finished_at = NULL "
            "WHERE id::text = :subject AND status = 'failed'"
        ),
        {"subject": letter.subject},
    )
    letter.status, letter.replays, letter.resolved_at = "replayed", letter.replays + 1, now()
    work.session.add(letter)
    work.record("message.replayed", letter.subject or letter.id, dead_letter_id=str(letter.id))
    return letter
