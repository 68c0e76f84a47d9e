"""Dead letters: what died, where, why, and the way back. Payloads hold ids and hashes only.

A message that is none of ours may carry anything. Of that a dead letter keeps what has the form of
an id, a hash or a schema, and of the rest its length and hash (invariant 11).
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from importlib.metadata import version
from typing import Any
from uuid import UUID, uuid4

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import Session, col, select

from messages import MESSAGES, Stage
from store import outbox, question_states
from store.models import DeadLetter, now
from store.unit_of_work import UnitOfWork

CODE_VERSION = version("attest")
UNREADABLE = frozenset({"UnknownMessage", "InvalidMessage", "UndecodableMessage"})
"""What can never succeed as it is."""
_SPEAKS_NO_WORDS = re.compile(
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{64}"
    rf"|({'|'.join(Stage)})\.v[0-9]{{1,9}}"
)
_FIELDS = frozenset({"payload", "sha256", "bytes"}).union(
    *({field.alias or name for name, field in one.model_fields.items()} for one in MESSAGES)
)
_MAX_DEPTH = 4
_MAX_ITEMS = 1000


class NotReplayable(ValueError):
    """Replaying this dead letter is refused; the text says why and what to do."""


@dataclass(frozen=True)
class Death:
    """How a message died. `id` becomes the dead letter's: a second report of one death is none."""

    stage: str
    payload: Mapping[str, Any]
    error_type: str
    cause: str
    traceback: str = ""
    attempts: int = 1
    outbox_id: UUID | None = None
    subject: str | None = None
    first_failed_at: datetime | None = None
    id: UUID = field(default_factory=uuid4)

    @property
    def fingerprint(self) -> str:
        """The same fault has the same fingerprint, whichever ids and numbers it names."""
        shape = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|0x[0-9a-f]+|\d+", "#", self.cause)
        return hashlib.sha256(f"{self.stage}|{self.error_type}|{shape}".encode()).hexdigest()[:16]


def _without_words(value: Any, depth: int = 0) -> Any:
    """`value` as a dead letter may keep it."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) < 2**63:
        return value
    if isinstance(value, str) and _SPEAKS_NO_WORDS.fullmatch(value):
        return value
    if isinstance(value, Mapping) and depth < _MAX_DEPTH:
        named = list(value.items())[:_MAX_ITEMS]
        return {
            key if key in _FIELDS else f"field {n}": _without_words(inner, depth + 1)
            for n, (key, inner) in enumerate(named, 1)
        }
    if isinstance(value, (list, tuple)) and depth < _MAX_DEPTH:
        return [_without_words(inner, depth + 1) for inner in value[:_MAX_ITEMS]]
    text = value if isinstance(value, str) else repr(value)
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
    return {"sha256": digest, "characters": len(text)}


def add(work: UnitOfWork, death: Death) -> UUID:
    """Write `death` in the unit of work's transaction, with its audit event.

    A promise has one open dead letter: if there is one, this one is not written.

    Returns:
        The id of the open dead letter.
    """
    payload = _without_words(death.payload)
    schema = payload.get("schema")
    letter = DeadLetter(
        id=death.id,
        outbox_id=death.outbox_id,
        stage=death.stage,
        subject=death.subject,
        payload=payload,
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
    written = work.session.execute(
        insert(DeadLetter)
        .values(**letter.model_dump())
        .on_conflict_do_nothing()
        .returning(col(DeadLetter.id))
    ).one_or_none()
    if written is None:
        same = sa.or_(
            col(DeadLetter.id) == letter.id,
            sa.and_(col(DeadLetter.outbox_id) == death.outbox_id, col(DeadLetter.status) == "open"),
        )
        return work.session.exec(select(DeadLetter.id).where(same)).one()
    work.record(
        "message.dead",
        death.subject or death.outbox_id or letter.id,
        dead_letter_id=str(letter.id),
        stage=death.stage,
        error_type=death.error_type,
        fingerprint=letter.fingerprint,
    )
    return letter.id


def bury(work: UnitOfWork, death: Death, *, if_idle: bool = True) -> None:
    """Write a death that happened outside any claim, and end what waited for the promise.

    A message whose promise was kept, or is dead, or with `if_idle` is worked on, changes nothing:
    it is a late copy.
    """
    if death.outbox_id is None or not _is_promised(work.session, death.outbox_id):
        add(work, replace(death, outbox_id=None))
        return
    end = outbox.dead_if_idle if if_idle else outbox.dead
    promised = end(work.session, death.outbox_id)
    if promised is None:
        return
    question_id, item_id = promised.get("question_id"), promised.get("item_id")
    add(work, replace(death, subject=str(question_id or item_id or "") or death.subject))
    if question_id is not None:
        question_states.failed(work, UUID(str(question_id)), death.cause)
    if item_id is not None:
        work.session.execute(
            sa.text(
                "UPDATE ingest_item SET status = 'failed', error = :cause, "
                "finished_at = clock_timestamp() WHERE id = CAST(:id AS uuid)"
            ),
            {"id": item_id, "cause": death.cause},
        )


def _is_promised(session: Session, outbox_id: UUID) -> bool:
    query = sa.text("SELECT 1 FROM outbox WHERE id = :id")
    return session.execute(query, {"id": outbox_id}).one_or_none() is not None


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
    if letter.error_type in UNREADABLE:
        raise NotReplayable(f"it can never succeed as it is: {letter.cause}")
    promised = work.session.execute(
        sa.text(
            "UPDATE outbox SET status = 'pending', not_before = clock_timestamp(), "
            "publish_count = 0, done_at = NULL WHERE id = :id AND status = 'dead' RETURNING payload"
        ),
        {"id": letter.outbox_id},
    ).one_or_none()
    if promised is None:
        raise NotReplayable("its promise in the outbox is gone or was kept in the meantime")
    _revive(work, letter, promised.payload)
    letter.status, letter.replays, letter.resolved_at = "replayed", letter.replays + 1, now()
    work.session.add(letter)
    work.record("message.replayed", letter.subject or letter.id, dead_letter_id=str(letter.id))
    return letter


def _revive(work: UnitOfWork, letter: DeadLetter, promised: Mapping[str, Any]) -> None:
    """Let the work, and the question or item that it belongs to, wait again."""
    work.session.execute(
        sa.text(
            "UPDATE stage_run SET status = 'waiting', attempts = 0, finished_at = NULL, "
            "first_failed_at = NULL WHERE status = 'dead' "
            "AND (outbox_id = :outbox_id OR (stage = :stage AND subject = :subject))"
        ),
        {"outbox_id": letter.outbox_id, "stage": letter.stage, "subject": letter.subject},
    )
    if (question_id := promised.get("question_id")) is not None:
        work.session.execute(
            sa.text(
                "UPDATE question SET status = 'queued', error = NULL, finished_at = NULL "
                "WHERE id = CAST(:id AS uuid) AND status = 'failed'"
            ),
            {"id": question_id},
        )
        work.notify(question_states.CHANNEL, question_id)
    if (verification_id := promised.get("verification_id")) is not None:
        work.session.execute(
            sa.text(
                "UPDATE verification SET status = 'queued', error = NULL, finished_at = NULL "
                "WHERE id = CAST(:id AS uuid) AND status = 'failed'"
            ),
            {"id": verification_id},
        )
    if (item_id := promised.get("item_id")) is not None:
        work.session.execute(
            sa.text(
                "UPDATE ingest_item SET status = 'pending', error = NULL, finished_at = NULL "
                "WHERE id = CAST(:id AS uuid) AND status = 'failed'"
            ),
            {"id": item_id},
        )
