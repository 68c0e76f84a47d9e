"""A question with all that its owner is shown of it, read in one statement.

Somebody waits for it, and it is read more often than anything else: before an answer and after it.
One statement is one snapshot, so its parts are consistent without a transaction.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session

from store.questions.questions import STEPS, Step, steps_of
from store.recalls import log


@dataclass(frozen=True)
class Seen:
    """A question at one moment. `sealed`: the body of its answer; None if it has none that may be
    shown (invariant 6)."""

    id: UUID
    owner: str
    status: str
    stage: str | None
    text: str
    options: Mapping[str, Any]
    request_id: UUID
    created_at: datetime
    finished_at: datetime | None
    erased_at: datetime | None
    sealed: dict[str, Any] | None
    steps: Sequence[Step]
    recalls: Sequence[Mapping[str, Any]]
    """Rows for `store.recalls.log.told`."""


_SEEN = sa.text(
    f"""
    SELECT q.id, q.owner, q.status, q.stage, q.text, q.options, q.request_id, q.created_at,
           q.finished_at, q.erased_at,
           (SELECT body FROM answer WHERE question_id = q.id AND sealed_at IS NOT NULL
                                      AND q.status = 'answered') AS sealed,
           ({STEPS}) AS steps, ({log.OF_QUESTION}) AS recalls
    FROM question q WHERE q.id = :id
    """  # noqa: S608  our own fragments
)


def seen(session: Session, question_id: UUID) -> Seen | None:
    """The question as it is now; None if there is none."""
    row = session.execute(_SEEN, {"id": question_id}).one_or_none()
    if row is None:
        return None
    columns = row._asdict()
    columns["steps"] = steps_of(row.steps or ())
    columns["recalls"] = row.recalls or ()
    return Seen(**columns)
