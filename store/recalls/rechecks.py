"""Runs that verify held answers again: which answers, how far, what became of each.

A run goes through the sealed answers that an older gate let through, in the order of their ids. A
dry run only tells. For real, what no longer stands is recalled in the transaction that writes it
down: `affected`, and then superseded by the recall stage, as when a source changed. The answer
itself is never changed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID, uuid4

import sqlalchemy as sa
from sqlmodel import Session, col, select

from messages import RecheckV1
from store.core.cursors import InvalidCursor, pack, unpack
from store.core.unit_of_work import UnitOfWork
from store.models import Recheck, RecheckAnswer, now
from store.recalls.recalls import GATE, mark, one_at_a_time

Outcome = Literal["stands", "falls", "needs_judge", "unreadable"]
OUTCOMES: tuple[Outcome, ...] = ("stands", "falls", "needs_judge", "unreadable")
_LOCK = 0x4174746573740009  # "Attest", 9: one transaction at a time begins a run


class AnotherRuns(RuntimeError):
    """A run with other options is under way; there is one at a time."""


@dataclass(frozen=True)
class Held:
    """An answer to look at: `gate` is that which it passed, None if that is not on record."""

    question_id: UUID
    body: Mapping[str, Any]
    inputs: Mapping[str, Any] | None
    hash_key: bytes | None
    gate: str | None


@dataclass(frozen=True)
class Outcomes:
    """What a gate makes of one answer; `findings` has an entry for each claim that changes.

    `told` is for the audit log alone: what was found of each claim, without its words.
    """

    question_id: UUID
    outcome: Outcome
    gate_before: str | None
    findings: Sequence[Mapping[str, Any]] = ()
    told: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Progress:
    """A run, how many answers it has looked at by outcome, and the claims that change, by check."""

    run: Recheck
    outcomes: Mapping[str, int]
    checks: Mapping[str, int]
    claims: int

    @property
    def done(self) -> int:
        """How many answers it has looked at."""
        return sum(self.outcomes.values())


@dataclass(frozen=True)
class Changes:
    """A page of the answers that change, or that nobody can tell of."""

    answers: list[RecheckAnswer]
    next_cursor: str | None


def start(
    work: UnitOfWork, *, dry_run: bool, everything: bool = False, ask: bool = False
) -> Recheck:
    """Begin a run, or find the one under way with these options.

    Args:
        dry_run: nothing is recalled.
        everything: look also at answers that the gate of today let through.
        ask: put to the language model what the record does not answer.

    Raises:
        AnotherRuns: one with other options is under way.
    """
    work.session.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
    running = work.session.exec(select(Recheck).where(Recheck.status == "running")).first()
    if running is not None:
        if (running.dry_run, running.everything, running.ask) == (dry_run, everything, ask):
            return running
        kind = "a dry run" if running.dry_run else "a run for real"
        raise AnotherRuns(f"{kind} is under way ({running.id}): wait for its end, then start yours")
    run = Recheck(
        dry_run=dry_run,
        everything=everything,
        ask=ask,
        request_id=work.request_id or uuid4(),
        created_at=now(),
    )
    work.session.add(run)
    options = {"dry_run": dry_run, "everything": everything, "ask": ask}
    work.record("recheck.started", run.id, **options)
    work.emit(RecheckV1(request_id=run.request_id, recheck_id=run.id, step=0))
    return run


def lately(session: Session, limit: int) -> list[Recheck]:
    """The last runs, the newest first."""
    query = select(Recheck).order_by(sa.desc("created_at")).limit(limit)
    return list(session.exec(query))


_OLDER = """
    FROM answer a JOIN question q ON q.id = a.question_id AND q.status <> 'erased'
    LEFT JOIN answer_quality m ON m.question_id = a.question_id
    LEFT JOIN answer_recall r ON r.question_id = a.question_id
    WHERE a.sealed_at IS NOT NULL AND a.abstain_reason IS NULL
      AND r.state IS DISTINCT FROM 'superseded'
      AND (:everything OR (m.gate IS DISTINCT FROM :gate AND NOT EXISTS (
          SELECT FROM recheck_answer x
          WHERE x.question_id = a.question_id AND x.gate = :gate AND x.settles)))
      AND a.question_id > coalesce(
          (SELECT x.question_id FROM recheck_answer x WHERE x.recheck_id = :id
           ORDER BY x.question_id DESC LIMIT 1), '00000000-0000-0000-0000-000000000000')
