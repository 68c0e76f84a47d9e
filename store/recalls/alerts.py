"""What an owner is told of by mail: answers that hold no longer.

The audit chain is the outbox: `answer.superseded` stands in it with the change itself, in the order
of commits. What is to be told is promised in an event before it is sent, and noted as told behind
it. A promise that was not noted is sent again as it was, under the same number.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID, uuid5

import sqlalchemy as sa
from sqlmodel import Session

from store.core.unit_of_work import UnitOfWork

MOST = 200
"""Our choice: the answers in one mail; the rest comes in the next."""
_OWNERS = UUID("5d0b3a0e-8f6a-4d0f-9a53-0c6f8a1d7e42")

_LAST = sa.text(
    """
    SELECT event, (payload ->> 'after')::bigint AS after, (payload ->> 'through')::bigint AS through
    FROM audit_event WHERE subject = :subject AND event IN ('alert.promised', 'alert.told')
    ORDER BY seq DESC LIMIT 1
    """
)
_SUPERSEDED = sa.text(
    """
    SELECT seq, subject AS old, payload ->> 'superseded_by' AS new FROM audit_event AS event
    WHERE event = 'answer.superseded' AND seq > :after
      AND (CAST(:through AS bigint) IS NULL OR seq <= :through)
      AND EXISTS (SELECT FROM question AS q WHERE q.owner = :owner AND q.id = CASE
          WHEN event.event = 'answer.superseded' THEN CAST(event.subject AS uuid) END)
    ORDER BY seq LIMIT :most
    """
)


@dataclass(frozen=True)
class Alert:
    """What is told once: questions whose answers fell, and those that ask the same anew."""

    subject: UUID
    through: int
    answers: Sequence[tuple[str, str | None]]
    again: bool = False
    """Whether it was promised before, and nobody knows whether it arrived."""

    @property
    def number(self) -> str:
        """The same whenever it is sent."""
        return f"{self.subject}.{self.through}"


def promise(work: UnitOfWork, owner: str) -> Alert | None:
    """What this owner is to be told now, None if there is nothing. The first call for an owner only
    notes from where on changes count.

    Call it and `told` under one lock: nobody else may promise or tell meanwhile.
    """
    subject = uuid5(_OWNERS, owner)  # names of owners stand in no event
    last = work.session.execute(_LAST, {"subject": str(subject)}).one_or_none()
    if last is None:
        head = work.session.execute(sa.text("SELECT coalesce(max(seq), 0) FROM audit_event"))
        work.record("alert.told", subject, through=head.scalar_one(), answers=0)
        return None
    if last.event == "alert.promised":
        answers = _answers(work.session, owner, last.after, last.through)
        return Alert(subject, last.through, [(old, new) for _, old, new in answers], again=True)
    answers = _answers(work.session, owner, last.through)
    if not answers:
        return None
    through = answers[-1][0]
    work.record(
        "alert.promised", subject, after=last.through, through=through, answers=len(answers)
    )
    return Alert(subject, through, [(old, new) for _, old, new in answers])


def told(work: UnitOfWork, alert: Alert) -> None:
    """Note that it was sent."""
    work.record("alert.told", alert.subject, through=alert.through, answers=len(alert.answers))


def _answers(
    session: Session, owner: str, after: int, through: int | None = None
) -> list[tuple[int, str, str | None]]:
    values = {"owner": owner, "after": after, "through": through, "most": MOST}
    return [(row.seq, row.old, row.new) for row in session.execute(_SUPERSEDED, values)]
