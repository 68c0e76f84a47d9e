"""Recalls as they are shown: beside an answer, in lists, as a feed, to operators.

The feed consists of the audit log's own events in commit order, so a reader that comes back with a
cursor has missed nothing.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Session, col, select

from store.core.cursors import pack, unpack
from store.core.paging import Page, page_of
from store.models import AnswerRecall, Question

RecallState = Literal["current", "affected", "reaffirmed", "superseded"]
CHANGED = ("affected", "reaffirmed", "superseded")


@dataclass(frozen=True)
class RecallChange:
    """One change of an answer's recall, as in the audit log."""

    seq: int
    at: datetime
    question_id: UUID
    state: str
    detail: Mapping[str, Any]


@dataclass(frozen=True)
class Feed:
    """Changes in commit order; `cursor` is where the next ones begin."""

    changes: list[RecallChange]
    cursor: str | None
    more: bool


OF_QUESTION = """
    SELECT json_agg(json_build_object(
        'question_id', question_id, 'state', state, 'because', because, 'spans', spans,
        'findings', findings, 'superseded_by', superseded_by, 'affected_at', affected_at,
        'changed_at', changed_at))
    FROM answer_recall WHERE question_id = :id OR superseded_by = :id
"""
"""SQL: what `told` reads, as one JSON value; null if there is nothing. For larger statements."""


def told(question_id: UUID, rows: Collection[Mapping[str, Any]]) -> dict[str, Any]:
    """The `recall` of an answer, as callers see it (DESIGN section 5).

    Args:
        rows: the result of `OF_QUESTION`.
    """
    by_question: dict[UUID, Mapping[str, Any]] = {UUID(row["question_id"]): row for row in rows}
    row = by_question.pop(question_id, None)
    shown: dict[str, Any] = {"state": "current", "because": []}
    for predecessor in by_question:
        shown["supersedes"] = str(predecessor)
    if row is None:
        return shown
    shown |= {
        "state": row["state"],
        "because": row["because"],
        "affected_at": _moment(row["affected_at"]),
        "changed_at": _moment(row["changed_at"]),
    }
    match row["state"]:
        case "reaffirmed":
            shown["spans"] = row["spans"]
        case "superseded":
            shown["findings"] = row["findings"]
            shown["superseded_by"] = row["superseded_by"]
    return shown


def _moment(written: str) -> str:
    """The moment as Python writes it: PostgreSQL drops trailing zeros of fractional seconds."""
    return datetime.fromisoformat(written).isoformat()


def states(session: Session, question_ids: Collection[UUID]) -> dict[UUID, str]:
    """The states of those of these answers that are not `current`."""
    rows = session.execute(
        select(col(AnswerRecall.question_id), col(AnswerRecall.state)).where(
            col(AnswerRecall.question_id).in_(question_ids)
        )
    )
    return {row.question_id: row.state for row in rows}


def counts(session: Session) -> dict[str, int]:
    """The number of answers in each state; 0 where there are none."""
    rows = session.execute(
        sa.text("SELECT state, count(*) AS answers FROM answer_recall GROUP BY state")
    )
    return dict.fromkeys(CHANGED, 0) | {row.state: row.answers for row in rows}


def oldest_affected_seconds(session: Session) -> float:
    """Seconds for which the longest waiting answer has been affected; 0 if none is."""
    query = sa.text(
        "SELECT coalesce(extract(epoch FROM clock_timestamp() - min(affected_at)), 0) "
        "FROM answer_recall WHERE state = 'affected'"
    )
    return float(session.execute(query).scalar_one())


_FEED = "\nUNION ALL\n".join(
    f"""(SELECT seq, at, subject, '{state}' AS state, payload FROM audit_event
        WHERE event = 'answer.{state}' AND seq > :after
          AND (CAST(:since AS timestamptz) IS NULL OR at >= :since)
          AND (CAST(:owner AS varchar) IS NULL OR EXISTS (
              SELECT FROM question q WHERE q.owner = :owner
              AND q.id = CASE WHEN event = 'answer.{state}' THEN CAST(subject AS uuid) END))
        ORDER BY seq LIMIT :limit)"""  # noqa: S608  our own
    for state in CHANGED
)


def feed(
    session: Session,
    *,
    owner: str | None = None,
    since: datetime | None = None,
    cursor: str | None = None,
    limit: int = 100,
) -> Feed:
    """Changes, oldest first.

    Args:
        owner: only changes of this owner's answers.
        since: only changes at or after this moment.
        cursor: of the page before; even that of the last page leads on, once there is more.

    Raises:
        InvalidCursor: `cursor` was not given out by this function.
    """
    after = int(unpack(cursor, [int])[0]) if cursor is not None else 0
    rows = session.execute(
        sa.text(f"{_FEED} ORDER BY seq LIMIT :limit"),
        {"after": after, "since": since, "owner": owner, "limit": limit + 1},
    ).all()
    changes = [
        RecallChange(row.seq, row.at, UUID(row.subject), row.state, row.payload)
        for row in rows[:limit]
    ]
    last = pack([changes[-1].seq]) if changes else cursor
    return Feed(changes, last, len(rows) > limit)


def listing(
    session: Session, *, state: str | None = None, cursor: str | None = None, limit: int = 50
) -> Page[AnswerRecall]:
    """Recalled answers, the latest change first.

    Raises:
        InvalidCursor: `cursor` was not given out by this function.
    """
    query = select(AnswerRecall)
    if state is not None:
        query = query.where(AnswerRecall.state == state)
    at, key = col(AnswerRecall.changed_at), col(AnswerRecall.question_id)
    return page_of(session, query, at, key, cursor=cursor, limit=limit)


def with_state(state: str) -> sa.ColumnElement[bool]:
    """A condition for queries of questions: only those whose answer is in this state."""
    ids = select(col(AnswerRecall.question_id)).where(AnswerRecall.state == state)
    return col(Question.id).in_(ids)
