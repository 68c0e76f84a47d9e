"""The wrapper that makes a stage of two functions: claim, work, commit (invariant 2).

`work` runs outside any transaction and may take long; `commit` writes its result. The fencing token
is checked in between: if the lease was lost meanwhile, nothing is written. Retries are kept in
PostgreSQL, not in Redis, where a delayed message can be stranded (DRAMATIQ 2.5 S1).
"""

import random
import threading
import time
import traceback as tracebacks
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Generic, TypeVar
from uuid import UUID

import structlog
from dramatiq.middleware import Interrupt, TimeLimitExceeded

from messages import Message, MessageError, Stage
from messages.upgrades import parse_upgraded
from store.core.database import passes_by_itself
from store.core.settings import Settings
from store.core.unit_of_work import Store, UnitOfWork
from store.dead_letters import dead_letters
from store.dead_letters.dead_letters import Death
from store.models import now
from store.pipeline import circuits, ledger, outbox
from store.pipeline.circuits import Admission
from workers.encoder import Encoder, encoder_for
from workers.language_model import model_for
from workers.language_model.port import LanguageModel
from workers.runtime.alone import Alone
from workers.runtime.errors import Later, Permanent, StageError, StoppedWorker, classify, describe
from workers.runtime.leases import LeaseKeeper

log = structlog.get_logger(__name__)

M = TypeVar("M", bound=Message)
R = TypeVar("R")

MOST_LOSSES = 2
"""Issue 29: work that has ended this many workers, or timed out as often, is a dead letter."""


@dataclass(frozen=True)
class Context:
    """The resources that stages work with. One a process."""

    store: Store
    settings: Settings
    worker: str
    leases: LeaseKeeper
    now: Callable[[], datetime] = now
    """The clock for sources and SLAs; tests replace it."""
    sleep: Callable[[float], None] = time.sleep
    cache: dict[str, Any] = field(default_factory=dict)
    alone: Alone | None = None
    """Runs work that may have ended a worker in its own process; None: it runs here too."""
    stop: threading.Event = field(default_factory=threading.Event)
    """Set to end the process: work in progress may finish, and nothing new is begun."""
    unfit: list[str] = field(default_factory=list)
    """Why the process ends by itself; empty if it does not."""

    @cached_property
    def encoder(self) -> Encoder:
        """The encoder of the settings, loaded when first needed."""
        return encoder_for(self.settings)

    @cached_property
    def language_model(self) -> LanguageModel | None:
        """The language model of the settings; None without a key."""
        return model_for(self.settings)


@dataclass(frozen=True)
class StageSpec(Generic[M, R]):
    """A stage: its work on a message, how the result is written, and how it retries."""

    stage: Stage
    work: Callable[[Context, M], R]
    commit: Callable[[UnitOfWork, M, R], None]
    on_dead: Callable[[UnitOfWork, M, str], None] | None = None
    max_attempts: int = 5
    backoff_seconds: float = 1.0
    backoff_cap_seconds: float = 60.0
    time_limit_seconds: float = 120.0
    model_waits: float = 0.0
    """How long its requests to a language model may take together, as a multiple of the seconds
    that the settings give to one of one's own."""

    def paced(self, settings: Settings) -> "StageSpec[M, R]":
        """The spec with the time that a model of one's own may need: it may be slow."""
        if not settings.model_url:
            return self
        more = self.model_waits * settings.model_seconds
        return replace(self, time_limit_seconds=self.time_limit_seconds + more)

    def backoff(self, attempts: int) -> float:
        """Seconds to wait after the given number of attempts: doubling, jittered, capped."""
        ceiling = min(self.backoff_cap_seconds, self.backoff_seconds * 2.0 ** (attempts - 1))
        return ceiling * random.uniform(0.5, 1.0)  # noqa: S311  jitter, no secret


def handle(
    context: Context, spec: StageSpec[Any, Any], payload: object, outbox_id: UUID | None
) -> None:
    """Process a delivered message once and record the outcome.

    Never raises an Exception: its text may quote values, and dramatiq would log it. If the database
    is unavailable the message is dropped: its outbox row remains, and the reconciler sends it
    again. Every log line in between has the request's id.
    """
    with structlog.contextvars.bound_contextvars(**_request(payload)):
        _handle_safely(context, spec, payload, outbox_id)


def _request(payload: object) -> dict[str, str]:
    """The id of the request behind a message; empty if the payload has none."""
    try:
        return {"request_id": str(UUID(str(payload["request_id"])))}  # type: ignore[index]
    except (LookupError, TypeError, ValueError):
        return {}


