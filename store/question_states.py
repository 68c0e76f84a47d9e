"""How a question moves: queued → running → answered or failed, and who is woken by it."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa

from store.models import now
from store.unit_of_work import UnitOfWork

CHANNEL = "question"
"""Says the id of a question that changed; behind it, after a space, the stage that it waits for, as
long as there is one: who waits for its end need not look before."""


def _change(
    unit: UnitOfWork,
    question_id: UUID,
    change: str,
    only: str = "true",
    notice: str = "",
    **values: object,
) -> sa.Row[Any] | None:
    """The row's key, if there was such a row."""
    changed = unit.session.execute(
        sa.text(
            f"UPDATE question SET {change} WHERE id = :id AND {only} "  # noqa: S608  our own
            "RETURNING hash_key, pg_notify(:channel, :notice)"  # heard once this commits
        ),
        {"id": question_id, "channel": CHANNEL, "notice": notice or str(question_id), **values},
    )
    return changed.one_or_none()


def move_to(unit: UnitOfWork, question_id: UUID, stage: str) -> bytes | None:
    """The question waits for `stage` now.

    Returns:
        The key of the hashes of its words, and of all that is made of them (`store.hashes`); None
        for a question from before there were keys.

    Raises:
        LookupError: there is no such question.
    """
    moved = _change(
        unit,
        question_id,
        "status = 'running', stage = :stage",
        notice=f"{question_id} {stage}",
        stage=str(stage),
    )
    if moved is None:
        raise LookupError(f"there is no question {question_id}")
    key: bytes | None = moved.hash_key
    return key


def answered(unit: UnitOfWork, question_id: UUID) -> None:
    """The answer, or the abstention, is sealed."""
    _change(
        unit,
        question_id,
        "status = 'answered', stage = NULL, error = NULL, finished_at = :now",
        now=now(),
    )


def failed(unit: UnitOfWork, question_id: UUID, cause: str) -> None:
    """A stage died: the question ends unchecked until an operator replays it.

    What has its answer keeps it: what died then was a second promise of work that is done.
    """
    changed = _change(
        unit,
        question_id,
        "status = 'failed', error = :cause, finished_at = :now",
        "status <> 'answered'",
        cause=cause,
        now=now(),
    )
    if changed is not None:
        unit.record("question.failed", question_id)
