"""A circuit breaker for each stage: a stage that fails most of its messages is paused.

    closed ──too many died──→ open ──its probe was done──→ closed
      └──an operator──→ paused ──an operator──→ closed        (an operator also closes an open one)

The state is in PostgreSQL and checked by every claim (`store.pipeline.ledger`). A message for a
paused stage is held: its outbox row is pending and due at `HELD_UNTIL`, so that nobody publishes it
and nothing loops. When the stage works again, held messages are due at once.
"""

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

import sqlalchemy as sa
import structlog
from pydantic import Field
from sqlmodel import Session

from knowledge.operation.operating import CircuitPolicy, circuit_policy
from messages import Stage
from store.core.clock import database_now
from store.core.unit_of_work import UnitOfWork

log = structlog.get_logger(__name__)

HELD_UNTIL = datetime(9000, 1, 1, tzinfo=UTC)
"""A time that never comes; Python cannot read PostgreSQL's `infinity`."""
CIRCUIT = "circuit"
"""Named as the one who changed a stage's state when no operator did."""


class Admission(StrEnum):
    """What a worker does with a message that it received."""

    WORK = "work"
    PROBE = "probe"
    HELD = "held"


@dataclass(frozen=True)
class StageState:
    """The state of a stage."""

    stage: str
    state: Annotated[
        Literal["closed", "open", "paused"],
        Field(
            description="closed: it works; open: too much died, it is tried now and then; paused: "
            "an operator stopped it"
        ),
    ]
    reason: str | None
    changed_by: str | None
    changed_at: datetime | None
    probe_at: Annotated[
        datetime | None, Field(description="when the next message is let through to try")
    ]
    probing: bool
    failed_probes: int
    deaths: Annotated[int, Field(description="within the window, or since it last began to work")]
    done: Annotated[int, Field(description="likewise, in success")]
    waiting: Annotated[int, Field(description="promised and not ended, held ones included")]
    held: Annotated[int, Field(description="waiting for the stage to work again")]


_LOCKED = sa.text("SELECT * FROM stage_circuit WHERE stage = :stage FOR UPDATE")


def _locked(session: Session, stage: str) -> Any:
    """The row, locked, so that holding and releasing messages exclude each other."""
    return session.execute(_LOCKED, {"stage": stage}).one_or_none()


def admit(work: UnitOfWork, stage: str, outbox_id: UUID | None) -> Admission:
    """Decide on a message for a stage that may be paused: work on it, use it as probe, or hold it.

    A message without an outbox row would be lost if it were held, so it is worked on.
    """
    row = _locked(work.session, stage)
    if row is None or row.state == "closed" or outbox_id is None:
        return Admission.WORK
    if row.state == "open" and row.probe == outbox_id:
        return Admission.PROBE
    due = row.state == "open" and row.probe is None and row.probe_at <= database_now(work.session)
    if due and _waits(work.session, outbox_id):
        _set(work.session, stage, "probe = :probe", probe=outbox_id)
        work.record("circuit.probed", stage, outbox_id=str(outbox_id))
        return Admission.PROBE
    work.session.execute(
        sa.text(
            "UPDATE outbox SET status = 'pending', publish_count = 0, not_before = :held "
            "WHERE id = :id AND status IN ('pending', 'published')"
        ),
        {"id": outbox_id, "held": HELD_UNTIL},
    )
    return Admission.HELD


def _waits(session: Session, outbox_id: UUID) -> bool:
    """True if the outbox message is still open: a late copy of a finished one proves nothing."""
    waiting = "SELECT 1 FROM outbox WHERE id = :id AND status IN ('pending', 'published')"
    return session.execute(sa.text(waiting), {"id": outbox_id}).one_or_none() is not None


def _set(session: Session, stage: str, change: str, **values: object) -> None:
    session.execute(
        sa.text(f"UPDATE stage_circuit SET {change} WHERE stage = :stage"),  # noqa: S608  our own
        {"stage": stage, **values},
    )


_COUNTS = sa.text(
    """
    WITH given AS (
        SELECT stage, greatest(CAST(:since AS timestamptz), counted_from) AS since
        FROM unnest(CAST(:stages AS varchar[])) AS stage LEFT JOIN stage_circuit USING (stage))
    SELECT given.stage,
           (SELECT count(*) FROM dead_letter AS d WHERE d.stage = given.stage
               AND d.died_at > given.since AND d.outbox_id IS NOT NULL) AS deaths,
           (SELECT count(*) FROM stage_run AS r WHERE r.stage = given.stage
               AND r.status = 'done' AND r.finished_at > given.since) AS done
    FROM given
    """
)
_DEATHS = sa.text(
    "SELECT stage, count(*) AS deaths FROM dead_letter "
    "WHERE died_at > :since AND outbox_id IS NOT NULL AND stage = ANY(:stages) GROUP BY stage"
)


