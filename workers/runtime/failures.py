"""How work ends that could not be done: put back for another attempt, or as a dead letter."""

import traceback as tracebacks
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

import structlog
from dramatiq.middleware import TimeLimitExceeded

from messages import MessageError
from store.core.unit_of_work import Store
from store.dead_letters import dead_letters
from store.dead_letters.dead_letters import Death
from store.pipeline import ledger, outbox
from workers.runtime.errors import Later, Permanent, StageError, StoppedWorker, classify, describe

if TYPE_CHECKING:
    from workers.runtime.stage import Context, StageSpec, Work

log = structlog.get_logger(__name__)

MOST_LOSSES = 2
"""Issue 29: work that has ended this many workers, or timed out as often, is a dead letter."""


def broke(
    context: "Context",
    spec: "StageSpec[Any, Any]",
    payload: object,
    outbox_id: UUID | None,
    error: Exception,
) -> None:
    """End the outbox message as dead after the wrapper itself, or an `on_dead`, failed."""
    cause, trace = describe(error), "".join(tracebacks.format_tb(error.__traceback__))
    log.error("stage_broke", stage=spec.stage.value, cause=cause, traceback=trace)
    death = Death(
        stage=spec.stage.value,
        payload=payload if isinstance(payload, Mapping) else {},
        error_type=type(error).__name__,
        cause=cause,
        traceback=trace,
        outbox_id=outbox_id,
    )
    try:
        bury(context.store, death, if_idle=False)
    except Exception as again:  # noqa: BLE001  the reconciler sends it again
        log.error("dead_letter_not_written", error=type(again).__name__)


def judge(context: "Context", error: BaseException) -> None:
    """End a process that ran out of memory, once its work has ended or been handed back.

    Objects made at that moment are incomplete: a module, a pattern, a server's reply. Tested:
    every later document failed because of them, long after there was memory again.
    """
    if isinstance(error, (MemoryError, SystemError)) and not context.unfit:
        context.unfit.append(describe(error))
        context.stop.set()


def failed(context: "Context", work: "Work", error: BaseException) -> None:
    """End an attempt that failed: put the work back, or bury it."""
    judge(context, error)
    held, reason, exceeded = work.held, classify(error), _exceeded(work, error)
    if exceeded is not None and held.losses + 1 >= MOST_LOSSES:
        reason = StoppedWorker(f"stopped its worker: {exceeded}, again")
    later = isinstance(reason, Later)
    if isinstance(reason, Permanent) or (held.attempts >= work.spec.max_attempts and not later):
        trace = "".join(tracebacks.format_tb(error.__traceback__))
        die(context, work, reason, trace, type(error).__name__)
        return
    wait = reason.seconds if isinstance(reason, Later) else work.spec.backoff(held.attempts)
    log.warning(
        "stage_will_retry",
        **work.named,
        attempts=held.attempts,
        seconds=round(wait, 2),
        cause=describe(error),
    )
    try:
        with work.unit(context.store) as unit:
            ledger.put_back(
                unit.session, held, describe(error), counts=not later, lost=exceeded is not None
            )
            if work.outbox_id is not None:
                outbox.postpone(unit.session, work.outbox_id, wait)
    except ledger.LeaseLost:
        log.warning("lease_lost", **work.named)


def _exceeded(work: "Work", error: BaseException) -> str | None:
    """Which limit of time or memory the attempt exceeded; None if it merely failed."""
    if isinstance(error, TimeLimitExceeded):
        return f"it had not ended after {work.spec.time_limit_seconds:g} s"
    if isinstance(error, (MemoryError, SystemError)):
        return "it needed more memory than there was"
    return None


def die(
    context: "Context", work: "Work", reason: StageError, trace: str = "", error_type: str = ""
) -> None:
    """Bury the work as a dead letter."""
    cause, message = str(reason), work.message
    log.error("stage_died", **work.named, cause=cause)
    death = Death(
        stage=work.spec.stage.value,
        payload=message.payload(),
        error_type=error_type or type(reason).__name__,
        cause=cause,
        traceback=trace,
        attempts=min(work.held.attempts, work.spec.max_attempts),
        outbox_id=work.outbox_id,
        subject=message.subject,
    )
    try:
        with work.unit(context.store) as unit:
            first_failed_at = ledger.bury(unit.session, work.held, cause)
            if work.outbox_id is not None:
                outbox.dead(unit.session, work.outbox_id)
            dead_letters.add(unit, replace(death, first_failed_at=first_failed_at))
            if work.spec.on_dead is not None:
                work.spec.on_dead(unit, message, cause)
    except ledger.LeaseLost:
        log.warning("lease_lost", **work.named)


def bury_unreadable(
    context: "Context",
    spec: "StageSpec[Any, Any]",
    payload: object,
    outbox_id: UUID | None,
    error: MessageError,
) -> None:
    """Bury a message that this code cannot read."""
    log.error("message_unreadable", stage=spec.stage.value, cause=str(error))
    death = Death(
        stage=spec.stage.value,
        payload=payload if isinstance(payload, Mapping) else {"payload": payload},
        error_type=type(error).__name__,
        cause=str(error),
        outbox_id=outbox_id,
    )
    bury(context.store, death)


def bury(store: Store, death: Death, *, if_idle: bool = True) -> None:
    """Record a death that happened outside any claim; a second report of it changes nothing."""
    with store.unit_of_work(f"stage:{death.stage}") as work:
        dead_letters.bury(work, death, if_idle=if_idle)
