"""A worker process: runs the stages of its queues until it is stopped."""

import os
import signal
import socket
import time
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import dramatiq
import sqlalchemy as sa
import structlog
from dramatiq.middleware import CurrentMessage

from messages import QUESTION_STAGES, TEXT_STAGES, Stage
from store.core.database import connect, passes_by_itself
from store.core.schema import require_current_schema
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.index.partitions import Servers
from workers.registry import spec_of
from workers.runtime.alone import Alone
from workers.runtime.broker import WokenBroker
from workers.runtime.leases import LeaseKeeper
from workers.runtime.logs import configure_logs
from workers.runtime.memory import settle_memory
from workers.runtime.stage import Context, StageSpec, handle
from workers.runtime.watchdog import Watchdog, stop_now

log = structlog.get_logger(__name__)

NEEDS_ENCODER = {Stage.EMBED, Stage.RETRIEVE}
_REST_MS = 1000
"""Our choice: for the threads that fetch, which end in a moment."""
AWAITED = {*QUESTION_STAGES, *TEXT_STAGES}
"""Stages that a person waits for. Where one pool runs all stages, their messages come first among
those fetched, so an import delays a question by one message and not by all of them."""


def priority(stage: Stage) -> int:
    """The priority of a stage within a pool; dramatiq takes the lowest number first.

    Anchors come last: a version's sentences are scored once nothing is left to make searchable.
    """
    if stage in AWAITED:
        return 0
    return 20 if stage is Stage.ANCHOR else 10


def niceness(stages: Sequence[Stage]) -> int:
    """By how many steps a process of these stages yields the processor: to those that a person
    waits for, and with anchors alone to what makes texts searchable. 0, 2 or 5; ours, and no more,
    as leases must be renewed on a busy machine too."""
    return min(map(priority, stages)) // 4


def build_store(
    settings: Settings, *, pool_size: int, plans_once: bool = False
) -> tuple[Store, WokenBroker]:
    """A store whose commits publish at once, and the broker that publishes them.

    Args:
        plans_once: see `store.core.database.connect`.
    """
    engine = connect(settings.database_url, pool_size=pool_size, plans_once=plans_once)
    broker = WokenBroker(settings, Store(engine))
    return Store(engine, broker.publish, Servers.of(settings)), broker


def declare(broker: WokenBroker, context: Context, spec: StageSpec[Any, Any]) -> None:
    """Make `spec` an actor on the queue of its stage, and run on with it where that is wanted."""
    if context.settings.run_on:
        context.run_on.specs[spec.stage] = spec
        context.run_on.limit = broker.limit

    @dramatiq.actor(
        actor_name=spec.stage.value,
        queue_name=spec.stage.value,
        broker=broker,
        max_retries=0,
        priority=priority(spec.stage),
        time_limit=int(spec.time_limit_seconds * 1000),
    )
    def run(payload: object) -> None:
        message = CurrentMessage.get_current_message()
        outbox_id = UUID(message.message_id) if message is not None else None
        handle(context, spec, payload, outbox_id)


def consume(broker: WokenBroker, stages: Sequence[Stage], threads: int) -> dramatiq.Worker:
    """A worker of the declared `stages`, not yet started. It prefetches nothing of the stages that
    come last."""
    last = [stage.value for stage in stages if priority(stage) > priority(Stage.INGEST)]
    if len(last) < len(stages):
        broker.fetch_last(last, threads)
    return dramatiq.Worker(
        broker,
        queues={stage.value for stage in stages},
        worker_threads=threads,
        worker_timeout=broker.idle_wait_ms,
    )


def wait_for_schema(engine: sa.Engine, seconds: float) -> None:
    """Wait until the database is reachable and at the migration this code needs.

    Raises:
        SchemaMismatch: the database answers, but is at another migration.
        Exception: the database does not answer within `seconds`.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            require_current_schema(engine)
        except Exception as error:
            if time.monotonic() > deadline or not passes_by_itself(error):
                raise
            time.sleep(0.3)
        else:
            return


class OutOfMemory(RuntimeError):
    """The worker ended because it ran out of memory; its supervisor starts another."""


def finish(worker: dramatiq.Worker, leases: LeaseKeeper, seconds: float) -> None:
    """Begin no more work, give work in progress `seconds` to end, and hand the rest back.

    dramatiq's own stop would wait for as long again, and the supervisor would kill the process.
    """
    for thread in worker.workers:
        thread.stop()
    until = time.monotonic() + seconds
    for thread in worker.workers:
        thread.join(max(0.0, until - time.monotonic()))
    leases.hand_back()
    worker.stop(timeout=_REST_MS)


def run_worker(settings: Settings, stages: Sequence[Stage], threads: int) -> None:
    """Work on `stages` with `threads` threads until SIGTERM or SIGINT; then finish and return.

    Work that does not finish within `shutdown_seconds` is handed back and costs no attempt. A
    blocked worker is ended by its watchdog; its supervisor starts it again.

    Raises:
        OutOfMemory: the worker ended by itself because it ran out of memory.
    """
    name = f"{socket.gethostname()}:{os.getpid()}"
    os.nice(niceness(stages))
    configure_logs(settings, f"worker-{'-'.join(stages) if len(stages) < len(Stage) else 'all'}")
    in_bulk = not AWAITED.issuperset(stages)
    store, broker = build_store(settings, pool_size=threads + 2, plans_once=not in_bulk)
    wait_for_schema(store.engine, 60)
    watchdog = Watchdog(settings.watchdog_seconds, settings.worker_memory_mb)
    watchdog.start()
    leases = LeaseKeeper(
        store,
        settings.lease_seconds,
        on_hung=lambda held: stop_now("worker_hangs", run=held.run_id, token=held.token),
    )
    context = Context(
        store=store, settings=settings, worker=name, leases=leases, alone=Alone(settings)
    )
    for stage in stages:
        declare(broker, context, spec_of(stage).paced(settings))
    if NEEDS_ENCODER & set(stages):
        context.encoder.encode(["ready"])  # load the weights before the first question waits
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: context.stop.set())
    worker = consume(broker, stages, threads)
    broker.emit_after("process_boot")  # starts the time limits, as dramatiq's CLI does
    leases.start()
    broker.listen()
    worker.start()
    settle_memory()
    log.info("worker_ready", stages=[stage.value for stage in stages], threads=threads)
    while not context.stop.wait(1.0):
        pass
    log.info("worker_stopping")
    broker.stop_listening()
    finish(worker, leases, settings.shutdown_seconds)
    leases.stop()
    watchdog.stop()
    broker.close()
    store.engine.dispose()
    log.info("worker_stopped")
    if context.unfit:
        raise OutOfMemory(f"it ran out of memory ({context.unfit[0]}) and must be started anew")
