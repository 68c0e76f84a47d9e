"""Invariants 1 and 3: what was promised in PostgreSQL happens, whatever becomes of Redis."""

import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa
from sqlmodel import Session

from messages import GenerateV1, RetrieveV1
from scheduler import jobs
from store.audit import audit
from store.core.database import connect, passes_by_itself
from store.core.settings import Settings
from store.core.unit_of_work import Promise, Store
from store.models import now
from store.pipeline import outbox
from tests.integration.runtime.harness import (
    HASH,
    Probe,
    Runtime,
    count,
    done,
    message,
    promise,
    rows,
    settled,
    status_of,
    together,
    wait_settled,
)
from tests.servers import wait_until
from workers.inline import InlineWorker
from workers.runtime.relay import reconcile, sweep
from workers.runtime.stage import handle

Start = Callable[..., Runtime]


class Recorder:
    """A publisher that keeps what it is given; `fail` makes it refuse."""

    def __init__(self, *, fail: bool = False) -> None:
        self.sent: list[UUID] = []
        self.fail = fail

    def __call__(self, promises: Sequence[Promise]) -> None:
        if self.fail:
            raise ConnectionError("refused")
        self.sent.extend(one.id for one in promises)


def age(store: Store, seconds: float) -> None:
    """Let all that was published have been published so much earlier."""
    with Session(store.engine) as session:
        session.execute(
            sa.text("UPDATE outbox SET published_at = published_at - make_interval(secs => :s)"),
            {"s": seconds},
        )
        session.commit()


def test_what_is_promised_is_published_after_the_commit_under_its_own_id(
    engine: sa.Engine,
) -> None:
    publisher = Recorder()
    store = Store(engine, publisher)
    with store.unit_of_work("test") as work:
        outbox_id = work.emit(message())
        work.session.flush()
        assert publisher.sent == []
    assert publisher.sent == [outbox_id]


@pytest.mark.parametrize("payload", ["[1]", "7", "null", '"words"'])
def test_a_promise_that_is_no_object_is_refused_where_it_is_written(
    engine: sa.Engine, payload: str
) -> None:
    store = Store(engine, Recorder())
    with store.unit_of_work("test") as work:
        work.emit(message())
    change = sa.text("UPDATE outbox SET payload = CAST(:payload AS jsonb)")
    refused = pytest.raises(sa.exc.IntegrityError, match="outbox_payload_object")
    with refused, engine.begin() as connection:
        connection.execute(change, {"payload": payload})


def test_what_is_rolled_back_is_neither_promised_nor_published(engine: sa.Engine) -> None:
    publisher = Recorder()
    store = Store(engine, publisher)

    def fail() -> None:
        with store.unit_of_work("test") as work:
            work.emit(message())
            raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        fail()
    assert publisher.sent == []
    assert count(store, "outbox") == 0


def test_a_publication_that_fails_after_the_commit_is_left_to_the_relay(engine: sa.Engine) -> None:
    publisher = Recorder(fail=True)
    store = Store(engine, publisher)
    (outbox_id,) = promise(store)
    assert status_of(store, outbox_id) == "pending"
    publisher.fail = False
    assert sweep(store, publisher) == 1
    assert publisher.sent == [outbox_id]
    assert status_of(store, outbox_id) == "published"
    assert sweep(store, publisher) == 0


def test_a_commit_stands_though_publishing_and_giving_back_both_fail(engine: sa.Engine) -> None:
    """The database may go away right after the commit: the caller must not hear of a failure."""

    def both_away(promises: Sequence[Promise]) -> None:
        with engine.connect() as connection:
            connection.execute(sa.text("ALTER TABLE outbox RENAME TO outbox_gone"))
            connection.commit()
        raise ConnectionError("refused")

    promise(Store(engine, both_away))
    with engine.connect() as connection:
        connection.execute(sa.text("ALTER TABLE outbox_gone RENAME TO outbox"))
        connection.commit()
    store = Store(engine)
    assert count(store, "outbox", "status = 'published'") == 1
    age(store, 60)
    assert reconcile(store, {}, lost_after=5) == 1


