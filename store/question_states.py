"""How a question moves: queued → running → answered or failed, and who is woken by it."""

from uuid import UUID

import sqlalchemy as sa

from store.models import now
from store.unit_of_work import UnitOfWork

CHANNEL = "question"


def _change(unit: UnitOfWork, question_id: UUID, change: str, **values: object) -> None:
    unit.session.execute(
        sa.text(f"UPDATE question SET {change} WHERE id = :id"),  # noqa: S608  our own fragments
        {"id": question_id, **values},
    )
    unit.notify(CHANNEL, question_id)


def move_to(unit: UnitOfWork, question_id: UUID, stage: str) -> None:
    """The question waits for `stage` now."""
    _change(unit, question_id, "status = 'running', stage = :stage", stage=str(stage))


def answered(unit: UnitOfWork, question_id: UUID) -> None:
    """The answer, or the abstention, is sealed."""
    _change(
        unit,
        question_id,
        "status = 'answered', stage = NULL, error = NULL, finished_at = :now",
        now=now(),
    )


def failed(unit: UnitOfWork, question_id: UUID, cause: str) -> None:
    """A stage died: the question ends unchecked until an operator replays it."""
    _change(
        unit,
        question_id,
        "status = 'failed', error = :cause, finished_at = :now",
        cause=cause,
        now=now(),
    )
    unit.record("question.failed", question_id)
