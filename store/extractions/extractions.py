"""Clinical documents to extract: accepted once, read, processed part by part, done or failed.

Words of a document stand in these rows and nowhere else (invariant 11).
"""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import sqlalchemy as sa
from sqlmodel import Session, col, select

from messages import ExtractV1
from store.core.cursors import pack, position
from store.core.hashes import json_hash, new_hash_key, text_hash
from store.core.unit_of_work import UnitOfWork
from store.models import LOCAL_OWNER, ExtractionIteration, ExtractionRow, Review, now
from store.texts.idempotency import keep

CHANNEL = "extraction"
"""LISTEN/NOTIFY channel; the payload is the id of the extraction that took a step."""


@dataclass(frozen=True)
class File:
    """A document as a file; the stage reads its text."""

    name: str
    media_type: str
    content: bytes


@dataclass(frozen=True)
class Page:
    """A page of extractions, newest first, and the cursor of the next one."""

    extractions: list[ExtractionRow]
    next_cursor: str | None


@dataclass(frozen=True)
class Ended:
    """What a finished extraction is filed under, besides its result."""

    outcome: str
    document_type: str | None = None
    score: float | None = None
    met_threshold: bool | None = None
    cost_usd: Decimal | None = None
    needs_review: bool = False


def submit(
    work: UnitOfWork,
    document: str | File,
    *,
    owner: str = LOCAL_OWNER,
    title: str | None = None,
    document_type: str | None = None,
    profile: str = "batch",
    idempotency_key: str | None = None,
) -> ExtractionRow:
    """Accept a document: its row, the audit event with its hash, the message to the stage.

    A title and a file's name may name a patient, so they stay in the row as the text does. The same
    idempotency key with the same request returns the first one again (`store.texts.idempotency`).

    Args:
        document_type: the type that the caller states; None lets the stage find out.

    Raises:
        KeyReused: the key was used for another request.
    """
    key = new_hash_key()
    row = ExtractionRow(
        id=uuid4(),
        owner=owner,
        title=title,
        content_hash="",
        hash_key=key,
        asked_type=document_type,
        profile=profile,
        request_id=work.request_id or uuid4(),
        created_at=now(),
        idempotency_key=idempotency_key,
    )
    if isinstance(document, File):
        row.filename, row.media_type = document.name, document.media_type
        row.content = document.content
        row.content_hash = hmac.new(key, document.content, hashlib.sha256).hexdigest()
    else:
        row.text = document
        row.text_hash = row.content_hash = text_hash(document, key)
    kept = keep(work.session, row, _request(row, document))
    if kept is not row:
        return kept
    work.record("extraction.submitted", row.id, content_hash=row.content_hash, profile=profile)
    next_step(work, row, part=0, iteration=0)
    return row


def _request(row: ExtractionRow, document: str | File) -> dict[str, Any]:
    """The fields that a repeated request must share with the first."""
    fields = {"title": row.title, "document_type": row.asked_type, "profile": row.profile}
    if isinstance(document, str):
        return {**fields, "text": document}
    digest = hashlib.sha256(document.content).hexdigest()
    named = {"filename": document.name, "media_type": document.media_type}
    return {**fields, **named, "content": digest}


def next_step(work: UnitOfWork, row: ExtractionRow, *, part: int, iteration: int) -> None:
    """Promise the next step of the extraction, and notify its listeners."""
    work.emit(
        ExtractV1(
            request_id=row.request_id,
            extraction_id=row.id,
            content_hash=row.content_hash,
            part=part,
            iteration=iteration,
        )
    )
    work.notify(CHANNEL, row.id)


def get(session: Session, extraction_id: UUID, owner: str | None = None) -> ExtractionRow | None:
    """The extraction with this id, if there is one; with `owner`, only if it is theirs."""
    row = session.get(ExtractionRow, extraction_id)
    return None if row is None or (owner is not None and row.owner != owner) else row


def iterations(
    session: Session, extraction_id: UUID, part: int | None = None
) -> Sequence[ExtractionIteration]:
    """The history, in order; with `part`, of that part only."""
    query = select(ExtractionIteration).where(ExtractionIteration.extraction_id == extraction_id)
    if part is not None:
        query = query.where(ExtractionIteration.part == part)
    return session.exec(
        query.order_by(col(ExtractionIteration.part), col(ExtractionIteration.n))
    ).all()


