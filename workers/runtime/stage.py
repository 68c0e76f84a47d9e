"""The wrapper that makes a stage of two functions: claim, work, commit (invariant 2).

`work` runs outside any transaction and may take long; `commit` writes its result. The fencing token
is checked in between: if the lease was lost meanwhile, nothing is written. Retries are kept in
PostgreSQL, not in Redis, where a delayed message can be stranded (DRAMATIQ 2.5 S1).
"""

import random
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from typing import Any, Generic, TypeVar
from uuid import UUID

import structlog
from dramatiq.middleware import Interrupt
from sqlmodel import Session

from messages import QUESTION_STAGES, Message, MessageError, Stage
from messages.upgrades import parse_upgraded
from store.core.database import passes_by_itself
from store.core.settings import Settings
from store.core.unit_of_work import Store, UnitOfWork
from store.models import now
from store.pipeline import circuits, ledger, outbox
from store.pipeline.circuits import Admission
from workers.encoder import Encoder, encoder_for
from workers.language_model import model_for
from workers.language_model.port import LanguageModel
from workers.runtime import failures
from workers.runtime.alone import Alone
from workers.runtime.errors import Permanent, StoppedWorker
from workers.runtime.leases import LeaseKeeper

log = structlog.get_logger(__name__)

M = TypeVar("M", bound=Message)
R = TypeVar("R")


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
    run_on: "RunOn" = field(default_factory=lambda: RunOn())
    """What its threads go on with; see `handle`."""

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


AFTER: Mapping[Stage, Stage] = dict(pairwise(QUESTION_STAGES))
"""The stage of a question that follows each; a thread that runs on does at most all of them."""


@dataclass
class RunOn:
    """The stages that a thread goes on with after the one before them (ADR 0048); at first none."""

    specs: dict[Stage, StageSpec[Any, Any]] = field(default_factory=dict)
    limit: Callable[[float], None] = lambda _: None
    """Gives the thread so many seconds from now, in place of what its last stage had left."""

    def after(self, stage: Stage) -> StageSpec[Any, Any] | None:
        """The stage to go on with after `stage`; None if there is none."""
        following = AFTER.get(stage)
        return self.specs.get(following) if following else None


@dataclass(frozen=True)
class Work:
    """A claimed piece of work: its stage, its message, and the row that promised it."""

    spec: StageSpec[Any, Any]
    message: Message
    outbox_id: UUID | None
    held: ledger.Claim

    @property
    def named(self) -> dict[str, str]:
        """Its stage and subject, for logs."""
        return _named(self.spec, self.message)

    def unit(self, store: Store) -> AbstractContextManager[UnitOfWork]:
        """The transaction that writes its outcome."""
        return store.unit_of_work(f"stage:{self.spec.stage.value}", self.message.request_id)


def handle(
    context: Context, spec: StageSpec[Any, Any], payload: object, outbox_id: UUID | None
) -> None:
    """Process a delivered message once and record the outcome; then go on with what follows it, if
    this process runs on with that (ADR 0048).

    Never raises an Exception: its text may quote values, and dramatiq would log it. If the database
    is unavailable the message is dropped: its outbox row remains, and the reconciler sends it
    again. Every log line in between has the request's id.
    """
    with structlog.contextvars.bound_contextvars(**_request(payload)):
        following = _safely(
            context, spec, payload, outbox_id, lambda: _handle(context, spec, payload, outbox_id)
        )
        while following is not None:
            following = _go_on(context, following)


def _go_on(context: Context, work: Work) -> Work | None:
    """Do claimed work with the whole of its own time; as `handle`, it raises no Exception."""

    def act() -> Work | None:
        context.run_on.limit(work.spec.time_limit_seconds)
        return _do(context, work)

    return _safely(context, work.spec, work.message.payload(), work.outbox_id, act)


def _request(payload: object) -> dict[str, str]:
    """The id of the request behind a message; empty if the payload has none."""
    try:
        return {"request_id": str(UUID(str(payload["request_id"])))}  # type: ignore[index]
    except (LookupError, TypeError, ValueError):
        return {}


def _safely(
    context: Context,
    spec: StageSpec[Any, Any],
    payload: object,
    outbox_id: UUID | None,
    act: Callable[[], Work | None],
) -> Work | None:
    """What `act` returns: the claimed work that this thread goes on with. None if it fails."""
    try:
        return act()
    except Interrupt as error:  # the time limit struck outside of the work
        log.warning("interrupted", stage=spec.stage.value, error=type(error).__name__)
    except Exception as error:  # noqa: BLE001  every failure is written down
        failures.judge(context, error)
        if passes_by_itself(error):
            log.warning("database_away", stage=spec.stage.value, message_id=str(outbox_id))
            time.sleep(0.2)  # no hot loop while the server restarts
        else:
            failures.broke(context, spec, payload, outbox_id, error)
    return None