def _handle_safely(
    context: Context, spec: StageSpec[Any, Any], payload: object, outbox_id: UUID | None
) -> None:
    try:
        _handle(context, spec, payload, outbox_id)
    except Interrupt as error:  # the time limit struck outside of the work
        log.warning("interrupted", stage=spec.stage.value, error=type(error).__name__)
    except Exception as error:  # noqa: BLE001  every failure is written down
        _judge(context, error)
        if passes_by_itself(error):
            log.warning("database_away", stage=spec.stage.value, message_id=str(outbox_id))
            time.sleep(0.2)  # no hot loop while the server restarts
        else:
            _broke(context, spec, payload, outbox_id, error)


def _broke(
    context: Context,
    spec: StageSpec[Any, Any],
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


def _handle(
    context: Context, spec: StageSpec[Any, Any], payload: object, outbox_id: UUID | None
) -> None:
    try:
        message = parse_upgraded(spec.stage, payload)
    except MessageError as error:
        _bury_unreadable(context, spec, payload, outbox_id, error)
        return
    held, admission = _claim(context, spec, message, outbox_id), Admission.WORK
    if held is None:
        admission = _ask_circuit(context, spec, message, outbox_id)
        if admission is Admission.HELD:
            return
        held = _claim(context, spec, message, outbox_id, admitted=True)
    if isinstance(held, ledger.Claim):
        if held.attempts > spec.max_attempts:
            reason = Permanent(
                f"given up after {spec.max_attempts} attempts; the last left no word"
            )
            _die(context, spec, message, outbox_id, held, reason, "")
        elif held.losses and context.alone is not None:
            _attempt_alone(context, context.alone, spec, message, outbox_id, held)
        else:
            attempt(context, spec, message, outbox_id, held)
    else:
        standing = held.value if held is not None else "held"
        log.info("message_already_" + standing, **_bound(spec, message))
    if admission is Admission.PROBE:
        with context.store.unit_of_work(f"stage:{spec.stage.value}") as work:
            circuits.settle(work, spec.stage.value)


def _judge(context: Context, error: BaseException) -> None:
    """End a process that ran out of memory, once its work has ended or been handed back.

    Objects made at that moment are incomplete: a module, a pattern, a server's reply. Tested:
    every later document failed because of them, long after there was memory again.
    """
    if isinstance(error, (MemoryError, SystemError)) and not context.unfit:
        context.unfit.append(describe(error))
        context.stop.set()


def _bound(spec: StageSpec[Any, Any], message: Message) -> dict[str, str]:
    return {"stage": spec.stage.value, "subject": message.subject[:36]}


def _claim(
    context: Context,
    spec: StageSpec[Any, Any],
    message: Message,
    outbox_id: UUID | None,
    *,
    admitted: bool = False,
) -> ledger.Claim | ledger.Standing | None:
    """The claim, or why there is none; None if the stage is paused and not `admitted`."""
    with context.store.at_once() as session:
        held = ledger.claim(
            session,
            stage=spec.stage.value,
            subject=message.subject,
            input_hash=message.input_hash(),
            worker=context.worker,
            outbox_id=outbox_id,
            lease_seconds=context.settings.lease_seconds,
            limit_seconds=spec.time_limit_seconds,
            though_paused=admitted,
        )
    if isinstance(held, ledger.Standing) and outbox_id is not None:
        with context.store.unit_of_work(f"worker:{context.worker}", message.request_id) as work:
            _follow(work, held, message, outbox_id)
    return held


def _ask_circuit(
    context: Context, spec: StageSpec[Any, Any], message: Message, outbox_id: UUID | None
) -> Admission:
    """Whether the paused stage may try this message. Uses its own transaction, because whoever
    opens the circuit has already locked a ledger row."""
    with context.store.unit_of_work(f"worker:{context.worker}", message.request_id) as work:
        admission = circuits.admit(work, spec.stage.value, outbox_id)
    log.info("stage_is_paused", **_bound(spec, message), message_is=admission.value)
    return admission


def _attempt_alone(
    context: Context,
    alone: Alone,
    spec: StageSpec[Any, Any],
    message: Message,
    outbox_id: UUID | None,
    held: ledger.Claim,
) -> None:
    """Run the claimed work in a process of its own; if that is lost too, the work is dead."""
    try:
        with context.leases.holding(held, spec.time_limit_seconds):
            stopped = alone.work(
                spec.stage,
                message.payload(),
                outbox_id,
                held,
                worker=context.worker,
                limit_seconds=spec.time_limit_seconds,
            )
    except (Exception, Interrupt) as error:  # noqa: BLE001  no process could be started
        _failed(context, spec, message, outbox_id, held, error)
        return
    if stopped is not None:
        reason = StoppedWorker(f"stopped its worker: {stopped}")
        _die(context, spec, message, outbox_id, held, reason, "")


def attempt(
    context: Context,
    spec: StageSpec[Any, Any],
    message: Message,
    outbox_id: UUID | None,
    held: ledger.Claim,
) -> None:
    """Do the claimed work here and record the outcome."""
    started = time.monotonic()
    try:
        with context.leases.holding(held, spec.time_limit_seconds):
            result = spec.work(context, message)
            _commit(context, spec, message, outbox_id, held, result)
    except ledger.LeaseLost:
        log.warning("lease_lost", **_bound(spec, message), attempts=held.attempts)
    except (Exception, Interrupt) as error:  # noqa: BLE001  every failure is written down
        _failed(context, spec, message, outbox_id, held, error)
    else:
        took = round((time.monotonic() - started) * 1000, 1)
        log.info("stage_done", **_bound(spec, message), attempts=held.attempts, ms=took)


def _follow(work: UnitOfWork, standing: ledger.Standing, message: Message, outbox_id: UUID) -> None:
    """End an outbox message whose work has already ended, in the same state."""
    if standing is ledger.Standing.DONE:
        outbox.done(work.session, outbox_id)
    elif standing is ledger.Standing.DEAD:
        outbox.dead_with_its_work(
            work.session,
            outbox_id,
            stage=message.stage.value,
            subject=message.subject,
            input_hash=message.input_hash(),
        )


def _commit(
    context: Context,
    spec: StageSpec[Any, Any],
    message: Message,
    outbox_id: UUID | None,
    held: ledger.Claim,
    result: object,
) -> None:
    with context.store.unit_of_work(f"stage:{spec.stage.value}", message.request_id) as work:
        ledger.finish(work.session, held, outbox_id)
        spec.commit(work, message, result)


def _cost(spec: StageSpec[Any, Any], error: BaseException) -> str | None:
    """Which limit of time or memory the attempt exceeded; None if it merely failed."""
    if isinstance(error, TimeLimitExceeded):
        return f"it had not ended after {spec.time_limit_seconds:g} s"
    if isinstance(error, (MemoryError, SystemError)):
        return "it needed more memory than there was"
    return None


def _failed(
    context: Context,
    spec: StageSpec[Any, Any],
    message: Message,
    outbox_id: UUID | None,
    held: ledger.Claim,
    error: BaseException,
) -> None:
    _judge(context, error)
    reason = classify(error)
    cost = _cost(spec, error)
    if cost is not None and held.losses + 1 >= MOST_LOSSES:
        reason = StoppedWorker(f"stopped its worker: {cost}, again")
    trace = "".join(tracebacks.format_tb(error.__traceback__))
    last = held.attempts >= spec.max_attempts and not isinstance(reason, Later)
    if isinstance(reason, Permanent) or last:
        _die(context, spec, message, outbox_id, held, reason, trace, type(error).__name__)
        return
    later = isinstance(reason, Later)
    wait = reason.seconds if isinstance(reason, Later) else spec.backoff(held.attempts)
    log.warning(
        "stage_will_retry",
        stage=spec.stage.value,
        subject=message.subject[:36],
        attempts=held.attempts,
        seconds=round(wait, 2),
        cause=describe(error),
    )
    try:
        with context.store.unit_of_work(f"stage:{spec.stage.value}", message.request_id) as work:
            ledger.put_back(
                work.session, held, describe(error), counts=not later, lost=cost is not None
            )
            if outbox_id is not None:
                outbox.postpone(work.session, outbox_id, wait)
    except ledger.LeaseLost:
        log.warning("lease_lost", stage=spec.stage.value, subject=message.subject[:36])


def _die(
    context: Context,
    spec: StageSpec[Any, Any],
    message: Message,
    outbox_id: UUID | None,
    held: ledger.Claim,
    reason: StageError,
    trace: str,
    error_type: str = "",
) -> None:
    cause = str(reason)
    log.error("stage_died", stage=spec.stage.value, subject=message.subject[:36], cause=cause)
    death = Death(
        stage=spec.stage.value,
        payload=message.payload(),
        error_type=error_type or type(reason).__name__,
        cause=cause,
        traceback=trace,
        attempts=min(held.attempts, spec.max_attempts),
        outbox_id=outbox_id,
        subject=message.subject,
    )
    try:
        with context.store.unit_of_work(f"stage:{spec.stage.value}", message.request_id) as work:
            first_failed_at = ledger.bury(work.session, held, cause)
            if outbox_id is not None:
                outbox.dead(work.session, outbox_id)
            dead_letters.add(work, replace(death, first_failed_at=first_failed_at))
            if spec.on_dead is not None:
                spec.on_dead(work, message, cause)
    except ledger.LeaseLost:
        log.warning("lease_lost", stage=spec.stage.value, subject=message.subject[:36])


def _bury_unreadable(
    context: Context,
    spec: StageSpec[Any, Any],
    payload: object,
    outbox_id: UUID | None,
    error: MessageError,
) -> None:
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
