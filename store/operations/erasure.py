"""Erases words of patients: every copy of them, but nothing that proves what happened.

Of a question, a note, a pasted text or an extraction there remain its row, with ids, times and
hashes, in the state `erased`; its audit events, so that the chain still verifies; and the citations
of its answer, which are places in sources and no words of the patient. The hashes of the words and
of data derived from them are keyed, and the key is erased with the words (`store.core.hashes`), so
that no guess can be tested against them.

Waiting work, also that of a retry or a dead letter, is withdrawn and erased. Erasure is refused
only while a worker holds a lease.

A question that a recall asked again has the same words in another row: all are erased together.
Erased words can return only by restoring a backup (docs/operations.md, "Erasure").
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session, col, select

from knowledge.operation.retention import TextKind
from messages import MessageError, Stage
from messages.upgrades import parse_upgraded
from store.core.unit_of_work import UnitOfWork
from store.dead_letters import dead_letters
from store.models import DeadLetter, now
from store.pipeline import ledger, outbox
from store.recalls import recalls


class NotThere(LookupError):
    """There is no such row, or it belongs to another owner."""


class NotYours(NotThere):
    """The row belongs to another owner."""


class UnderWay(RuntimeError):
    """The row is being worked on; the message says to wait."""


@dataclass(frozen=True)
class _Holder:
    """A table that holds words: the status of a finished row, and how a row is emptied."""

    table: str
    done: str
    emptied: str
    below: Mapping[str, str]
    """Tables with words of it whose rows are deleted, each with the column that names it."""


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
"""All tables that hold texts, for erasure on request and by age."""


class _Row(NamedTuple):
    id: UUID
    status: str
    owner: str
    request_id: UUID


def erase(
    work: UnitOfWork, kind: TextKind, subject: UUID, reason: str, *, owner: str | None = None
) -> list[UUID]:
    """Erase the words of one row, with an audit event; returns the ids of all erased rows. The list
    is empty if it was erased before.

    Args:
        reason: a name from `retention.yaml`; the audit event keeps it for ever.
        owner: the owner it must have; None: any owner, for operators.

    Raises:
        NotThere: there is no such row of this owner.
        UnderWay: a worker holds a lease on it, or on a repeat of the question by a recall.
    """
    if kind == "question":
        recalls.one_at_a_time(work.session)  # else a recall may mark the answer while it is erased
    ids = _same_words(work.session, kind, subject)
    letters = _open_letters(work.session, ids)
    rows = _rows(work.session, kind, ids)
    if subject not in rows:
        raise NotThere(f"there is no {kind} {subject}")
    if owner not in (None, rows[subject].owner):
        raise NotYours(f"there is no {kind} {subject}")
    holder = HOLDERS[kind]
    if not _withdrawn(work.session, rows.values()):
        raise UnderWay(f"the {kind} is being worked on: erase it once that has ended")
    rows = _rows(work.session, kind, ids, lock="FOR UPDATE")
    going = [row.id for row in rows.values() if row.status != "erased"]
    if going:
        _empty(work, kind, holder, going)
        for letter_id in letters:  # there is nothing left to replay
            dead_letters.discard(work, letter_id, "its words were erased")
        for row_id in going:
            work.record(f"{kind}.erased", row_id, reason=reason)
            work.notify(kind, row_id)
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
    """The row itself, and for a question its repeats by recalls and the questions it repeats."""
    if kind != "question":
        return [subject]
    return list(session.execute(_ASKED_ANEW, {"id": subject}).scalars())


def _open_letters(session: Session, ids: Iterable[UUID]) -> Sequence[UUID]:
    """The open dead letters of these rows, locked before the rows, in the order of a replay."""
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
    """Withdraw the open messages of these rows, so that none that still arrives starts work.
    Returns False if a worker holds a lease on one of them.

    The ledger is locked first and the rows later, as by a worker that commits. A worker that
    commits meanwhile may write the next stage's message: the next round of the loop reads it.
    """
    holders = list(rows)
    subjects, seen = [str(row.id) for row in holders], list[UUID]()
    requests = [row.request_id for row in holders]
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
        return True  # an unreadable message cannot start work either
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
    session, values = work.session, {"ids": list(ids), "at": now()}
    for table, column in holder.below.items():
        session.execute(sa.text(f"DELETE FROM {table} WHERE {column} = ANY(:ids)"), values)  # noqa: S608
    session.execute(
        sa.text(
            f"UPDATE {holder.table} SET status = 'erased', erased_at = :at, "  # noqa: S608
            f"{holder.emptied} WHERE id = ANY(:ids)"
        ),
        values,
    )
    if kind == "question":
        session.execute(_EMPTY_ANSWERS, values)
        session.execute(_FORGET_RECALLS, values)
    session.execute(_END_WORK, {"subjects": [str(row_id) for row_id in ids]})


_EMPTY_ANSWERS = sa.text(
    """
    UPDATE answer SET body = coalesce((
        SELECT jsonb_object_agg(key, value) FROM jsonb_each(body)
        WHERE key IN ('verification_summary', 'quotations', 'provenance')), '{}')
    WHERE question_id = ANY(:ids)
    """
)
"""Keeps the gate's counts, and the release, policies and model that made it: no words."""
_FORGET_RECALLS = sa.text(
    "DELETE FROM answer_recall WHERE question_id = ANY(:ids) AND state = 'affected'"
)
"""Nobody can check the answer any more; the audit chain says that it was affected."""
_END_WORK = sa.text(
    """
    UPDATE stage_run SET error = NULL, lease_until = NULL,
        status = CASE WHEN status = 'done' THEN 'done' ELSE 'dead' END
    WHERE subject = ANY(:subjects)
    """
)
"""An error may quote values. A worker that is frozen with an expired lease on it loses the lease,
so that nothing it has read is written."""
