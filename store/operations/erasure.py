"""Words of patients are erased: every copy of them, and nothing that proves what happened.

What stays of a question, a note, a pasted text or an extraction is its row, with ids, times and
hashes, in the state `erased`; its audit events, so that the chain still verifies; and the places
in sources that its answer cited, which are no words of the patient. The hashes of the words and of
what was made of them were keyed, and the key goes with the words (`store.core.hashes`): no guess
can be held against them then.

What waits, for its turn, its time or an operator, goes as well: its promise is withdrawn. Only what
a worker holds a lease on is refused.

A question that a recall had asked anew is the same words in another row: all of them go together.
What was erased can come back by a restored backup only (docs/operations.md, "Erasure").
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session, col, select

from knowledge.retention import TextKind
from messages import MessageError, Stage
from messages.upgrades import parse_upgraded
from store.core.unit_of_work import UnitOfWork
from store.dead_letters import dead_letters
from store.models import DeadLetter, now
from store.pipeline import ledger, outbox
from store.recalls import recalls


class NotThere(LookupError):
    """There is no such thing, or it is another owner's."""


class NotYours(NotThere):
    """It is another owner's."""


class UnderWay(RuntimeError):
    """It is being worked on; the text says to wait."""


@dataclass(frozen=True)
class _Holder:
    """A table that holds words: how a row that is done is called, and what emptying one means."""

    table: str
    done: str
    emptied: str
    below: Mapping[str, str]
    """Tables whose rows hold words of it and go whole, with the column that names it."""


HOLDERS: Mapping[TextKind, _Holder] = {
    "question": _Holder(
        "question",
        "answered",
        "text = '', options = '{}', stage = NULL, error = NULL, idempotency_key = NULL, "
        "hash_key = NULL",
        {"retrieval": "question_id", "draft": "question_id", "answer_inputs": "question_id"},
    ),
    "note": _Holder(
        "note",
        "done",
        "text = '', title = NULL, result = NULL, error = NULL, idempotency_key = NULL, "
        "hash_key = NULL",
        {},
    ),
    "verification": _Holder(
        "verification",
        "done",
        "text = '', documents = '[]', options = '{}', result = NULL, error = NULL, "
        "idempotency_key = NULL, hash_key = NULL",
        {},
    ),
    "extraction": _Holder(
        "extraction",
        "done",
        "text = CASE WHEN text IS NULL THEN NULL ELSE '' END, "
        "content = CASE WHEN text IS NULL THEN ''::bytea END, "
        "title = NULL, filename = NULL, plan = NULL, result = NULL, error = NULL, "
        "idempotency_key = NULL, hash_key = NULL",
        {
            "extraction_reply": "extraction_id",
            "extraction_iteration": "extraction_id",
            "review": "extraction_id",
        },
    ),
}
"""What holds texts, in one list: whatever is to be erased or forgotten with age stands here."""


class _Row(NamedTuple):
    id: UUID
    status: str
    owner: str
    request_id: UUID


def erase(
    work: UnitOfWork, kind: TextKind, subject: UUID, reason: str, *, owner: str | None = None
) -> list[UUID]:
    """Erase the words of one thing, with an audit event; gives the ids of the rows that lost
    theirs. None did if it was erased before.

    Args:
        reason: a name of `retention.yaml`; the event keeps it for ever.
        owner: whose it must be; None: an operator's work, whoever owns it.

    Raises:
        NotThere: there is no such row of this owner.
        UnderWay: a worker holds a lease on it, or on a question that a recall had asked anew.
    """
    if kind == "question":
        recalls.one_at_a_time(work.session)  # or one may mark the answer while it goes
    ids = _same_words(work.session, kind, subject)
    letters = _open_letters(work.session, ids)
    found = _rows(work.session, kind, ids)
    if subject not in found:
        raise NotThere(f"there is no {kind} {subject}")
    if owner not in (None, found[subject].owner):
        raise NotYours(f"there is no {kind} {subject}")
    holder = HOLDERS[kind]
    if not _withdrawn(work.session, found.values()):
        raise UnderWay(f"the {kind} is being worked on: erase it once that has ended")
    found = _rows(work.session, kind, ids, lock="FOR UPDATE")
    going = [one.id for one in found.values() if one.status != "erased"]
    if going:
        _empty(work, kind, holder, going)
        for letter_id in letters:  # there is nothing left to replay
            dead_letters.discard(work, letter_id, "its words were erased")
        for one in going:
            work.record(f"{kind}.erased", one, reason=reason)
            work.notify(kind, one)
    return going


_ASKED_ANEW = sa.text(
    """
    WITH RECURSIVE family (id) AS (
        SELECT CAST(:id AS uuid)
        UNION
        SELECT linked.id FROM family
        JOIN LATERAL (
            SELECT superseded_by AS id FROM answer_recall
            WHERE question_id = family.id AND superseded_by IS NOT NULL
            UNION ALL
            SELECT question_id FROM answer_recall WHERE superseded_by = family.id
        ) AS linked ON true)
    SELECT id FROM family
    """
)