def _handle(
    context: Context, spec: StageSpec[Any, Any], payload: object, outbox_id: UUID | None
) -> Work | None:
    try:
        message = parse_upgraded(spec.stage, payload)
    except MessageError as error:
        failures.bury_unreadable(context, spec, payload, outbox_id, error)
        return None
    following = None
    held, admission = _claim(context, spec, message, outbox_id), Admission.WORK
    if held is None:
        admission = _ask_circuit(context, spec, message, outbox_id)
        if admission is Admission.HELD:
            return None
        held = _claim(context, spec, message, outbox_id, admitted=True)
    if isinstance(held, ledger.Claim):
        following = _do(context, Work(spec, message, outbox_id, held))
    else:
        standing = held.value if held is not None else "held"
        log.info("message_already_" + standing, **_named(spec, message))
    if admission is Admission.PROBE:
        with context.store.unit_of_work(f"stage:{spec.stage.value}") as work:
            circuits.settle(work, spec.stage.value)
    return following


def _do(context: Context, work: Work) -> Work | None:
    """Do claimed work where it may be done; returns the work that this thread goes on with."""
    if work.held.attempts > work.spec.max_attempts:
        given_up = f"given up after {work.spec.max_attempts} attempts; the last left no word"
        failures.die(context, work, Permanent(given_up))
    elif work.held.losses and context.alone is not None:
        _attempt_alone(context, context.alone, work)
    else:
        return attempt(context, work)
    return None


def _named(spec: StageSpec[Any, Any], message: Message) -> dict[str, str]:
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
        held = _claimed(
            context, session, spec, message, outbox_id, admitted=admitted, is_light=True
        )
    if isinstance(held, ledger.Standing) and outbox_id is not None:
        with context.store.unit_of_work(f"worker:{context.worker}", message.request_id) as work:
            _follow(work, held, message, outbox_id)
    return held


def _claimed(
    context: Context,
    session: Session,
    spec: StageSpec[Any, Any],
    message: Message,
    outbox_id: UUID | None,
    *,
    admitted: bool = False,
    is_light: bool,
) -> ledger.Claim | ledger.Standing | None:
    return ledger.claim(
        session,
        stage=spec.stage.value,
        subject=message.subject,
        input_hash=message.input_hash(),
        worker=context.worker,
        outbox_id=outbox_id,
        lease_seconds=context.settings.lease_seconds,
        limit_seconds=spec.time_limit_seconds,
        though_paused=admitted,
        is_light=is_light,
    )


def _ask_circuit(
    context: Context, spec: StageSpec[Any, Any], message: Message, outbox_id: UUID | None
) -> Admission:
    """Whether the paused stage may try this message. Uses its own transaction, because whoever
    opens the circuit has already locked a ledger row."""
    with context.store.unit_of_work(f"worker:{context.worker}", message.request_id) as work:
        admission = circuits.admit(work, spec.stage.value, outbox_id)
    log.info("stage_is_paused", **_named(spec, message), message_is=admission.value)
    return admission


def _attempt_alone(context: Context, alone: Alone, work: Work) -> None:
    """Run the claimed work in a process of its own; if that is lost too, the work is dead."""
    limit = work.spec.time_limit_seconds
    try:
        with context.leases.holding(work.held, limit):
            stopped = alone.work(
                work.spec.stage,
                work.message.payload(),
                work.outbox_id,
                work.held,
                worker=context.worker,
                limit_seconds=limit,
            )
    except (Exception, Interrupt) as error:  # noqa: BLE001  no process could be started
        failures.failed(context, work, error)
        return
    if stopped is not None:
        failures.die(context, work, StoppedWorker(f"stopped its worker: {stopped}"))


def attempt(context: Context, work: Work) -> Work | None:
    """Do the claimed work here and record the outcome; returns the next stage's work, claimed, if
    this thread goes on with it."""
    started = time.monotonic()
    try:
        with context.leases.holding(work.held, work.spec.time_limit_seconds):
            result = work.spec.work(context, work.message)
            with work.unit(context.store) as unit:
                ledger.finish(unit.session, work.held, work.outbox_id)
                work.spec.commit(unit, work.message, result)
                following = _claim_next(context, work.spec, unit)
    except ledger.LeaseLost:
        log.warning("lease_lost", **work.named, attempts=work.held.attempts)
    except (Exception, Interrupt) as error:  # noqa: BLE001  every failure is written down
        failures.failed(context, work, error)
    else:
        took = round((time.monotonic() - started) * 1000, 1)
        log.info("stage_done", **work.named, attempts=work.held.attempts, ms=took)
        return following
    return None


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


def _claim_next(context: Context, spec: StageSpec[Any, Any], unit: UnitOfWork) -> Work | None:
    """Claim what this commit promises, in its transaction, if this process goes on with that.

    If nothing of the commit is published, it need not wait for the disk (ADR 0063): the seal of the
    answer will, and that is the first that anybody is told.
    """
    following = context.run_on.after(spec.stage)
    if following is None or context.stop.is_set():
        return None
    promises = unit.promises
    for promise in promises:
        if promise.stage == following.stage:
            message = parse_upgraded(following.stage, promise.payload)
            alone = len(promises) == 1
            held = _claimed(context, unit.session, following, message, promise.id, is_light=alone)
            if isinstance(held, ledger.Claim):
                unit.kept.add(promise.id)
                return Work(following, message, promise.id, held)
    return None
