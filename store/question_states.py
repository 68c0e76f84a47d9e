"""How a question moves: queued → running → answered or failed, and who is woken by it."""

from uuid import UUID

import sqlalchemy as sa

from store.models import now
from store.unit_of_work import UnitOfWork

CHANNEL = "question"


def _change(
    unit: UnitOfWork, question_id: UUID, change: str, only: str = "true", **values: object
) -> bool:
    """Whether there was such a row."""
    changed = unit.session.execute(
        sa.text(
            f"UPDATE question SET {change} WHERE id = :id AND {only} "  # noqa: S608  our own
            "RETURNING pg_notify(:channel, CAST(id AS text))"  # heard once this commits
        ),
        {"id": question_id, "channel": CHANNEL, **values},
    )
    return changed.one_or_none() is not None


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
    if changed:
        unit.record("question.failed", question_id)