def test_a_sweep_that_cannot_publish_leaves_its_rows_pending(engine: sa.Engine) -> None:
    store = Store(engine, Recorder(fail=True))
    ids = promise(store, *[message() for _ in range(3)])
    with pytest.raises(ConnectionError):
        sweep(store, Recorder(fail=True))
    assert {status_of(store, one) for one in ids} == {"pending"}


def test_a_relay_that_dies_before_its_commit_publishes_twice_and_the_work_is_done_once(
    runtime: Start,
) -> None:
    probe = Probe()
    running = runtime(probe.spec())
    recorder = Recorder()
    (outbox_id,) = promise(Store(running.store.engine, Recorder(fail=True)), asked := message())

    def publish_and_die(promises: Sequence[Promise]) -> None:
        recorder(promises)
        raise MemoryError

    with pytest.raises(MemoryError):
        sweep(running.store, publish_and_die)
    sweep(running.store, recorder)
    assert recorder.sent == [outbox_id, outbox_id]
    for one in recorder.sent:
        handle(running.context, probe.spec(), asked.payload(), one)
    assert probe.seen == [asked.question_id]
    assert done(running.store, asked.question_id) == 1


def test_two_relays_at_once_publish_every_row_once(engine: sa.Engine) -> None:
    store, recorder = Store(engine, Recorder(fail=True)), Recorder()
    ids = promise(store, *[message() for _ in range(60)])
    meeting = threading.Barrier(2, timeout=20)

    def publish(promises: Sequence[Promise]) -> None:
        recorder(promises)
        if len(recorder.sent) <= 20:  # both hold their first ten rows now, uncommitted
            meeting.wait()

    def relay() -> None:
        while sweep(store, publish, limit=10):
            pass

    together(relay, relay)
    assert sorted(recorder.sent) == sorted(ids)


def test_rows_are_published_in_the_order_in_which_they_were_due(engine: sa.Engine) -> None:
    store, recorder = Store(engine, Recorder(fail=True)), Recorder()
    for _ in range(3):
        promise(store)
    sweep(store, recorder, limit=1)
    first = rows(store, "SELECT id FROM outbox ORDER BY created_at LIMIT 1")[0].id
    assert recorder.sent == [first]


def test_what_is_due_later_waits(engine: sa.Engine) -> None:
    store, recorder = Store(engine, Recorder()), Recorder()
    (outbox_id,) = promise(store)
    with store.unit_of_work("test") as work:
        outbox.postpone(work.session, outbox_id, 3600)
    assert sweep(store, recorder) == 0
    assert status_of(store, outbox_id) == "pending"


def test_what_redis_lost_is_found_and_sent_again_each_time_after_twice_as_long(
    engine: sa.Engine,
) -> None:
    store, recorder = Store(engine, Recorder()), Recorder()
    (outbox_id,) = promise(store)
    for nth in range(4):
        age(store, 5 * 2**nth - 2)
        assert reconcile(store, {}, lost_after=5) == 0
        age(store, 3)
        assert reconcile(store, {}, lost_after=5) == 1
        assert sweep(store, recorder) == 1
    assert recorder.sent == [outbox_id] * 4


def test_what_is_worked_on_is_not_lost_however_long_it_takes(runtime: Start) -> None:
    probe = Probe()
    running = runtime(probe.spec())
    (outbox_id,) = promise(running.store, asked := message())
    found: list[int] = []

    def long(_: RetrieveV1) -> None:
        age(running.store, 10_000)
        found.append(reconcile(running.store, {}, lost_after=5))

    probe.act = long
    handle(running.context, probe.spec(), asked.payload(), outbox_id)
    assert found == [0]


def test_what_died_with_its_worker_is_found_after_its_lease(runtime: Start) -> None:
    probe = Probe()
    running = runtime(probe.spec())
    (outbox_id,) = promise(running.store, asked := message())
    found: list[int] = []

    def frozen(_: RetrieveV1) -> None:
        age(running.store, 10_000)
        with Session(running.store.engine) as session:
            session.execute(sa.text("UPDATE stage_run SET lease_until = now() - interval '1 s'"))
            session.commit()
        found.append(reconcile(running.store, {}, lost_after=5))

    probe.act = frozen
    handle(running.context, probe.spec(), asked.payload(), outbox_id)
    assert found == [1]


