"""Workers of a test in the test's process: the product's broker, wrapper, leases and scheduler."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import dramatiq
import redis
import sqlalchemy as sa
from sqlmodel import Session, select

from messages import RetrieveV1, Stage
from scheduler.main import build_scheduler
from store.core.database import connect
from store.core.settings import Settings
from store.core.unit_of_work import Publisher, Store, UnitOfWork
from store.models import Question, StageRun
from store.pipeline import ledger
from store.pipeline.ledger import Claim, Standing
from tests.servers import wait_until
from workers.main import consume, declare
from workers.runtime.broker import WokenBroker
from workers.runtime.leases import LeaseKeeper
from workers.runtime.stage import Context, StageSpec

HASH = "0" * 64


@dataclass
class Probe:
    """A stage for tests: `work` does what the test says, `commit` writes `probe.done`."""

    act: Callable[[RetrieveV1], object] = lambda message: None
    seen: list[UUID] = field(default_factory=list)

    def spec(self, **options: Any) -> StageSpec[RetrieveV1, object]:
        """The stage; it takes the place of retrieve."""
        options = {"backoff_seconds": 0.05, "backoff_cap_seconds": 0.2} | options
        return StageSpec(stage=Stage.RETRIEVE, work=self._work, commit=self._commit, **options)

    def _work(self, context: Context, message: RetrieveV1) -> object:
        self.seen.append(message.question_id)
        return self.act(message)

    def _commit(self, unit: UnitOfWork, message: RetrieveV1, result: object) -> None:
        unit.record("probe.done", message.question_id)


class Runtime:
    """Broker, leases, worker threads and, if asked for, the scheduler."""

    def __init__(
        self,
        settings: Settings,
        specs: Sequence[StageSpec[Any, Any]],
        threads: int,
        broker: type[WokenBroker] = WokenBroker,
        name: str = "worker",
        publisher: Publisher | None = None,
    ) -> None:
        self.settings = settings
        engine = connect(settings.database_url, pool_size=threads + 2)
        self.broker = broker(settings, Store(engine))
        self.store = Store(engine, publisher or self.broker.publish)
        self.leases = LeaseKeeper(self.store, settings.lease_seconds)
        self.context = Context(self.store, settings, name, self.leases)
        for spec in specs:
            declare(self.broker, self.context, spec)
        self._worker: dramatiq.Worker | None = None
        self._stages = [spec.stage for spec in specs]
        self._threads = threads
        self._scheduler = build_scheduler(settings, self.store, self.broker)
        self.leases.start()

    def work(self) -> "Runtime":
        """Start consuming."""
        self.broker.listen()
        self._worker = consume(self.broker, self._stages, self._threads)
        self.broker.emit_after("process_boot")
        self._worker.start()
        return self

    @property
    def fetched(self) -> int:
        """Messages that were fetched and wait for a thread."""
        return self._worker.work_queue.qsize() if self._worker is not None else 0

    def schedule(self) -> "Runtime":
        """Start relay and reconciler."""
        self._scheduler.start()
        return self

    def stop(self) -> None:
        """Stop all of it; a second call does nothing."""
        if self._scheduler.running:
            self._scheduler.shutdown(wait=True)
        self.broker.stop_listening()
        if self._worker is not None:
            self._worker.stop(timeout=5000)
            self._worker = None
        self.leases.stop()
        self.store.engine.dispose()
        self.broker.close()


def message(question_id: UUID | None = None) -> RetrieveV1:
    """A message to the probe."""
    return RetrieveV1(request_id=uuid4(), question_id=question_id or uuid4(), question_hash=HASH)


def promise(store: Store, *given: RetrieveV1) -> list[UUID]:
    """Promise these messages, or a new one, in one transaction; the outbox ids."""
    with store.unit_of_work("test") as work:
        return [work.emit(one) for one in given or (message(),)]


def promise_asked(store: Store, *given: RetrieveV1) -> list[UUID]:
    """As `promise`, but their questions are there: a replay finds somebody to work for."""
    messages = given or (message(),)
    with store.unit_of_work("test") as work:
        work.session.add_all([_question(one) for one in dict.fromkeys(messages)])
    return promise(store, *messages)


def _question(of: RetrieveV1) -> Question:
    return Question(
        id=of.question_id,
        text="?",
        text_hash=HASH,
        options={},
        request_id=of.request_id,
        request_hash=HASH,
    )


def push(client: redis.Redis, namespace: str, queue: str, body: bytes, redis_id: str = "") -> str:
    """Put raw bytes on a queue as dramatiq's dispatch.lua stores a message."""
    redis_id = redis_id or str(uuid4())
    with client.pipeline() as pipe:
        pipe.hset(f"{namespace}:{queue}.msgs", redis_id, body)
        pipe.rpush(f"{namespace}:{queue}", redis_id)
        pipe.execute()
    return redis_id