def watch_deaths(work: UnitOfWork, stage: str | None = None) -> list[str]:
    """Open the circuits of stages in which too many messages died lately; returns their names.

    Only messages of the outbox count: a foreign message on a queue is no failure of the stage.

    Args:
        stage: check only this stage, in which a message has just died; None: all stages.
    """
    policy = circuit_policy()
    since = database_now(work.session) - timedelta(seconds=policy.window_seconds)
    known = [member.value for member in Stage if stage in (None, member.value)]
    recent = work.session.execute(_DEATHS, {"since": since, "stages": known})
    suspects = [row.stage for row in recent if row.deaths >= policy.least_deaths]
    if not suspects:
        return []
    counts = work.session.execute(_COUNTS, {"since": since, "stages": suspects}).all()
    return [
        row.stage
        for row in counts
        if policy.opens(row.deaths, row.done) and _open(work, row.stage, row, policy)
    ]


def _open(work: UnitOfWork, stage: str, counts: Any, policy: CircuitPolicy) -> bool:
    """Pause `stage`; returns False if it is paused already."""
    ended = counts.deaths + counts.done
    reason = f"{counts.deaths} of {ended} messages died within {policy.window_seconds:g} s"
    moment = database_now(work.session)
    opened = _change(
        work.session,
        stage,
        "open",
        CIRCUIT,
        reason,
        probe_at=moment + timedelta(seconds=policy.wait_seconds(0)),
        only_from=("closed",),
    )
    if opened:
        log.error("circuit_opened", stage=stage, cause=reason)
        work.record("circuit.opened", stage, deaths=counts.deaths, done=counts.done)
    return opened


_CHANGE = sa.text(
    """
    INSERT INTO stage_circuit AS c (stage, state, reason, changed_by, changed_at, counted_from,
                                    probe_at)
    VALUES (:stage, :state, :reason, :by, :at, NULL, :probe_at)
    ON CONFLICT (stage) DO UPDATE
    SET state = excluded.state, reason = excluded.reason, changed_by = excluded.changed_by,
        changed_at = excluded.changed_at, probe_at = excluded.probe_at, probe = NULL,
        failed_probes = 0,
        counted_from = CASE WHEN excluded.state = 'closed' THEN excluded.changed_at
                            ELSE c.counted_from END
    WHERE c.state = ANY(:only_from)
    RETURNING stage
    """
)


def _change(
    session: Session,
    stage: str,
    state: str,
    by: str,
    reason: str | None,
    *,
    only_from: tuple[str, ...],
    probe_at: datetime | None = None,
) -> bool:
    """Write the new state if the old one is among `only_from`; returns True if it was."""
    values = {"stage": stage, "state": state, "by": by, "reason": reason, "probe_at": probe_at}
    row = session.execute(
        _CHANGE, {**values, "at": database_now(session), "only_from": list(only_from)}
    ).one_or_none()
    return row is not None


def pause(work: UnitOfWork, stage: str, reason: str) -> bool:
    """Stop `stage` until an operator starts it; work in progress is not interrupted.

    The reason is stored; the audit event has only its hash (invariant 11).

    Returns:
        False if an operator had paused it before, else True.
    """
    paused = _change(
        work.session, stage, "paused", work.actor, reason, only_from=("closed", "open")
    )
    if paused:
        log.info("stage_paused", stage=stage, by=work.actor)
        digest = hashlib.sha256(reason.encode(errors="surrogatepass")).hexdigest()
        work.record("stage.paused", stage, reason_sha256=digest)
    return paused


def resume(work: UnitOfWork, stage: str) -> int | None:
    """Start `stage`, whoever stopped it; deaths before now are no longer counted.

    Returns:
        How many messages were held; None if the stage was working.
    """
    row = _locked(work.session, stage)
    if row is None or row.state == "closed":
        return None
    held = _close(work, stage, work.actor)
    work.record("stage.resumed", stage, was=row.state, held=held)
    return held


def _close(work: UnitOfWork, stage: str, by: str) -> int:
    _change(work.session, stage, "closed", by, None, only_from=("open", "paused"))
    held = _release(work.session, stage)
    log.info("stage_works_again", stage=stage, by=by, held=held)
    return held


