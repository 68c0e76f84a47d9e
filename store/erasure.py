"""Words of patients are erased: every copy of them, and nothing that proves what happened.

What stays of a question, a note, a pasted text or an extraction is its row, with ids, times and
hashes, in the state `erased`; its audit events, so that the chain still verifies; and the places
in sources that its answer cited, which are no words of the patient. The hashes of the words and of
what was made of them were keyed, and the key goes with the words (`store.hashes`): no guess can be
held against them then.

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
from store import dead_letters, recalls
from store.models import DeadLetter, now
from store.unit_of_work import UnitOfWork


class NotThere(LookupError):
    """There is no such thing, or it is another owner's."""


class NotYours(NotThere):
    """It is another owner's."""


class UnderWay(RuntimeError):
    """It is being worked on; the text says to wait."""


@dataclass(frozen=True)
class _Holder:
    """A table that holds words: which of its rows are worked on, and what emptying one means."""

    table: str
    done: str
    working: frozenset[str]
    emptied: str
    below: Mapping[str, str]
    """Tables whose rows hold words of it and go whole, with the column that names it."""


_QUEUED = frozenset({"queued"})
_QUEUED_OR_RUNNING = frozenset({"queued", "running"})
HOLDERS: Mapping[TextKind, _Holder] = {
    "question": _Holder(
        "question",
        "answered",
        _QUEUED_OR_RUNNING,
        "text = '', options = '{}', stage = NULL, error = NULL, idempotency_key = NULL, "
        "hash_key = NULL",
        {"retrieval": "question_id", "draft": "question_id", "answer_inputs": "question_id"},
    ),
    "note": _Holder(
        "note",
        "done",
        _QUEUED,
        "text = '', title = NULL, result = NULL, error = NULL, idempotency_key = NULL, "
        "hash_key = NULL",
        {},
    ),
    "verification": _Holder(
        "verification",
        "done",
        _QUEUED,
        "text = '', documents = '[]', options = '{}', result = NULL, error = NULL, "
        "idempotency_key = NULL, hash_key = NULL",
        {},
    ),
    "extraction": _Holder(
        "extraction",
        "done",
        _QUEUED_OR_RUNNING,
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
        UnderWay: it, or a question that a recall had asked anew, is being worked on.
    """
    if kind == "question":
        recalls.one_at_a_time(work.session)  # or one may mark the answer while it goes
    ids = _same_words(work.session, kind, subject)
    letters = _open_letters(work.session, ids)
    found = _locked(work.session, kind, ids)
    if subject not in found:
        raise NotThere(f"there is no {kind} {subject}")
    if owner not in (None, found[subject].owner):
        raise NotYours(f"there is no {kind} {subject}")
    holder = HOLDERS[kind]
    if any(one.status in holder.working for one in found.values()):
        raise UnderWay(f"the {kind} is being worked on: erase it once that has ended")
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


def _locked(session: Session, kind: TextKind, ids: Sequence[UUID]) -> dict[UUID, _Row]:
    rows = session.execute(
        sa.text(
            f"SELECT id, status, owner FROM {HOLDERS[kind].table} "  # noqa: S608  our own
            "WHERE id = ANY(:ids) ORDER BY id FOR UPDATE"
        ),
        {"ids": list(ids)},
    )
    return {row.id: _Row(row.id, row.status, row.owner) for row in rows}


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
