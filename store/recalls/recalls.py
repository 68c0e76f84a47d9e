"""Answers whose sources changed: marked in the transaction of the change, then checked again.

An answer that cites a document is `affected` by changes of that document: a new version, a
correction, an expression of concern, the end of the work. So is one that a new gate would not give
(`store.recalls.rechecks`). The recall stage then checks it again, and it ends `reaffirmed`, or
`superseded` by the question asked anew. A superseded answer stays so: from then on its successor is
checked. `store.recalls.log` shows all of this.
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

GATE = "gate"
"""The `change` of an answer that a new gate would not give."""

_LOCK = 0x4174746573740008  # "Attest", 8
"""One transaction at a time writes recalls: each may touch thousands of rows, in the order of the
documents that changed, which differs between transactions."""


@dataclass(frozen=True)
class Change:
    """What happened to a document; `detail` holds ids, numbers and dates, but no words of it."""

    document_id: UUID
    kind: ChangeKind
    detail: Mapping[str, Any] = field(default_factory=dict)

    def as_reason(self, at: str) -> dict[str, Any]:
        """The change as an entry of an answer's `because`."""
        return {
            "document_id": str(self.document_id),
            "change": self.kind,
            **self.detail,
            "at": at,
        }


def superseded(work: UnitOfWork, replaced: Mapping[UUID, tuple[int, int]]) -> None:
    """Record that versions were replaced: document → numbers of the old and the new version.

    Call this in the transaction of the change, with the documents locked.
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
    """Record that `source` reports notices it did not report before: document, kind, id, day.

    A notice that another source reported before is no news: of each kind, notices count only if
    they are more than any other source knows. Call this once they are written, with the documents
    locked.
    """
    cited = _cited(work.session, {notice[0] for notice in fresh})
    fresh = [notice for notice in fresh if notice[0] in cited]
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
        others = max((n for name, n in counts.items() if name != source), default=0)
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
    if notice == "supersession":
        return "superseded"
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
# Such a question asks what was current at a past moment: no later version changes that, but the end
# of a work does. A plain date is the whole day in UTC.
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
# An answer being sealed is waited for; one that is sealed later finds its recall (`sealed`).
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
    """Mark every answer that cites a changed document, and promise to check it; returns how many.

    One message covers all of them; the stage processes them in steps.

    Args:
        missed: only answers that no change has ever affected, though they cite what is not current.
    """
    if not changes:
        return 0
    changed: dict[UUID, list[Change]] = {}
    for change in changes:
        changed.setdefault(change.document_id, []).append(change)
    parameters = {
        "ids": list(changed),
        "ending": [item.document_id for item in changes if item.kind == "retracted"],
        "missed": missed,
    }
    if not work.session.execute(_CITING, parameters).first():
        return 0
    one_at_a_time(work.session)
    at = now()
    because: dict[UUID, list[dict[str, Any]]] = {}
    for question_id, document_id, cited in work.session.execute(_CITING, parameters):
        because.setdefault(question_id, []).extend(
            {**change.as_reason(at.isoformat()), "cited": cited} for change in changed[document_id]
        )
    work.session.execute(_UNSEALED, {"ids": list(because)})
    return len(mark(work, because, at))


def mark(
    work: UnitOfWork, because: Mapping[UUID, Sequence[Mapping[str, Any]]], at: datetime
) -> set[UUID]:
    """Mark these answers as affected and promise to check them; returns those that were.

    A superseded one stays so. The caller is the only one that writes recalls (`one_at_a_time`).

    Args:
        because: by question the reasons, as they stand in the answer's `because`.
    """
    recall_id = uuid4()
    marked = set(
        work.session.execute(
            _AFFECT,
            {
                "recall_id": recall_id,
                "at": at,
                "ids": list(because),
                "because": [json.dumps(list(entries)) for entries in because.values()],
            },
        ).scalars()
    )
    for question_id in because:
        if question_id in marked:
            reasons = list(because[question_id])
            work.record("answer.affected", question_id, recall_id=str(recall_id), because=reasons)
    if marked:
        work.emit(RecallV1(request_id=work.request_id or uuid4(), recall_id=recall_id, step=0))
    return marked


def find_missed(work: UnitOfWork) -> int:
    """Mark the answers whose sources changed before changes were tracked; returns how many."""
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
    """Have an answer that was just sealed checked if its sources changed on the way.

    Call this after the sealing, in its transaction and in its own statement: if the sealing waited
    for a change, only a later statement sees what the change marked.
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
    because: Sequence[Mapping[str, Any]] = ()


_NEXT = """
    FROM answer_recall r JOIN answer a ON a.question_id = r.question_id
    JOIN question q ON q.id = r.question_id
    WHERE r.recall_id = :recall_id AND r.state = 'affected' AND a.sealed_at IS NOT NULL
"""


def waiting(session: Session, recall_id: UUID, limit: int) -> list[Affected]:
    """The next waiting answers of this recall, in the order of their ids."""
    rows = session.execute(
        sa.text(
            f"SELECT r.question_id, {_ABOUT_THE_PAST} AS about_the_past, "
            f"r.affected_at, r.because {_NEXT} ORDER BY r.question_id LIMIT :limit"
        ),
        {"recall_id": recall_id, "limit": limit},
    )
    return [Affected(**row._mapping) for row in rows]


def anything_waits(session: Session, recall_id: UUID) -> bool:
    """True if answers of this recall are still waiting."""
    query = sa.text(f"SELECT EXISTS (SELECT {_NEXT})")
    return bool(session.execute(query, {"recall_id": recall_id}).scalar_one())


def asked_anew(session: Session) -> int:
    """The number of questions asked anew that are still under way."""
    return int(
        session.execute(
            sa.text(
                "SELECT count(*) FROM question q WHERE q.status IN ('queued', 'running') "
                "AND EXISTS (SELECT FROM answer_recall r WHERE r.superseded_by = q.id)"
            )
        ).scalar_one()
    )


def held(session: Session, recall_id: UUID, question_ids: Iterable[UUID]) -> set[UUID]:
    """Those that still wait for this recall, locked: no later change has taken them over."""
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
    """Mark these answers as reaffirmed, with each quotation at its new place."""
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
            "spans": [json.dumps(list(quotes)) for quotes in spans.values()],
            "at": now(),
        },
    )
    for question_id, places in spans.items():
        work.record("answer.reaffirmed", question_id, spans=list(places))


def supersede(
    work: UnitOfWork, question_id: UUID, findings: Sequence[Mapping[str, Any]], request_id: UUID
) -> UUID | None:
    """Mark this answer as superseded and ask its question anew; returns the new question's id.

    None if the question's text was erased: it cannot be asked again.
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
