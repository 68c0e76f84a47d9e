"""Answers whose sources changed: found in the transaction of the change, and what they end as.

Each answer that cites a document is `affected` by what is said of that document: a new version, a
correction, an expression of concern, the end of the work. The recall stage then checks it again
and it ends `reaffirmed`, or `superseded` by the question asked anew. A superseded answer stays so:
from there on its successor is what is looked after. What is shown of it all is in `recall_log`.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal
from uuid import UUID, uuid4

import sqlalchemy as sa
from sqlmodel import Session

from messages import RecallV1
from store.core.unit_of_work import UnitOfWork
from store.documents.records import ENDING_NOTICES
from store.models import Question, now
from store.questions.questions import submit

ChangeKind = Literal["superseded", "corrected", "expression_of_concern", "retracted"]

_LOCK = 0x4174746573740008  # "Attest", 8
"""Recalls are written one transaction at a time: each may touch thousands of rows, in the order of
the documents that changed, which differs from one to the next."""


@dataclass(frozen=True)
class Change:
    """What happened to a document; `detail` holds ids, numbers and dates, no words of it."""

    document_id: UUID
    kind: ChangeKind
    detail: Mapping[str, Any] = field(default_factory=dict)

    def as_reason(self, at: str) -> dict[str, Any]:
        """As it stands in an answer's `because`."""
        return {
            "document_id": str(self.document_id),
            "change": self.kind,
            **self.detail,
            "at": at,
        }


def superseded(work: UnitOfWork, replaced: Mapping[UUID, tuple[int, int]]) -> None:
    """Versions were replaced: document → number of the old and of the new one.

    Call it in the transaction of the change, with the documents locked.
    """
    affect(
        work,
        [
            Change(document_id, "superseded", {"version": old, "new_version": new})
            for document_id, (old, new) in replaced.items()
        ],
    )


def noticed(
    work: UnitOfWork, source: str, fresh: Sequence[tuple[UUID, str, str, date | None]]
) -> None:
    """`source` reports notices it did not report before: document, kind, id, day.

    What another source had reported before is no news: of each kind, only more notices than any
    other source knows count. Call it once they are written, with the documents locked.
    """
    cited = _cited(work.session, {one[0] for one in fresh})
    fresh = [one for one in fresh if one[0] in cited]
    if not fresh:
        return
    held: dict[tuple[UUID, ChangeKind], dict[str, int]] = {}
    for row in work.session.execute(
        sa.text(
            "SELECT document_id, source, kind, count(*) AS notices FROM notice "
            "WHERE document_id = ANY(:ids) AND gone_at IS NULL GROUP BY document_id, source, kind"
        ),
        {"ids": list(cited)},
    ):
        counts = held.setdefault((row.document_id, _change(row.kind)), {})
        counts[row.source] = counts.get(row.source, 0) + row.notices
    news: list[Change] = []
    for document_id, kind, notice_id, stated_on in fresh:
        change = _change(kind)
        counts = held[document_id, change]
        others = max((n for one, n in counts.items() if one != source), default=0)
        if others if change == "retracted" else counts[source] <= others:
            continue
        detail = {
            "notice": kind,
            "source": source,
            "notice_id": notice_id or None,
            "stated_on": stated_on.isoformat() if stated_on else None,
        }
        news.append(Change(document_id, change, detail))
    affect(work, news)


def _change(notice: str) -> ChangeKind:
    if notice in ENDING_NOTICES:
        return "retracted"
    return "expression_of_concern" if notice == "expression_of_concern" else "corrected"


def _cited(session: Session, document_ids: Collection[UUID]) -> set[UUID]:
    rows = session.execute(
        sa.text(
            "SELECT DISTINCT v.document_id FROM document_version v "
            "WHERE v.document_id = ANY(:ids) "
            "AND EXISTS (SELECT FROM citation c WHERE c.version_id = v.id)"
        ),
        {"ids": list(document_ids)},
    )
    return set(rows.scalars())


