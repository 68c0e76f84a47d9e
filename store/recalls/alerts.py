"""What an owner is told of by mail: answers that hold no longer.

The audit chain is the outbox: `answer.superseded` stands in it with the change itself, in the order
of commits. That a mail is being sent is noted before it is handed over (`alert.promised`), and how
that ended behind it: `alert.told`; `alert.unsent`, the server did not take it and is tried again;
`alert.doubted`, nobody knows, and it is sent again only on an operator's word.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID, uuid5

import sqlalchemy as sa
import structlog
from sqlmodel import Session

from store.core.unit_of_work import UnitOfWork
from store.models import now

log = structlog.get_logger(__name__)

MOST = 200
"""Our choice: the answers in one mail; the rest comes in the next."""
_OWNERS = UUID("5d0b3a0e-8f6a-4d0f-9a53-0c6f8a1d7e42")

RETRY_AFTER = timedelta(minutes=30)
"""RFC 5321, section 4.5.4.1: how long to wait before a server that did not take a mail is asked."""

_LAST = sa.text(
    """
    SELECT event, at, (payload ->> 'through')::bigint AS through, (
        SELECT max((payload ->> 'through')::bigint) FROM audit_event
        WHERE subject = :subject AND event IN ('alert.told', 'alert.doubted')) AS told
    FROM audit_event WHERE subject = :subject AND event LIKE 'alert.%' ORDER BY seq DESC LIMIT 1
    """
)
_DOUBTED = sa.text(
    """
    SELECT (payload ->> 'after')::bigint AS after, (payload ->> 'through')::bigint AS through
    FROM audit_event AS doubted WHERE subject = :subject AND event = 'alert.doubted'
      AND NOT EXISTS (SELECT FROM audit_event AS told WHERE told.subject = doubted.subject
          AND told.event = 'alert.told'
          AND told.payload -> 'through' = doubted.payload -> 'through')
    ORDER BY seq
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
    after: int
    through: int
    answers: Sequence[tuple[str, str | None]]
    again: bool = False
    """Whether it may have arrived before."""

    @property
    def number(self) -> str:
        """The same whenever it is sent."""
        return f"{self.subject}.{self.through}"


def promise(work: UnitOfWork, owner: str) -> Alert | None:
    """What this owner is to be told now, None if there is nothing. The first call for an owner only
    notes from where on changes count. A promise whose end was not noted becomes a doubt.

    Call it and what notes the end under one lock: nobody else may promise or tell meanwhile.
    """
    subject = _subject(owner)
    last = work.session.execute(_LAST, {"subject": str(subject)}).one_or_none()
    if last is None:
        head = work.session.execute(sa.text("SELECT coalesce(max(seq), 0) FROM audit_event"))
        work.record("alert.told", subject, through=head.scalar_one(), answers=0)
        return None
    after = last.told
    if last.event == "alert.promised":
        doubted(work, Alert(subject, after, last.through, ()))
        after = last.through
    if last.event == "alert.unsent" and now() < last.at + RETRY_AFTER:
        return None
    answers = _answers(work.session, owner, after)
    if not answers:
        return None
    alert = Alert(subject, after, answers[-1][0], [(old, new) for _, old, new in answers])
    _note(work, "promised", alert)
    return alert


def told(work: UnitOfWork, alert: Alert) -> None:
    """Note that the server took it."""
    _note(work, "told", alert)


def unsent(work: UnitOfWork, alert: Alert) -> None:
    """Note that the server did not take it: it is promised anew."""
    _note(work, "unsent", alert)


def doubted(work: UnitOfWork, alert: Alert) -> None:
    """Note that nobody knows whether the server took it: it is not sent again by itself."""
    _note(work, "doubted", alert)
    log.warning("alert_in_doubt", subject=str(alert.subject), see="attest recalls mails")


def in_doubt(session: Session, owner: str) -> list[Alert]:
    """The mails to this owner of which nobody knows whether they arrived, the first one first."""
    subject = _subject(owner)
    return [
        Alert(
            subject,
            row.after,
            row.through,
            [(old, new) for _, old, new in _answers(session, owner, row.after, row.through)],
            again=True,
        )
        for row in session.execute(_DOUBTED, {"subject": str(subject)})
    ]


def _subject(owner: str) -> UUID:
    return uuid5(_OWNERS, owner)  # names of owners stand in no event


def _note(work: UnitOfWork, end: str, alert: Alert) -> None:
    many = len(alert.answers)
    work.record(
        f"alert.{end}", alert.subject, after=alert.after, through=alert.through, answers=many
    )


def _answers(
    session: Session, owner: str, after: int, through: int | None = None
) -> list[tuple[int, str, str | None]]:
    values = {"owner": owner, "after": after, "through": through, "most": MOST}
    return [(row.seq, row.old, row.new) for row in session.execute(_SUPERSEDED, values)]
