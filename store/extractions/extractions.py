"""Clinical documents to extract: read, then processed part by part."""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from sqlmodel import Session, col, select

from messages import ExtractV1
from store.core.hashes import json_hash, new_hash_key, text_hash
from store.core.unit_of_work import UnitOfWork
from store.models import LOCAL_OWNER, ExtractionIteration, ExtractionRow, Review, now
from store.texts.text_table import TextTable

EXTRACTIONS = TextTable(ExtractionRow, "extraction")


@dataclass(frozen=True)
class File:
    """A document as a file; the stage reads its text."""

    name: str
    media_type: str
    content: bytes


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
    """Accept a document, as `TextTable.accept` does. A title and a file's name may name a patient,
    so they stay in the row as the text does.

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
    return EXTRACTIONS.accept(
        work,
        row,
        _request(row, document),
        _step(row, part=0, iteration=0),
        content_hash=row.content_hash,
        profile=profile,
    )


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
    work.emit(_step(row, part=part, iteration=iteration))
    work.notify(EXTRACTIONS.kind, row.id)


def _step(row: ExtractionRow, *, part: int, iteration: int) -> ExtractV1:
    return ExtractV1(
        request_id=row.request_id,
        extraction_id=row.id,
        content_hash=row.content_hash,
        part=part,
        iteration=iteration,
    )


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
    work.notify(EXTRACTIONS.kind, row.id)
    return digest