def test_a_backlog_is_slow_and_not_lost(engine: sa.Engine) -> None:
    store = Store(engine, Recorder())
    promise(store)
    age(store, outbox.BACKLOG_SECONDS - 10)
    assert reconcile(store, {"retrieve": 1}, lost_after=5) == 0
    assert reconcile(store, {"retrieve": 0, "generate": 3}, lost_after=5) == 1


def reconciled(store: Store, *heads: UUID, sent: float = 0) -> int:
    """As the scheduler does it while the queue of the probe is busy, with `heads` in front.

    `sent`: so many seconds ago, by the clock of the host that sent them.
    """
    moment = now() - timedelta(seconds=sent)
    return reconcile(store, {"retrieve": 3}, lost_after=5, heads=dict.fromkeys(heads, moment))


def test_what_was_taken_from_a_busy_queue_without_effect_is_sent_again_soon(
    engine: sa.Engine,
) -> None:
    """PostgreSQL was away when it was taken; what was published after it is in front by now."""
    store, recorder = Store(engine, Recorder()), Recorder()
    (lost,) = promise(store)
    age(store, 8)
    (head,) = promise(store)
    assert reconciled(store) == 0, "who knows nothing of the front waits for long"
    assert reconciled(store, head) == 1
    assert sweep(store, recorder) == 1
    assert recorder.sent == [lost]


def test_what_was_published_about_when_the_front_was_is_still_in_the_queue(
    engine: sa.Engine,
) -> None:
    """Publishers work side by side, so the order of the queue is not that of the moments."""
    store = Store(engine, Recorder())
    promise(store, message(), message())
    age(store, 4)
    (head,) = promise(store)
    promise(store, message())
    age(store, 400)
    assert reconciled(store, head) == 0


def test_a_front_that_was_published_twice_tells_nothing(engine: sa.Engine) -> None:
    """Its row is dated by its last publication; the queue may hold an earlier one."""
    store = Store(engine, Recorder())
    (head,) = promise(store)
    age(store, 8)
    waiting = promise(store, *[message() for _ in range(3)])
    age(store, 8)
    with Session(engine) as session:
        session.execute(
            sa.text(
                "UPDATE outbox SET publish_count = 2, published_at = clock_timestamp() "
                "WHERE id = :id"
            ),
            {"id": head},
        )
        session.commit()
    assert reconciled(store, head) == 0
    assert {status_of(store, one) for one in waiting} == {"published"}


def test_a_late_copy_in_front_counts_from_when_it_was_sent_itself(engine: sa.Engine) -> None:
    """Its promise was tried and postponed meanwhile, so that its row is young."""
    store = Store(engine, Recorder())
    promise(store, message(), message())
    age(store, 60)
    (head,) = promise(store)
    assert reconciled(store, head, sent=61) == 0
    assert reconciled(store, head, sent=-3600) == 2, "a clock that is ahead changes nothing"


def test_what_a_stopped_worker_put_back_at_the_end_gets_no_copy_for_each_look(
    engine: sa.Engine,
) -> None:
    """It is in the queue though the front is younger: one more copy, then it is young itself."""
    store, recorder = Store(engine, Recorder()), Recorder()
    (put_back,) = promise(store)
    age(store, 3600)
    (head,) = promise(store)
    for _ in range(200):  # nobody takes anything for so many looks
        age(store, 2)
        reconciled(store, head)
        sweep(store, recorder)
    assert recorder.sent == [put_back]


def test_the_front_of_a_queue_is_no_word_about_another(engine: sa.Engine) -> None:
    store = Store(engine, Recorder())
    promise(store)
    age(store, 60)
    with store.unit_of_work("test") as work:
        head = work.emit(
            GenerateV1(
                request_id=uuid4(),
                question_id=uuid4(),
                retrieval_hash=HASH,
            )
        )
    busy = {"retrieve": 1, "generate": 1}
    assert reconcile(store, busy, lost_after=5, heads={head: now()}) == 0


