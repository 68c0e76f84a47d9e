"""What readers think of answers. It is in the audit chain alone, which keeps no words of theirs."""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Literal
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session

from store.core.unit_of_work import UnitOfWork

Judgment = Literal["right", "wrong", "missing"]
"""`missing`: what it says holds, and something that matters is not in it."""
EVENT = "answer.judged"


def give(work: UnitOfWork, question_id: UUID, judgment: Judgment) -> None:
    """Write down what a reader thinks of an answer; the last word of each actor counts."""
    work.record(EVENT, question_id, judgment=judgment)


_LAST = """
    SELECT DISTINCT ON (subject, actor) payload ->> 'judgment' AS judgment FROM audit_event
    WHERE event = :event AND {} ORDER BY subject, actor, seq DESC
"""


def of_answer(session: Session, question_id: UUID) -> Mapping[str, int]:
    """The number of readers by what they think of an answer."""
    return _counted(session, "subject = :subject", subject=str(question_id))


def between(session: Session, since: datetime, until: datetime) -> Mapping[str, int]:
    """The number of judgments of answers in [since, until)."""
    return _counted(session, "at >= :since AND at < :until", since=since, until=until)


def _counted(session: Session, clause: str, **values: object) -> Mapping[str, int]:
    query = sa.text(_LAST.format(clause))
    return Counter(session.execute(query, {"event": EVENT, **values}).scalars())
