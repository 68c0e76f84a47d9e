"""Pasted texts to be checked: accepted once, done or failed once."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID, uuid4

import sqlalchemy as sa
from sqlmodel import Session, col, select

from messages import CheckV1, Stage
from store.core.hashes import json_hash, new_hash_key, text_hash
from store.core.unit_of_work import UnitOfWork
from store.models import LOCAL_OWNER, StageRun, Verification, now
from store.texts.idempotency import keep

CHANNEL = "verification"
"""LISTEN/NOTIFY channel; the payload is the id of the verification that ended."""


def submit(
    work: UnitOfWork,
    text: str,
    documents: Sequence[Mapping[str, Any]] = (),
    options: Mapping[str, Any] | None = None,
    *,
    request_id: UUID | None = None,
    owner: str = LOCAL_OWNER,
    idempotency_key: str | None = None,
) -> Verification:
    """Accept a text: its row, the audit event with its hash, the message to the check stage.

    The same idempotency key with the same request returns the first one again
    (`store.texts.idempotency`).

    Args:
        documents: what the text is compared with, each with `title`, `text` and, if it has any,
            `identifiers`; without documents, the held evidence.
        request_id: of the request that asks; if left out, the unit of work's, or a new one.
        owner: whose it is.

    Raises:
        KeyReused: the key was used for another request.
    """
    key = new_hash_key()
    verification = Verification(
        id=uuid4(),
        text=text,
        text_hash=text_hash(text, key),
        hash_key=key,
        documents=[dict(document) for document in documents],
        options=dict(options or {}),
        request_id=request_id or work.request_id or uuid4(),
        created_at=now(),
        owner=owner,
        idempotency_key=idempotency_key,
    )
    request = {
        "text": text,
        "documents": verification.documents,
        "options": verification.options,
    }
    kept = keep(work.session, verification, request)
    if kept is not verification:
        return kept
    work.record(
        "verification.submitted",
        verification.id,
        text_hash=verification.text_hash,
        documents=[text_hash(document["text"], key) for document in verification.documents],
    )
    work.emit(
        CheckV1(
            request_id=verification.request_id,
            verification_id=verification.id,
            text_hash=verification.text_hash,
        )
    )
    return verification


def get(session: Session, verification_id: UUID) -> Verification | None:
    """The verification with this id, if there is one."""
    return session.get(Verification, verification_id)


def refused(session: Session, verification: Verification) -> str | None:
    """Why the stage refused the text, in words for its sender; None if it did not. If a stage died,
    the row holds a cause for operators instead."""
    if verification.status != "failed":
        return None
    query = select(StageRun.id).where(
        StageRun.stage == Stage.CHECK,
        StageRun.subject == str(verification.id),
        StageRun.status == "done",
    )
    ended = session.exec(query).first() is not None
    return verification.error if ended else None


def done(work: UnitOfWork, verification_id: UUID, result: Mapping[str, Any]) -> str:
    """Store the result and notify its listeners; returns its hash."""
    key = work.session.execute(
        sa.select(col(Verification.hash_key)).where(col(Verification.id) == verification_id)
    )
    digest = json_hash(result, key.scalar_one_or_none())
    _end(
        work,
        verification_id,
        status="done",
        error=None,
        result=dict(result),
        result_hash=digest,
    )
    return digest


def failed(work: UnitOfWork, verification_id: UUID, cause: str) -> None:
    """Record that the check died: nothing is known of the text until an operator replays it."""
    _end(work, verification_id, status="failed", error=cause)
    work.record("verification.failed", verification_id)


def _end(work: UnitOfWork, verification_id: UUID, **values: Any) -> None:
    work.session.execute(
        sa.update(Verification)
        .where(col(Verification.id) == verification_id)
        .values(finished_at=now(), **values)
    )
    work.notify(CHANNEL, verification_id)
