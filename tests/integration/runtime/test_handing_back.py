"""A worker that is told to stop hands back what it cannot finish."""

import threading
from collections.abc import Callable, Iterator

import pytest

from tests.integration.runtime.harness import (
    Probe,
    Runtime,
    claim,
    done,
    message,
    promise,
    run_of,
    settled,
    status_of,
)
from tests.servers import wait_until
from workers.main import consume, finish
from workers.runtime.stage import handle

Start = Callable[..., Runtime]


class Long(Probe):
    """Work that goes on until the test lets it end."""

    def __init__(self) -> None:
        super().__init__()
        self.began, self.may_end = threading.Event(), threading.Event()
        self.act = self._wait

    def _wait(self, _: object) -> None:
        self.began.set()
        self.may_end.wait(60)


@pytest.fixture
def long() -> Iterator[Long]:
    probe = Long()
    yield probe
    probe.may_end.set()


def test_what_does_not_end_in_time_is_begun_anew_at_once_and_not_counted(
    runtime: Start, long: Long
) -> None:
    stopped = runtime(long.spec())
    stopped.broker.listen()
    worker = consume(stopped.broker, [long.spec().stage], 1)
    stopped.broker.emit_after("process_boot")
    worker.start()
    (outbox_id,) = promise(stopped.store, asked := message())
    assert long.began.wait(60)
    stopped.broker.stop_listening()
    finish(worker, stopped.leases, 0.1)
    run = run_of(stopped.store, asked.question_id)
    assert (run.status, run.attempts, run.lease_until) == ("waiting", 0, None)
    assert status_of(stopped.store, outbox_id) == "pending"
    other = Probe()
    running = runtime(other.spec()).work().schedule()
    wait_until(lambda: settled(running.store), 60, "another worker has done it")
    long.may_end.set()
    assert other.seen == [asked.question_id]
    assert run_of(running.store, asked.question_id).attempts == 1
    assert done(running.store, asked.question_id) == 1


def test_what_ends_in_time_is_not_begun_anew(runtime: Start, long: Long) -> None:
    running = runtime(long.spec())
    running.broker.listen()
    worker = consume(running.broker, [long.spec().stage], 1)
    running.broker.emit_after("process_boot")
    worker.start()
    (outbox_id,) = promise(running.store, asked := message())
    assert long.began.wait(60)
    running.broker.stop_listening()
    threading.Timer(0.2, long.may_end.set).start()
    finish(worker, running.leases, 20)
    assert status_of(running.store, outbox_id) == "done"
    assert run_of(running.store, asked.question_id).attempts == 1


def test_work_that_has_another_holder_by_now_is_left_to_it(runtime: Start) -> None:
    running = runtime(Probe().spec())
    asked = message()
    lost = claim(running.store, str(asked.question_id), lease=0.0)
    with running.leases.holding(lost, 60):  # type: ignore[arg-type]
        kept = claim(running.store, str(asked.question_id))
        assert running.leases.hand_back() == 0
    run = run_of(running.store, asked.question_id)
    assert (run.status, run.token) == ("running", kept.token)  # type: ignore[union-attr]


def test_a_database_that_is_away_hinders_nobody_from_stopping(runtime: Start) -> None:
    running = runtime(Probe().spec())
    held = claim(running.store, "subject")
    with running.leases.holding(held, 60):  # type: ignore[arg-type]
        running.store.engine.dispose()
        running.store.engine.connect = _away  # type: ignore[method-assign]
        assert running.leases.hand_back() == 0


def _away(*_: object, **__: object) -> None:
    raise ConnectionError("away")


@pytest.mark.parametrize("error", [MemoryError, SystemError])
def test_a_worker_without_memory_ends_and_its_message_is_tried_again(
    runtime: Start, error: type[Exception]
) -> None:
    """What it was making then is half made: whatever it would do later cannot be trusted."""

    def act(_: object) -> None:
        raise error

    probe = Probe(act)
    running = runtime(probe.spec())
    (outbox_id,) = promise(running.store, asked := message())
    handle(running.context, probe.spec(), asked.payload(), outbox_id)
    assert running.context.stop.is_set()
    assert running.context.unfit == [
        f"{error.__name__} at {__name__}:{act.__code__.co_firstlineno + 1}"
    ]
    assert status_of(running.store, outbox_id) == "pending"
    assert run_of(running.store, asked.question_id).attempts == 1


def test_other_errors_end_no_worker(runtime: Start) -> None:
    def act(_: object) -> None:
        raise ValueError

    probe = Probe(act)
    running = runtime(probe.spec())
    (outbox_id,) = promise(running.store, asked := message())
    handle(running.context, probe.spec(), asked.payload(), outbox_id)
    assert not running.context.stop.is_set()