def test_a_message_lost_while_the_queue_stays_busy_is_found_by_the_scheduler(
    runtime: Start,
) -> None:
    probe, hold = Probe(), threading.Event()
    running = runtime(probe.spec(), threads=1)
    promise(Store(running.store.engine, Recorder()), lost := message())  # taken, without effect
    age(running.store, 60)
    running.work()
    probe.act = lambda _: hold.wait(20)
    promise(running.store, *[message() for _ in range(20)])
    wait_until(lambda: len(probe.seen) == 1, 60, "the first is worked on")
    jobs.find_lost(running.store, running.broker, 5)
    assert count(running.store, "outbox", "status = 'pending'") == 1
    jobs.relay(running.store, running.broker)
    hold.set()
    wait_settled(running.store)
    assert done(running.store, lost.question_id) == 1
    assert done(running.store) == 21


def test_a_queue_without_a_worker_does_not_fill_with_copies(engine: sa.Engine) -> None:
    store, recorder = Store(engine, Recorder()), Recorder()
    promise(store)
    for hours in range(24):  # a day without a worker
        for _ in range(6):
            age(store, 600)
            reconcile(store, {"retrieve": hours + 1}, lost_after=5)
            sweep(store, recorder)
    assert 1 < len(recorder.sent) < 10


def test_redis_flushed_in_mid_run_loses_nothing(runtime: Start) -> None:
    probe = Probe()
    running = runtime(probe.spec(), threads=1).work().schedule()
    hold = threading.Event()
    probe.act = lambda _: hold.wait(20)
    asked = [message() for _ in range(12)]
    promise(running.store, *asked)
    wait_until(lambda: len(probe.seen) == 1, 60, "the first is worked on")
    running.broker.client.flushdb()
    hold.set()
    wait_settled(running.store)
    assert sorted(rows_done(running.store)) == sorted(str(one.question_id) for one in asked)
    with running.store.reading() as session:
        assert audit.verify(session).whole


def rows_done(store: Store) -> list[str]:
    """The subjects whose work was committed, one entry each time."""
    found = rows(store, "SELECT subject FROM audit_event WHERE event = 'probe.done'")
    return [row.subject for row in found]


def test_the_reconciler_publishes_no_backlog_a_second_time(runtime: Start) -> None:
    """One slow thread, a queue behind it: rows are old, but Redis holds them."""
    probe, hold = Probe(), threading.Event()
    running = runtime(probe.spec(), threads=1).work()
    probe.act = lambda _: hold.wait(20)
    promise(running.store, *[message() for _ in range(20)])
    wait_until(lambda: len(probe.seen) == 1, 60, "the first is worked on")
    age(running.store, 60)
    jobs.find_lost(running.store, running.broker, 0.5)
    assert count(running.store, "outbox", "status = 'pending'") == 0
    hold.set()
    wait_settled(running.store)
    assert done(running.store) == 20


def test_inline_work_goes_through_outbox_and_ledger_too(
    settings: Settings, inline: InlineWorker
) -> None:
    """Without Redis a question that was promised by another process is found all the same."""
    promise(Store(inline.store.engine, Recorder(fail=True)))
    assert inline.run() == 1  # there is no such question, so it dies at once
    assert settled(inline.store)
    assert count(inline.store, "dead_letter") == 1


def test_a_transaction_that_is_left_open_is_ended_by_the_server(settings: Settings) -> None:
    """A process frozen between two statements holds the head of the audit chain."""
    frozen = connect(settings.database_url, idle_in_transaction_seconds=0.3)
    store = Store(connect(settings.database_url), Recorder())
    with Session(frozen) as session:
        session.execute(sa.text("SELECT seq FROM audit_head FOR UPDATE"))
        with store.unit_of_work("test") as work:
            work.record("thing.made", "x")
        with pytest.raises(sa.exc.DBAPIError) as raised:
            session.execute(sa.text("SELECT 1"))
    assert passes_by_itself(raised.value)
    frozen.dispose()
    store.engine.dispose()


def test_the_pool_of_a_process_that_is_used_up_passes_by_itself(settings: Settings) -> None:
    engine = sa.create_engine(
        connect(settings.database_url).url, pool_size=1, max_overflow=0, pool_timeout=0.05
    )
    with engine.connect(), pytest.raises(sa.exc.TimeoutError) as raised:
        engine.connect()
    assert passes_by_itself(raised.value)
    engine.dispose()