"""
_NEXT = sa.text(
    f"""
    SELECT a.question_id, a.body, i.body AS inputs, q.hash_key, m.gate
    FROM (SELECT a.question_id {_OLDER} ORDER BY a.question_id LIMIT :limit) AS chosen
    JOIN answer a USING (question_id) JOIN question q ON q.id = a.question_id
    LEFT JOIN answer_inputs i USING (question_id)
    LEFT JOIN answer_quality m ON m.question_id = a.question_id
    ORDER BY a.question_id
    """  # noqa: S608  our own fragment
)
_COUNT = sa.text(f"SELECT count(*) {_OLDER}")
_MORE = sa.text(f"SELECT EXISTS (SELECT {_OLDER})")
_HELD = sa.text("SELECT id FROM question WHERE id = ANY(:ids) AND status <> 'erased'")
_VERSIONS = sa.text(
    """
    SELECT v.document_id, v.n, v.id FROM document_version v
    JOIN unnest(CAST(:documents AS uuid[]), CAST(:numbers AS int[])) AS cited (document_id, n)
      ON v.document_id = cited.document_id AND v.n = cited.n
    """
)


def next_held(session: Session, run: Recheck, gate: str, limit: int) -> list[Held]:
    """The next answers of this run, in the order of their ids."""
    rows = session.execute(_NEXT, {**_of(run, gate), "limit": limit})
    return [Held(**row._mapping) for row in rows]


def versions(session: Session, cited: Sequence[tuple[UUID, int]]) -> dict[tuple[UUID, int], UUID]:
    """The ids of versions by document and number."""
    documents, numbers = [one for one, _ in cited], [n for _, n in cited]
    rows = session.execute(_VERSIONS, {"documents": documents, "numbers": numbers})
    return {(row.document_id, row.n): row.id for row in rows}


def _of(run: Recheck, gate: str) -> dict[str, Any]:
    return {"id": run.id, "everything": run.everything, "gate": gate}


def put(work: UnitOfWork, recheck_id: UUID, gate: str, found: Sequence[Outcomes]) -> bool:
    """Write down what became of these answers, and recall those that fall, unless it is a dry run.

    Call this once a step, in its transaction.

    Returns:
        Whether there is more to look at; if not, the run has ended.

    Raises:
        LookupError: no such run is under way.
    """
    run = work.session.get(Recheck, recheck_id, with_for_update=True)
    if run is None or run.status != "running":
        raise LookupError(f"no run {recheck_id} is under way")
    at = now()
    if run.answers is None:
        run.answers = work.session.execute(_COUNT, _of(run, gate)).scalar_one()
        run.gate = gate
    if not run.dry_run:
        one_at_a_time(work.session)
        _recall(work, run, gate, found, at)
    work.session.add_all(
        RecheckAnswer(
            recheck_id=run.id,
            question_id=one.question_id,
            outcome=one.outcome,
            gate=gate,
            gate_before=one.gate_before,
            findings=[dict(finding) for finding in one.findings],
            settles=not run.dry_run and one.outcome in ("stands", "falls"),
            checked_at=at,
        )
        for one in found
    )
    work.session.flush()
    if found and work.session.execute(_MORE, _of(run, gate)).scalar_one():
        return True
    run.status, run.finished_at = "done", at
    counted = progress(work.session, run)
    work.record(
        "recheck.ended",
        run.id,
        dry_run=run.dry_run,
        gate=gate,
        outcomes=dict(counted.outcomes),
        checks=dict(counted.checks),
    )
    return False


def _recall(
    work: UnitOfWork, run: Recheck, gate: str, found: Sequence[Outcomes], at: datetime
) -> None:
    """What falls goes the way of a recall; what was found of each answer is on record."""
    held = set(work.session.execute(_HELD, {"ids": [one.question_id for one in found]}).scalars())
    for one in found:
        told = {**(one.told or {}), "findings": [dict(entry) for entry in one.findings]}
        names = {"recheck_id": str(run.id), "gate": gate, "gate_before": one.gate_before}
        work.record("answer.rechecked", one.question_id, outcome=one.outcome, **names, **told)
    because = {
        one.question_id: [
            {
                "change": GATE,
                "gate": gate,
                "recheck_id": str(run.id),
                "findings": [dict(finding) for finding in one.findings],
                "at": at.isoformat(),
            }
        ]
        for one in found
        if one.outcome == "falls" and one.question_id in held
    }
    if because:
        mark(work, because, at)


def failed(work: UnitOfWork, recheck_id: UUID, cause: str) -> None:
    """End a run whose step died; what it wrote down counts, and another run goes on from there."""
    run = work.session.get(Recheck, recheck_id, with_for_update=True)
    if run is not None and run.status == "running":
        run.status, run.error, run.finished_at = "failed", cause, now()
        work.record("recheck.failed", recheck_id)


def get(session: Session, recheck_id: UUID) -> Recheck | None:
    """The run with this id, if there is one."""
    return session.get(Recheck, recheck_id)


_OUTCOMES = sa.text(
    "SELECT outcome, count(*) AS answers FROM recheck_answer WHERE recheck_id = :id GROUP BY 1"
)
_CHECKS = sa.text(
    """
    SELECT told AS name, count(*) AS claims
    FROM recheck_answer, jsonb_array_elements(findings) AS finding,
         jsonb_array_elements_text(finding -> 'checks') AS told
    WHERE recheck_id = :id GROUP BY 1 ORDER BY 2 DESC, 1
    """
)
_CLAIMS = sa.text(
    "SELECT coalesce(sum(jsonb_array_length(findings)), 0) FROM recheck_answer "
    "WHERE recheck_id = :id"
)


def progress(session: Session, run: Recheck) -> Progress:
    """How far a run is, and what it has found so far."""
    of = {"id": run.id}
    rows = session.execute(_OUTCOMES, of)
    outcomes = dict.fromkeys(OUTCOMES, 0) | {row.outcome: row.answers for row in rows}
    checks = {row.name: row.claims for row in session.execute(_CHECKS, of)}
    return Progress(run, outcomes, checks, int(session.execute(_CLAIMS, of).scalar_one()))


def changes(
    session: Session, recheck_id: UUID, *, cursor: str | None = None, limit: int = 100
) -> Changes:
    """The answers of a run that do not stand as they are, in the order of their ids.

    Raises:
        InvalidCursor: `cursor` was not given out by this function.
    """
    key = col(RecheckAnswer.question_id)
    query = (
        select(RecheckAnswer)
        .where(RecheckAnswer.recheck_id == recheck_id, RecheckAnswer.outcome != "stands")
        .order_by(key)
        .limit(limit + 1)
    )
    if cursor is not None:
        query = query.where(key > _last(cursor))
    rows = list(session.exec(query))
    page = rows[:limit]
    return Changes(page, pack([str(page[-1].question_id)]) if len(rows) > limit else None)


def _last(cursor: str) -> UUID:
    try:
        return UUID(str(unpack(cursor, [str])[0]))
    except ValueError as error:
        raise InvalidCursor("use the next_cursor of the page before, unchanged") from error


def whole(session: Session, recheck_id: UUID) -> list[RecheckAnswer]:
    """All that `changes` pages through."""
    found, cursor = changes(session, recheck_id), None
    answers = found.answers
    while (cursor := found.next_cursor) is not None:
        found = changes(session, recheck_id, cursor=cursor)
        answers += found.answers
    return answers
