"""States of a question: queued → running → answered or failed, and who is notified of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa

from store.core.unit_of_work import UnitOfWork
from store.models import now

CHANNEL = "question"
"""The payload is the id of a question that changed, then a space and the stage it waits for, if
there is one: a listener that waits for its end need not look before."""


MOVE = """
    UPDATE question SET status = 'running', stage = :stage WHERE id = :question_id
    RETURNING id, pg_notify(:channel, :notice)
"""
"""SQL: the question waits for its next stage, and its listeners are notified on commit. For the
statement that writes the result of the last stage; parameters: `moving`."""


def moving(question_id: UUID, stage: str) -> dict[str, object]:
    """The parameters of `MOVE`, including `question_id`."""
    return {
        "question_id": question_id,
        "stage": str(stage),
        "channel": CHANNEL,
        "notice": f"{question_id} {stage}",
    }


@dataclass(frozen=True)
class Sealed:
    """A question whose answer was sealed: its start and end, and the work of each stage in ms."""

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
    """Seal the answer or abstention with this hash, and end its question; None: no such answer.

    The ledger's row of the sealing stage is already finished.
    """
    sealed = unit.session.execute(
        _SEAL, {"id": question_id, "hash": answer_hash, "now": now(), "channel": CHANNEL}
    ).one_or_none()
    if sealed is None:
        return None
    return Sealed(sealed.created_at, sealed.finished_at, sealed.stage_ms or {})


_FAIL = sa.text(
    """
    UPDATE question SET status = 'failed', error = :cause, finished_at = :now
    WHERE id = :id AND status <> 'answered'
    RETURNING pg_notify(:channel, CAST(:id AS text))
    """
)


def failed(unit: UnitOfWork, question_id: UUID, cause: str) -> None:
    """Record that a stage died: the question ends unchecked until an operator replays it.

    An answered question keeps its answer: what died was a repeated message for finished work.
    """
    changed = unit.session.execute(
        _FAIL, {"id": question_id, "cause": cause, "now": now(), "channel": CHANNEL}
    ).one_or_none()
    if changed is not None:
        unit.record("question.failed", question_id)
