"""How a question moves: queued → running → answered or failed, and who is woken by it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
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


@dataclass(frozen=True)
class Sealed:
    """A question whose answer was sealed: from when to when, and the work of each stage in ms."""

    created_at: datetime
    finished_at: datetime
    stage_ms: Mapping[str, float]


_SEAL = sa.text(
    """
    WITH sealed AS (
        UPDATE answer SET sealed_at = :now WHERE question_id = :id AND hash = :hash
        RETURNING question_id)
    UPDATE question SET status = 'answered', stage = NULL, error = NULL, finished_at = :now
    FROM sealed WHERE question.id = sealed.question_id
    RETURNING created_at, finished_at, (
        SELECT jsonb_object_agg(stage, round(1000 * extract(epoch FROM run.finished_at - started_at)
                                             , 1) ORDER BY started_at, run.id)
        FROM stage_run AS run
        WHERE subject = CAST(:id AS text) AND run.finished_at IS NOT NULL) AS stage_ms,
        pg_notify(:channel, CAST(:id AS text))
    """
)


def seal(unit: UnitOfWork, question_id: UUID, answer_hash: str) -> Sealed | None:
    """Seal the answer, or the abstention, and end its question; None: the answer is another one.

    The ledger's row of the sealing stage is finished already.
    """
    sealed = unit.session.execute(
        _SEAL, {"id": question_id, "hash": answer_hash, "now": now(), "channel": CHANNEL}
    ).one_or_none()
    if sealed is None:
        return None
    return Sealed(sealed.created_at, sealed.finished_at, sealed.stage_ms or {})


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