def _same_words(session: Session, kind: TextKind, subject: UUID) -> list[UUID]:
    """The row itself, and for a question those that recalls made of it or it was made of."""
    if kind != "question":
        return [subject]
    return list(session.execute(_ASKED_ANEW, {"id": subject}).scalars())


def _open_letters(session: Session, ids: Iterable[UUID]) -> Sequence[UUID]:
    """The open dead letters about these, locked before what they are about, as a replay does."""
    query = (
        select(col(DeadLetter.id))
        .where(col(DeadLetter.subject).in_(map(str, ids)), col(DeadLetter.status) == "open")
        .order_by(col(DeadLetter.id))
        .with_for_update()
    )
    return session.exec(query).all()


def _rows(
    session: Session, kind: TextKind, ids: Sequence[UUID], lock: str = ""
) -> dict[UUID, _Row]:
    rows = session.execute(
        sa.text(
            f"SELECT id, status, owner, request_id FROM {HOLDERS[kind].table} "  # noqa: S608
            f"WHERE id = ANY(:ids) ORDER BY id {lock}"
        ),
        {"ids": list(ids)},
    )
    return {row.id: _Row(row.id, row.status, row.owner, row.request_id) for row in rows}


_PROMISES = sa.text(
    """
    SELECT id, stage, payload FROM outbox
    WHERE request_id = ANY(:requests) AND status IN ('pending', 'published')
      AND NOT id = ANY(:seen) ORDER BY id
    """
)
_HELD = sa.text(
    """
    SELECT 1 FROM stage_run
    WHERE subject = ANY(:subjects) AND status = 'running' AND lease_until >= clock_timestamp()
    LIMIT 1
    """
)


def _withdrawn(session: Session, rows: Iterable[_Row]) -> bool:
    """Withdraw what is promised about these, so that no message that comes yet begins anything;
    False: a worker holds a lease on one of them.

    The ledger is locked first and the rows themselves later, as by a worker that commits. One that
    commits meanwhile may promise the next step: that is seen in the next round.
    """
    found = list(rows)
    subjects, seen = [str(one.id) for one in found], list[UUID]()
    requests = [one.request_id for one in found]
    if session.execute(_HELD, {"subjects": subjects}).one_or_none() is not None:
        return False
    while promises := session.execute(_PROMISES, {"requests": requests, "seen": seen}).all():
        for promise in promises:
            seen.append(promise.id)
            if not _withdraw(session, promise.stage, promise.payload, promise.id, subjects):
                return False
    return True


def _withdraw(
    session: Session, stage: str, payload: object, outbox_id: UUID, subjects: Sequence[str]
) -> bool:
    try:
        message = parse_upgraded(Stage(stage), payload)
    except MessageError:
        return True  # what cannot be read cannot begin anything either
    if message.subject not in subjects:
        return True
    withdrawn = ledger.withdraw(
        session,
        stage=stage,
        subject=message.subject,
        input_hash=message.input_hash(),
        worker="erasure",
    )
    if withdrawn:
        outbox.done(session, outbox_id)
    return withdrawn


def _empty(work: UnitOfWork, kind: TextKind, holder: _Holder, ids: Sequence[UUID]) -> None:
    session, given = work.session, {"ids": list(ids), "at": now()}
    for table, column in holder.below.items():
        session.execute(sa.text(f"DELETE FROM {table} WHERE {column} = ANY(:ids)"), given)  # noqa: S608
    session.execute(
        sa.text(
            f"UPDATE {holder.table} SET status = 'erased', erased_at = :at, "  # noqa: S608
            f"{holder.emptied} WHERE id = ANY(:ids)"
        ),
        given,
    )
    if kind == "question":
        session.execute(_EMPTY_ANSWERS, given)
        session.execute(_FORGET_RECALLS, given)
    session.execute(_END_WORK, {"subjects": [str(one) for one in ids]})


_EMPTY_ANSWERS = sa.text(
    """
    UPDATE answer SET body = coalesce((
        SELECT jsonb_object_agg(key, value) FROM jsonb_each(body)
        WHERE key IN ('verification_summary', 'quotations', 'provenance')), '{}')
    WHERE question_id = ANY(:ids)
    """
)
"""Counts of the gate, and which release, policies and model made it: no words."""
_FORGET_RECALLS = sa.text(
    "DELETE FROM answer_recall WHERE question_id = ANY(:ids) AND state = 'affected'"
)
"""Nobody can check it any more; the audit says that it was affected."""
_END_WORK = sa.text(
    """
    UPDATE stage_run SET error = NULL, lease_until = NULL,
        status = CASE WHEN status = 'done' THEN 'done' ELSE 'dead' END
    WHERE subject = ANY(:subjects)
    """
)
"""What it failed of may quote values. Who still works on it, frozen while others gave it up, loses
his lease: nothing that he has read comes back."""
