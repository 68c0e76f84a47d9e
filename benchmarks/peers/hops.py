"""What a hop from queue to queue costs: Attest's beside one of dramatiq as it comes.

A bare hop is an actor that sends the next message: two calls of Redis, nothing kept. A hop of
Attest claims its work in the ledger, commits its result with an audit event and the next message in
the outbox, and publishes that: two transactions in PostgreSQL, each flushed to disk. Both run here
in turns, on the same servers, in one process with as many threads as questions have.

- `chain`: one message goes from queue to queue, so that a hop's whole delay is seen;
- `flood`: many messages at once, so that the machine's work for each is seen.
"""

import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import dramatiq
import redis
from dramatiq.brokers.redis import RedisBroker

from messages import GenerateV1, Message, Stage, VerifyV1
from store.core.database import connect
from store.core.hashes import text_hash
from store.core.schema import migrate
from store.core.settings import Settings
from store.core.unit_of_work import UnitOfWork
from store.embedded import embedded
from workers.main import build_store, declare
from workers.runtime.leases import LeaseKeeper
from workers.runtime.logs import configure_logs
from workers.runtime.stage import Context, StageSpec

THREADS = 4
Send = Callable[[int, int], None]
"""Starts so many messages, each with so many hops to go."""


class Counter:
    """Waits until so many messages have gone their way."""

    def __init__(self) -> None:
        self._lock, self._all = threading.Lock(), threading.Event()
        self._left = 0

    def expect(self, count: int) -> None:
        """Begin anew."""
        self._left = count
        self._all.clear()

    def one(self) -> None:
        """One of them has arrived."""
        with self._lock:
            self._left -= 1
            if self._left == 0:
                self._all.set()

    def wait(self) -> None:
        """Until all have.

        Raises:
            RuntimeError: some got lost.
        """
        if not self._all.wait(timeout=180):
            raise RuntimeError(f"{self._left} messages did not arrive")


@contextmanager
def bare(url: str, arrived: Counter, idle_wait_ms: int) -> Iterator[Send]:
    """Two queues of dramatiq with its own middleware and a worker."""
    options: Any = {"client": redis.Redis.from_url(url), "namespace": f"bare{idle_wait_ms}"}
    broker = RedisBroker(**options)  # type: ignore[no-untyped-call]

    def pass_on(hops: int) -> None:
        if hops == 0:
            arrived.one()
        else:
            actors[hops % 2].send(hops - 1)

    def actor(name: str) -> Any:
        return dramatiq.actor(actor_name=name, queue_name=name, broker=broker)(pass_on)

    actors = [actor("ping"), actor("pong")]

    def send(messages: int, hops: int) -> None:
        for _ in range(messages):
            actors[hops % 2].send(hops)

    worker = dramatiq.Worker(broker, worker_threads=THREADS, worker_timeout=idle_wait_ms)
    broker.emit_after("process_boot")
    worker.start()
    try:
        yield send
    finally:
        worker.stop(timeout=5000)
        broker.close()


@contextmanager
def staged(settings: Settings, arrived: Counter) -> Iterator[Send]:
    """Two stages of Attest that do nothing but pass on, with its worker."""
    store, broker = build_store(settings, pool_size=THREADS + 2)
    leases = LeaseKeeper(store, settings.lease_seconds)
    context = Context(store=store, settings=settings, worker="hops", leases=leases)

    def work(_context: Context, message: Any) -> int:
        return int((getattr(message, "retrieval_hash", "") or message.draft_hash)[:8])

    def commit(unit: UnitOfWork, message: Any, hops: int) -> None:
        unit.record("question.drafted", message.question_id, hops=hops)
        if hops:
            unit.emit(_message(message.question_id, hops - 1))
        else:
            arrived.one()

    for stage in (Stage.GENERATE, Stage.VERIFY):
        declare(broker, context, StageSpec(stage, work, commit))

    def send(messages: int, hops: int) -> None:
        with store.unit_of_work("bench") as unit:
            for _ in range(messages):
                unit.emit(_message(uuid4(), hops))

    worker = dramatiq.Worker(
        broker,
        queues={Stage.GENERATE.value, Stage.VERIFY.value},
        worker_threads=THREADS,
        worker_timeout=settings.idle_wait_ms,
    )
    broker.emit_after("process_boot")
    leases.start()
    broker.listen()
    worker.start()
    try:
        yield send
    finally:
        broker.stop_listening()
        worker.stop(timeout=5000)
        leases.stop()
        broker.close()
        store.engine.dispose()


def _message(subject: UUID, hops: int) -> Message:
    """The hops that are left stand where a hash would."""
    digest = f"{hops:08d}{text_hash(str(subject))[8:]}"
    if hops % 2:
        return GenerateV1(request_id=subject, question_id=subject, retrieval_hash=digest)
    return VerifyV1(request_id=subject, question_id=subject, draft_hash=digest)


def measure(hops: int, flood: int, rounds: int) -> dict[str, dict[str, float]]:
    """Milliseconds a hop, the median of the rounds: in a chain, and of a flood's messages."""
    arrived = Counter()
    found: dict[str, dict[str, list[float]]] = {}
    with tempfile.TemporaryDirectory(prefix="attest-bench-") as directory, ExitStack() as stack:
        servers = stack.enter_context(embedded(Path(directory) / "data"))
        settings = Settings(
            data_dir=Path(directory) / "data",
            database_url=servers.database_url,
            redis_url=servers.redis_url,
            redis_namespace="hops",
            log_level="ERROR",
        )
        configure_logs(settings, "bench")
        _migrated(settings)
        ways = {
            "dramatiq": stack.enter_context(bare(servers.redis_url, arrived, 1000)),
            "attest": stack.enter_context(staged(settings, arrived)),
        }
        for number in range(rounds + 1):
            for name, send in ways.items():
                for kind, (messages, length) in {"chain": (1, hops), "flood": (flood, 0)}.items():
                    arrived.expect(messages)
                    begun, worked = time.perf_counter(), time.process_time()
                    send(messages, length)
                    arrived.wait()
                    each = (time.perf_counter() - begun) / (messages * (length + 1)) * 1000
                    cpu = (time.process_time() - worked) / (messages * (length + 1)) * 1000
                    if number:  # the first round warms up
                        of = found.setdefault(name, {})
                        of.setdefault(f"{kind}_ms", []).append(each)
                        of.setdefault(f"{kind}_cpu_ms", []).append(cpu)
    return {
        name: {kind: round(statistics.median(each), 3) for kind, each in kinds.items()}
        for name, kinds in found.items()
    }


def _migrated(settings: Settings) -> None:
    engine = connect(settings.database_url)
    migrate(engine)
    engine.dispose()