def encoded(payload: object, *, redis_id: str, queue: str = "retrieve", **changes: Any) -> bytes:
    """A dramatiq message with this payload, some of its fields changed."""
    fields = {
        "queue_name": queue,
        "actor_name": queue,
        "args": (payload,),
        "kwargs": {},
        "options": {"redis_message_id": redis_id},
        "message_id": str(uuid4()),
        **changes,
    }
    return dramatiq.Message(**fields).encode()


def send(runtime: Runtime, payload: object, **changes: Any) -> str:
    """Put a message with this payload on the probe's queue; its message id."""
    redis_id = str(uuid4())
    body = encoded(payload, redis_id=redis_id, **changes)
    push(runtime.broker.client, runtime.broker.namespace, "retrieve", body, redis_id)
    return str(dramatiq.Message.decode(body).message_id)


def rows(store: Store, query: str, **values: Any) -> list[Any]:
    """The rows of a query."""
    with store.reading() as session:
        return list(session.execute(sa.text(query), values))


def count(store: Store, table: str, where: str = "true", **values: Any) -> int:
    """How many rows of a table fit."""
    return int(rows(store, f"SELECT count(*) FROM {table} WHERE {where}", **values)[0][0])


def done(store: Store, subject: UUID | None = None) -> int:
    """How often the probe's work was committed."""
    if subject is None:
        return count(store, "audit_event", "event = 'probe.done'")
    return count(store, "audit_event", "event = 'probe.done' AND subject = :s", s=str(subject))


def settled(store: Store) -> bool:
    """Whether every promise is kept or dead."""
    return count(store, "outbox", "status IN ('pending', 'published')") == 0


def wait_settled(store: Store, seconds: float = 30.0) -> None:
    """Wait until every promise is kept or dead."""
    wait_until(lambda: settled(store), seconds, "every promise kept or dead")


def together(*calls: Callable[[], object]) -> None:
    """Run these at once, each in a thread of its own, until all have ended."""
    barrier = threading.Barrier(len(calls))
    failures: list[Exception] = []

    def run(call: Callable[[], object]) -> None:
        barrier.wait()
        try:
            call()
        except Exception as error:  # noqa: BLE001  raised again below
            failures.append(error)

    threads = [threading.Thread(target=run, args=[call]) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def claim(
    store: Store, subject: str, *, lease: float = 60.0, worker: str = "w"
) -> Claim | Standing:
    """Claim the work on `subject` in a transaction of its own."""
    with Session(store.engine) as session:
        held = ledger.claim(
            session,
            stage="retrieve",
            subject=subject,
            input_hash=HASH,
            worker=worker,
            outbox_id=None,
            lease_seconds=lease,
        )
        assert held is not None
        session.commit()
    return held


def expire(store: Store, subject: object) -> None:
    """Let the lease on `subject` run out, as if its worker had been silent for long."""
    with Session(store.engine) as session:
        session.execute(
            sa.text(
                "UPDATE stage_run SET lease_until = clock_timestamp() - interval '1 s' "
                "WHERE subject = :subject AND status = 'running'"
            ),
            {"subject": str(subject)},
        )
        session.commit()


def run_of(store: Store, subject: object) -> StageRun:
    """The ledger's row."""
    with store.reading() as session:
        return session.exec(select(StageRun).where(StageRun.subject == str(subject))).one()


def status_of(store: Store, outbox_id: UUID) -> str:
    """Where this promise stands."""
    return str(rows(store, "SELECT status FROM outbox WHERE id = :id", id=outbox_id)[0].status)