_ABOUT_THE_PAST = """
    ((q.options ->> 'as_of') IS NOT NULL AND
     CASE WHEN length(q.options ->> 'as_of') = 10
          THEN ((q.options ->> 'as_of')::date + 1)::timestamp AT TIME ZONE 'UTC'
          ELSE (q.options ->> 'as_of')::timestamptz END <= clock_timestamp())
"""
# Such a question asks what was current at a moment that is over: no later version changes that, the
# end of a work does. A plain date is the whole day in UTC.
_CITING = sa.text(
    f"""
    SELECT c.question_id, v.document_id, array_agg(DISTINCT v.n ORDER BY v.n) AS cited
    FROM document_version v JOIN citation c ON c.version_id = v.id
    JOIN question q ON q.id = c.question_id AND q.status <> 'erased'
    LEFT JOIN answer_recall r ON r.question_id = c.question_id
    WHERE v.document_id = ANY(:ids) AND r.state IS DISTINCT FROM 'superseded'
      AND (v.document_id = ANY(:ending) OR NOT {_ABOUT_THE_PAST})
      AND (NOT :missed OR (v.status <> 'current' AND r.question_id IS NULL))
    GROUP BY c.question_id, v.document_id ORDER BY c.question_id, v.document_id
    """  # noqa: S608  our own fragment
)
# One that is being sealed is waited for; one that is sealed later will find its row (`sealed`).
_UNSEALED = sa.text(
    "SELECT question_id FROM answer WHERE question_id = ANY(:ids) AND sealed_at IS NULL "
    "ORDER BY question_id FOR UPDATE"
)
_AFFECT = sa.text(
    """
    INSERT INTO answer_recall AS r (question_id, state, recall_id, because, affected_at, changed_at)
    SELECT question_id, 'affected', :recall_id, because, :at, :at
    FROM unnest(CAST(:ids AS uuid[]), CAST(:because AS jsonb[])) AS given (question_id, because)
    ON CONFLICT (question_id) DO UPDATE
    SET state = 'affected', recall_id = excluded.recall_id, changed_at = excluded.changed_at,
        because = excluded.because || CASE WHEN r.state = 'affected' THEN r.because ELSE
            -- versions that it was reaffirmed against are history; a notice stays a reason
            coalesce((SELECT jsonb_agg(one) FROM jsonb_array_elements(r.because) AS one
                      WHERE one ->> 'change' <> 'superseded'), '[]') END,
        affected_at = CASE WHEN r.state = 'affected' THEN r.affected_at
                           ELSE excluded.affected_at END
    WHERE r.state <> 'superseded' RETURNING question_id
    """
)


def affect(work: UnitOfWork, changes: Sequence[Change], *, missed: bool = False) -> int:
    """Mark every answer that cites a changed document, and promise to check it; gives how many.

    One message for all of them; the stage goes through them in steps.

    Args:
        missed: only answers that no change has ever affected, though they cite what is not current.
    """
    if not changes:
        return 0
    of: dict[UUID, list[Change]] = {}
    for change in changes:
        of.setdefault(change.document_id, []).append(change)
    asked = {
        "ids": list(of),
        "ending": [one.document_id for one in changes if one.kind == "retracted"],
        "missed": missed,
    }
    if not work.session.execute(_CITING, asked).first():
        return 0
    one_at_a_time(work.session)
    at = now()
    because: dict[UUID, list[dict[str, Any]]] = {}
    for question_id, document_id, cited in work.session.execute(_CITING, asked):
        because.setdefault(question_id, []).extend(
            {**change.as_reason(at.isoformat()), "cited": cited} for change in of[document_id]
        )
    recall_id = uuid4()
    work.session.execute(_UNSEALED, {"ids": list(because)})
    marked = work.session.execute(
        _AFFECT,
        {
            "recall_id": recall_id,
            "at": at,
            "ids": list(because),
            "because": [json.dumps(one) for one in because.values()],
        },
    ).scalars()
    count = 0
    for question_id in marked:
        reasons = because[question_id]
        work.record("answer.affected", question_id, recall_id=str(recall_id), because=reasons)
        count += 1
    if count:
        work.emit(RecallV1(request_id=work.request_id or uuid4(), recall_id=recall_id, step=0))
    return count


def find_missed(work: UnitOfWork) -> int:
    """Mark the answers whose sources changed before changes were followed; gives how many."""
    rows = work.session.execute(
        sa.text(
            """
            SELECT v.document_id, max(v.n) AS cited, EXISTS (
                       SELECT FROM notice WHERE notice.document_id = v.document_id
                       AND gone_at IS NULL AND kind = ANY(:ending)) AS ended,
                   (SELECT max(n) FROM document_version WHERE document_id = v.document_id) AS newest
            FROM citation c JOIN document_version v ON v.id = c.version_id
            LEFT JOIN answer_recall r ON r.question_id = c.question_id
            WHERE v.status <> 'current' AND r.question_id IS NULL GROUP BY v.document_id
            """
        ),
        {"ending": sorted(ENDING_NOTICES)},
    ).all()
    changes = [
        Change(row.document_id, "retracted")
        if row.ended
        else Change(
            row.document_id, "superseded", {"version": row.cited, "new_version": row.newest}
        )
        for row in rows
    ]
    return affect(work, changes, missed=True)


def one_at_a_time(session: Session) -> None:
    """Wait until no other transaction writes recalls, and keep others out until this one ends."""
    session.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))


