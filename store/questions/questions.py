"""Questions: accepted once, looked up, listed, followed through the stages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import sqlalchemy as sa
from sqlmodel import Session, col, select

from messages import RetrieveV1
from store.core.hashes import json_hash, new_hash_key, text_hash
from store.core.paging import Page, page_of
from store.core.unit_of_work import UnitOfWork
from store.models import LOCAL_OWNER, Question, now
from store.recalls.log import with_state
from store.texts.idempotency import keep


@dataclass(frozen=True)
class Step:
    """The work of one stage for a question. `ms` is from the last claim to its commit."""

    stage: str
    status: str
    attempts: int
    started_at: datetime
    finished_at: datetime | None
    ms: float | None


def submit(
    work: UnitOfWork,
    text: str,
    options: Mapping[str, Any],
    idempotency_key: str | None = None,
    *,
    question_id: UUID | None = None,
    request_id: UUID | None = None,
    owner: str = LOCAL_OWNER,
) -> Question:
    """Accept a question: its row, the audit event with its hashes, the message to retrieve.

    The same key of the same owner with the same request returns the first question and promises
    nothing new (`store.texts.idempotency`).

    Args:
        options: JSON values; `as_of`, `filters`, `patient_context`, `max_references` where they
            were given.
        question_id: the id of a new question, for a caller that listens for its end beforehand.
        request_id: of the request that asks; if left out, the unit of work's, or a new one.
        owner: whose it is.

    Raises:
        KeyReused: the key was used for another request.
    """
    key = new_hash_key()
    request = {"text": text, "options": dict(options)}
    question = Question(
        id=question_id or uuid4(),
        text=text,
        text_hash=text_hash(text, key),
        options=dict(options),
        request_id=request_id or work.request_id or uuid4(),
        idempotency_key=idempotency_key,
        request_hash=json_hash(request, key),
        hash_key=key,
        created_at=now(),
        owner=owner,
    )
    kept = keep(work.session, question, request)
    if kept is not question:
        return kept
    work.record(
        "question.submitted",
        question.id,
        text_hash=question.text_hash,
        request_hash=question.request_hash,
    )
    work.emit(
        RetrieveV1(
            request_id=question.request_id,
            question_id=question.id,
            question_hash=question.text_hash,
        )
    )
    return question


def get(session: Session, question_id: UUID) -> Question | None:
    """The question with this id, if there is one."""
    return session.get(Question, question_id)


def listing(
    session: Session,
    *,
    owner: str | None = None,
    status: str | None = None,
    since: datetime | None = None,
    recall: str | None = None,
    words: str = "",
    cursor: str | None = None,
    limit: int = 50,
) -> Page[Question]:
    """Questions, newest first.

    Args:
        owner: only those of this owner.
        since: only questions accepted at or after this moment.
        recall: only questions whose answer is in this state (`store.recalls.log`).
        words: only questions with these words in a row, in any case.
        cursor: `next_cursor` of the page before.

    Raises:
        InvalidCursor: `cursor` was not given out by this function.
    """
    query = select(Question)
    if owner is not None:
        query = query.where(Question.owner == owner)
    if status is not None:
        query = query.where(Question.status == status)
    if since is not None:
        query = query.where(col(Question.created_at) >= since)
    if recall is not None:
        query = query.where(with_state(recall))
    if words:
        query = query.where(col(Question.text).icontains(words, autoescape=True))
    return page_of(
        session, query, col(Question.created_at), col(Question.id), cursor=cursor, limit=limit
    )


STEPS = """
    SELECT json_agg(json_build_array(stage, status, attempts, started_at, finished_at)
                    ORDER BY started_at, id)
    FROM stage_run WHERE subject = CAST(:id AS text)
"""
"""SQL: what `steps_of` reads, as one JSON value; null if nothing began. For larger statements."""
_STEPS = sa.text(STEPS)


def progress(session: Session, question_id: UUID) -> list[Step]:
    """The work of each stage for the question so far, in the order in which the stages began."""
    return steps_of(session.execute(_STEPS, {"id": question_id}).scalar_one() or ())


def steps_of(rows: Sequence[Sequence[Any]]) -> list[Step]:
    """The steps in the result of `STEPS`."""
    return [_step(*row) for row in rows]


def _step(stage: str, status: str, attempts: int, started: str, finished: str | None) -> Step:
    started_at = datetime.fromisoformat(started)
    finished_at = None if finished is None else datetime.fromisoformat(finished)
    return Step(
        stage, status, attempts, started_at, finished_at, _milliseconds(started_at, finished_at)
    )


def _milliseconds(started: datetime, finished: datetime | None) -> float | None:
    """Milliseconds to one decimal place, half rounded up as PostgreSQL does (`states.seal`)."""
    if finished is None:
        return None
    microseconds = (finished - started) // timedelta(microseconds=1)
    return (microseconds + 50) // 100 / 10
