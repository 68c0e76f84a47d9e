"""Clinical notes to be summarized: accepted once, done or failed once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import sqlalchemy as sa
from sqlmodel import Session, col, select

from messages import SummarizeV1
from store.core.cursors import pack, position
from store.core.hashes import json_hash, new_hash_key, text_hash
from store.core.unit_of_work import UnitOfWork
from store.models import LOCAL_OWNER, Note, now
from store.texts.idempotency import keep

CHANNEL = "note"
"""LISTEN/NOTIFY channel; the payload is the id of the note that ended."""


def submit(
    work: UnitOfWork,
    text: str,
    title: str | None = None,
    *,
    owner: str = LOCAL_OWNER,
    idempotency_key: str | None = None,
) -> Note:
    """Accept a note: its row, the audit event with its hash, the message to the summarize stage.

    A title may name a patient, so it stays in the row as the text does (invariant 11). The same
    idempotency key with the same request returns the first note again (`store.texts.idempotency`).

    Raises:
        KeyReused: the key was used for another request.
    """
    key = new_hash_key()
    note = Note(
        id=uuid4(),
        text=text,
        text_hash=text_hash(text, key),
        hash_key=key,
        title=title,
        request_id=work.request_id or uuid4(),
        created_at=now(),
        owner=owner,
        idempotency_key=idempotency_key,
    )
    kept = keep(work.session, note, {"text": text, "title": title})
    if kept is not note:
        return kept
    work.record("note.submitted", note.id, text_hash=note.text_hash)
    work.emit(SummarizeV1(request_id=note.request_id, note_id=note.id, text_hash=note.text_hash))
    return note


def get(session: Session, note_id: UUID) -> Note | None:
    """The note with this id, if there is one."""
    return session.get(Note, note_id)


@dataclass(frozen=True)
class Page:
    """A page of notes, newest first, and the cursor of the next one."""

    notes: list[Note]
    next_cursor: str | None


def listing(session: Session, *, owner: str, cursor: str | None = None, limit: int = 50) -> Page:
    """An owner's notes, newest first.

    Raises:
        InvalidCursor: `cursor` was not given out by this function.
    """
    created, key = col(Note.created_at), col(Note.id)
    query = select(Note).where(Note.owner == owner).order_by(created.desc(), key).limit(limit + 1)
    if cursor is not None:
        at, last = position(cursor)
        query = query.where(sa.or_(created < at, sa.and_(created == at, key > last)))
    rows = list(session.exec(query))
    page = rows[:limit]
    more = len(rows) > limit
    return Page(page, pack([page[-1].created_at.isoformat(), str(page[-1].id)]) if more else None)


def done(work: UnitOfWork, note_id: UUID, result: Mapping[str, Any]) -> str:
    """Store the result and notify its listeners; returns its hash."""
    key = work.session.execute(sa.select(col(Note.hash_key)).where(col(Note.id) == note_id))
    digest = json_hash(result, key.scalar_one_or_none())
    _end(work, note_id, status="done", error=None, result=dict(result), result_hash=digest)
    return digest


def failed(work: UnitOfWork, note_id: UUID, cause: str) -> None:
    """Record that the stage died: there is no summary until an operator replays it."""
    _end(work, note_id, status="failed", error=cause)
    work.record("note.failed", note_id)


def _end(work: UnitOfWork, note_id: UUID, **values: Any) -> None:
    work.session.execute(
        sa.update(Note)
        .where(col(Note.id) == note_id, col(Note.status) != "done")
        .values(finished_at=now(), **values)
    )
    work.notify(CHANNEL, note_id)
