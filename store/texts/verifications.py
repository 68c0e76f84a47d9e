"""Pasted texts to be checked."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID, uuid4

from sqlmodel import Session, select

from messages import CheckV1, Stage
from store.core.hashes import new_hash_key, text_hash
from store.core.unit_of_work import UnitOfWork
from store.models import LOCAL_OWNER, StageRun, Verification, now
from store.texts.text_table import TextTable

VERIFICATIONS = TextTable(Verification, "verification")


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
    """Accept a text, as `TextTable.accept` does.

    Args:
        documents: what the text is compared with, each with `title`, `text` and, if it has any,
            `identifiers`; without documents, the held evidence.
        request_id: of the request that asks; if left out, the unit of work's, or a new one.
        owner: whose it is.

    Raises:
        KeyReused: the key was used for another request.
    """
    key = new_hash_key()
    row = Verification(
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
    return VERIFICATIONS.accept(
        work,
        row,
        {"text": text, "documents": row.documents, "options": row.options},
        CheckV1(request_id=row.request_id, verification_id=row.id, text_hash=row.text_hash),
        text_hash=row.text_hash,
        documents=[text_hash(document["text"], key) for document in documents],
    )


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