def listing(
    session: Session,
    *,
    owner: str,
    status: str | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Page:
    """An owner's extractions, newest first.

    Raises:
        InvalidCursor: `cursor` was not given out by this function.
    """
    created, key = col(ExtractionRow.created_at), col(ExtractionRow.id)
    query = (
        select(ExtractionRow)
        .where(ExtractionRow.owner == owner)
        .order_by(created.desc(), key)
        .limit(limit + 1)
    )
    if status is not None:
        query = query.where(ExtractionRow.status == status)
    if cursor is not None:
        at, last = position(cursor)
        query = query.where(sa.or_(created < at, sa.and_(created == at, key > last)))
    rows = list(session.exec(query))
    page = rows[:limit]
    more = len(rows) > limit
    return Page(page, pack([page[-1].created_at.isoformat(), str(page[-1].id)]) if more else None)


def locked(work: UnitOfWork, extraction_id: UUID) -> ExtractionRow:
    """The row, locked so that this transaction can change it."""
    query = select(ExtractionRow).where(ExtractionRow.id == extraction_id).with_for_update()
    return work.session.exec(query).one()


def read(row: ExtractionRow, text: str) -> None:
    """Store the text of a document; the bytes of a file are dropped."""
    row.text, row.text_hash, row.content = text, text_hash(text, row.hash_key), None


def planned(work: UnitOfWork, row: ExtractionRow, plan: Mapping[str, Any]) -> None:
    """Store the plan for the text."""
    row.plan, row.document_type = dict(plan), plan["type"]
    row.status, row.error = "running", None
    work.session.add(row)
    work.record("extraction.read", row.id, text_hash=row.text_hash, parts=len(plan["parts"]))


def iterated(work: UnitOfWork, row: ExtractionRow, iteration: ExtractionIteration) -> None:
    """Store one iteration."""
    work.session.add(iteration)
    row.status, row.error = "running", None
    row.seconds += iteration.seconds
    row.iterations += 1
    work.session.add(row)
    work.record(
        "extraction.iterated",
        row.id,
        part=iteration.part,
        iteration=iteration.n,
        score=iteration.score,
        attempt_hash=json_hash(iteration.proposal, row.hash_key),
    )


def done(work: UnitOfWork, row: ExtractionRow, result: Mapping[str, Any], ended: Ended) -> str:
    """Store the result, open a review if one is needed, notify listeners; returns the hash."""
    digest = json_hash(result, row.hash_key)
    row.status, row.error = "done", None
    row.result, row.result_hash, row.outcome = dict(result), digest, ended.outcome
    row.document_type = ended.document_type
    row.score, row.met_threshold, row.cost_usd = ended.score, ended.met_threshold, ended.cost_usd
    row.finished_at = now()
    work.session.add(row)
    if ended.needs_review and ended.score is not None:
        review = Review(
            id=uuid4(), extraction_id=row.id, owner=row.owner, score=ended.score, created_at=now()
        )
        work.session.add(review)
        work.record("review.opened", review.id, extraction_id=str(row.id), score=ended.score)
    work.record(
        "extraction.finished",
        row.id,
        result_hash=digest,
        outcome=ended.outcome,
        score=ended.score,
        iterations=row.iterations,
        met_threshold=ended.met_threshold,
        cost_usd=None if ended.cost_usd is None else str(ended.cost_usd),
    )
    work.notify(CHANNEL, row.id)
    return digest


def failed(work: UnitOfWork, extraction_id: UUID, cause: str) -> None:
    """Record that a step died: no result until an operator replays it. A missing row is ignored."""
    work.session.execute(
        sa.update(ExtractionRow)
        .where(
            col(ExtractionRow.id) == extraction_id,
            col(ExtractionRow.status).not_in(("done", "erased")),
        )
        .values(status="failed", error=cause, finished_at=now())
    )
    work.record("extraction.failed", extraction_id)
    work.notify(CHANNEL, extraction_id)