def _release(session: Session, stage: str, most: int | None = None) -> int:
    """Make the held messages of `stage` due, oldest first; returns how many."""
    return len(
        session.execute(
            sa.text(
                """
                UPDATE outbox SET not_before = clock_timestamp() WHERE id IN (
                    SELECT id FROM outbox
                    WHERE status = 'pending' AND not_before = :held AND stage = :stage
                    ORDER BY created_at LIMIT :most FOR UPDATE SKIP LOCKED)
                RETURNING id
                """
            ),
            {"stage": stage, "held": HELD_UNTIL, "most": most},
        ).all()
    )


_PROBE = sa.text("SELECT status, not_before FROM outbox WHERE id = :id")


def settle(work: UnitOfWork, stage: str, policy: CircuitPolicy | None = None) -> None:
    """Evaluate the probe of `stage`, or release one message as a probe if it is time.

    Safe to call at any time and from any number of processes.
    """
    policy = policy or circuit_policy()
    row = _locked(work.session, stage)
    if row is None or row.state == "paused":
        return
    if row.state == "closed":
        _release(work.session, stage)  # held by a worker while the stage was being started
        return
    moment = database_now(work.session)
    if row.probe is None:
        if row.probe_at <= moment:
            _release(work.session, stage, most=1)
        return
    probe = work.session.execute(_PROBE, {"id": row.probe}).one_or_none()
    if probe is not None and probe.status == "done":
        held = _close(work, stage, CIRCUIT)
        work.record("circuit.closed", stage, held=held, failed_probes=row.failed_probes)
    elif probe is None or probe.status == "dead":
        failed = row.failed_probes + 1
        again = moment + timedelta(seconds=policy.wait_seconds(failed))
        change = "probe = NULL, failed_probes = :failed, probe_at = :again"
        _set(work.session, stage, change, failed=failed, again=again)
        work.record("circuit.probe_failed", stage, failed_probes=failed)
    elif probe.not_before > moment + timedelta(seconds=policy.probe_seconds):
        # Its retry is far away and says nothing: another message may be the probe.
        _set(work.session, stage, "probe = NULL")


def unsettled(session: Session) -> list[str]:
    """Stages whose circuit is not closed, or for which messages are still held."""
    rows = session.execute(
        sa.text(
            "SELECT stage FROM stage_circuit WHERE state <> 'closed' UNION SELECT stage "
            "FROM outbox WHERE status = 'pending' AND not_before = :held ORDER BY stage"
        ),
        {"held": HELD_UNTIL},
    )
    return list(rows.scalars())


def paused(session: Session) -> dict[str, str]:
    """The stages whose circuit is not closed, each with its state: `open` or `paused`."""
    rows = session.execute(
        sa.text("SELECT stage, state FROM stage_circuit WHERE state <> 'closed' ORDER BY stage")
    )
    return {row.stage: row.state for row in rows}


def states(session: Session, policy: CircuitPolicy | None = None) -> list[StageState]:
    """The state of every stage, in the order of the chain."""
    policy = policy or circuit_policy()
    since = database_now(session) - timedelta(seconds=policy.window_seconds)
    names = [stage.value for stage in Stage]
    counts = {row.stage: row for row in session.execute(_COUNTS, {"since": since, "stages": names})}
    rows = {row.stage: row for row in session.execute(sa.text("SELECT * FROM stage_circuit"))}
    queued = {
        row.stage: row
        for row in session.execute(
            sa.text(
                # Two queries, because each status has an index of its own.
                "SELECT stage, count(*) FILTER (WHERE not_before = :held) AS held, "
                "count(*) AS waiting FROM ("
                "SELECT stage, not_before FROM outbox WHERE status = 'pending' UNION ALL "
                "SELECT stage, not_before FROM outbox WHERE status = 'published') AS waiting "
                "GROUP BY stage"
            ),
            {"held": HELD_UNTIL},
        )
    }
    return [_state(name, rows.get(name), counts[name], queued.get(name)) for name in names]


def _state(stage: str, row: Any, counts: Any, queued: Any) -> StageState:
    return StageState(
        stage=stage,
        state="closed" if row is None else row.state,
        reason=row and row.reason,
        changed_by=row and row.changed_by,
        changed_at=row and row.changed_at,
        probe_at=row and row.probe_at,
        probing=row is not None and row.probe is not None,
        failed_probes=0 if row is None else row.failed_probes,
        deaths=counts.deaths,
        done=counts.done,
        waiting=0 if queued is None else queued.waiting,
        held=0 if queued is None else queued.held,
    )