def sealed(work: UnitOfWork, question_id: UUID, request_id: UUID) -> None:
    """An answer was sealed: where its sources changed on the way, it is checked now.

    Call it behind the sealing, in its transaction and in a statement of its own: where the sealing
    waited for a change, only a later statement sees what that marked.
    """
    recall_id = uuid4()
    row = work.session.execute(
        sa.text(
            "UPDATE answer_recall SET recall_id = :recall_id "
            "WHERE question_id = :id AND state = 'affected' RETURNING question_id"
        ),
        {"id": question_id, "recall_id": recall_id},
    ).one_or_none()
    if row is not None:
        work.emit(RecallV1(request_id=request_id, recall_id=recall_id, step=0))


# What the stage reads and writes ---------------------------------------------------------------


@dataclass(frozen=True)
class Affected:
    """A sealed answer that waits to be checked."""

    question_id: UUID
    about_the_past: bool
    affected_at: datetime


_NEXT = """
    FROM answer_recall r JOIN answer a ON a.question_id = r.question_id
    JOIN question q ON q.id = r.question_id
    WHERE r.recall_id = :recall_id AND r.state = 'affected' AND a.sealed_at IS NOT NULL
"""


def waiting(session: Session, recall_id: UUID, limit: int) -> list[Affected]:
    """The next answers of this recall, in the order of their ids."""
    rows = session.execute(
        sa.text(
            f"SELECT r.question_id, {_ABOUT_THE_PAST} AS about_the_past, "
            f"r.affected_at {_NEXT} ORDER BY r.question_id LIMIT :limit"
        ),
        {"recall_id": recall_id, "limit": limit},
    )
    return [Affected(**row._mapping) for row in rows]


def anything_waits(session: Session, recall_id: UUID) -> bool:
    """Whether answers of this recall are left."""
    query = sa.text(f"SELECT EXISTS (SELECT {_NEXT})")
    return bool(session.execute(query, {"recall_id": recall_id}).scalar_one())


def asked_anew(session: Session) -> int:
    """How many questions that were asked anew are still under way."""
    return int(
        session.execute(
            sa.text(
                "SELECT count(*) FROM question q WHERE q.status IN ('queued', 'running') "
                "AND EXISTS (SELECT FROM answer_recall r WHERE r.superseded_by = q.id)"
            )
        ).scalar_one()
    )


def held(session: Session, recall_id: UUID, question_ids: Iterable[UUID]) -> set[UUID]:
    """Those that still wait for this recall, locked: a later change has not taken them over."""
    one_at_a_time(session)
    rows = session.execute(
        sa.text(
            "SELECT question_id FROM answer_recall WHERE question_id = ANY(:ids) "
            "AND recall_id = :recall_id AND state = 'affected' ORDER BY question_id FOR UPDATE"
        ),
        {"ids": list(question_ids), "recall_id": recall_id},
    )
    return set(rows.scalars())


def reaffirm(work: UnitOfWork, spans: Mapping[UUID, Sequence[Mapping[str, Any]]]) -> None:
    """These answers stand, with each quotation at its new place."""
    if not spans:
        return
    work.session.execute(
        sa.text(
            """
            UPDATE answer_recall r
            SET state = 'reaffirmed', spans = given.spans, findings = '[]', changed_at = :at
            FROM unnest(CAST(:ids AS uuid[]), CAST(:spans AS jsonb[])) AS given (id, spans)
            WHERE r.question_id = given.id
            """
        ),
        {
            "ids": list(spans),
            "spans": [json.dumps(list(one)) for one in spans.values()],
            "at": now(),
        },
    )
    for question_id, places in spans.items():
        work.record("answer.reaffirmed", question_id, spans=list(places))


def supersede(
    work: UnitOfWork, question_id: UUID, findings: Sequence[Mapping[str, Any]], request_id: UUID
) -> UUID | None:
    """This answer does not stand: its question is asked anew; gives the new question's id.

    None where the question's text was erased: nobody can ask it any more.
    """
    old = work.session.get_one(Question, question_id)
    new = (
        submit(work, old.text, old.options, request_id=request_id, owner=old.owner)
        if old.text
        else None
    )
    work.session.execute(
        sa.text(
            "UPDATE answer_recall SET state = 'superseded', findings = CAST(:findings AS jsonb), "
            "superseded_by = :new, changed_at = :at WHERE question_id = :id"
        ),
        {
            "id": question_id,
            "new": new.id if new else None,
            "findings": json.dumps(list(findings)),
            "at": now(),
        },
    )
    work.record(
        "answer.superseded",
        question_id,
        superseded_by=str(new.id) if new else None,
        findings=list(findings),
    )
    return new.id if new else None
