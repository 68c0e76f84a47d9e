"""Servers are killed, emptied, frozen and started again in mid-run: nothing is lost or doubled."""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from uuid import UUID

import psutil
import pytest
import redis
import sqlalchemy as sa

from messages import Stage
from store.core.unit_of_work import Promise, Store
from tests.chaos.checker import check, wait_quiet
from tests.chaos.conftest import World
from tests.chaos.hold import Hold
from tests.integration.runtime.harness import Runtime, count, done, rows
from tests.servers import (
    TRIAL,
    TRIAL_QUESTION,
    ask,
    get_question,
    ingest,
    wait_finished,
    wait_until,
)
from workers.registry import spec_of
from workers.runtime.broker import WokenBroker

pytestmark = pytest.mark.requirement("DC-2")
QUESTIONS = 5


def begun(world: World) -> list[UUID]:
    """A corpus of one trial, a worker, a scheduler, and questions on their way."""
    world.fleet.start("scheduler")
    world.fleet.start("worker", "--threads=2")
    ingest(world.store, TRIAL)
    wait_quiet(world.store)
    return [ask(world.store, f"{TRIAL_QUESTION} ({n})") for n in range(QUESTIONS)]


def ended(world: World, ids: list[UUID]) -> None:
    """Every question is answered once, and the database is what it must be."""
    wait_finished(world.store, ids, 150)
    wait_quiet(world.store)
    check(world.store, answered=len(ids))


def test_redis_flushall_in_mid_run(world: World) -> None:
    with Hold(world.store.engine) as hold:
        hold.commit_of(Stage.GENERATE)
        ids = begun(world)
        hold.wait_for(2)
        redis.Redis.from_url(world.settings.redis_url).flushall()
        hold.release()
        ended(world, ids)


def test_redis_kill_9_and_restart_in_mid_run(world: World) -> None:
    with Hold(world.store.engine) as hold:
        hold.commit_of(Stage.GENERATE)
        ids = begun(world)
        hold.wait_for(2)
        world.servers.redis.kill()
        hold.release()  # two commits while Redis is away: their next messages cannot be published
        wait_until(lambda: count(world.store, "draft") == 2, 60, "committed without Redis")
        late = ask(world.store, f"{TRIAL_QUESTION} (asked without Redis)")
        assert get_question(world.store, late).status == "queued"
        world.servers.redis.start()
        ended(world, [*ids, late])


def test_redis_that_answers_nothing_holds_up_nobody_who_asks(world: World) -> None:
    """SIGSTOP: connections stay open and silent, which only time-outs end."""
    ids = begun(world)
    wait_finished(world.store, ids)
    pid = world.servers.redis.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    try:
        late = ask(world.store, f"{TRIAL_QUESTION} (asked of a silent Redis)")
        (row,) = rows(
            world.store,
            "SELECT status FROM outbox WHERE payload->>'question_id' = :id",
            id=str(late),
        )
        assert row.status == "pending"
    finally:
        os.kill(pid, signal.SIGCONT)
    ended(world, [*ids, late])


def test_sigterm_while_redis_is_away_ends_cleanly(world: World) -> None:
    with Hold(world.store.engine) as hold:
        hold.commit_of(Stage.GENERATE)
        ids = begun(world)
        worker = world.fleet.processes[-1]
        hold.wait_for(2)
        world.servers.redis.kill()
        hold.release()
        wait_until(lambda: count(world.store, "draft") == 2, 60, "committed without Redis")
        worker.terminate()
        try:
            assert worker.wait(60) == 0
        finally:
            world.servers.redis.start()
        assert "worker_stopped" in world.fleet.text()
        world.fleet.start("worker", "--threads=2")
        ended(world, ids)


def test_postgresql_kill_9_and_restart_in_mid_run(world: World) -> None:
    with Hold(world.store.engine) as hold:
        hold.commit_of(Stage.GENERATE)
        ids = begun(world)
        hold.wait_for(2)
        world.servers.postgres.kill()
        world.servers.postgres.start()
        hold.release()
        ended(world, ids)
    assert count(world.store, "dead_letter") == 0


def test_postgresql_restart_under_load(world: World) -> None:
    ids = begun(world)
    wait_until(lambda: count(world.store, "stage_run") > 5, 60, "on their way")
    world.servers.postgres.restart()
    ended(world, ids)
    assert all(process.poll() is None for process in world.fleet.processes)


@contextlib.contextmanager
def frozen_postgresql(world: World) -> Iterator[None]:
    """PostgreSQL with all its backends, stopped: connections stay open and silent."""
    pid = world.servers.postgres.pid
    assert pid is not None
    first = psutil.Process(pid)
    stopped = [first, *first.children(recursive=True)]
    for one in stopped:
        with contextlib.suppress(psutil.NoSuchProcess):
            one.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for one in reversed(stopped):
            with contextlib.suppress(psutil.NoSuchProcess):
                one.send_signal(signal.SIGCONT)


def test_postgresql_hangs_in_mid_run_for_longer_than_leases_and_time_outs(world: World) -> None:
    ids = begun(world)
    wait_until(lambda: count(world.store, "retrieval") > 0, 60, "on their way")
    for seconds in (3.0, 12.0):
        with frozen_postgresql(world):
            time.sleep(seconds)
        wait_until(lambda: count(world.store, "stage_run") > 0, 60, "it answers")
    ended(world, ids)
    assert count(world.store, "dead_letter") == 0
    assert all(process.poll() is None for process in world.fleet.processes)


def test_workers_and_scheduler_end_when_told_though_postgresql_hangs(world: World) -> None:
    ids = begun(world)
    wait_until(lambda: count(world.store, "retrieval") > 0, 60, "on their way")
    with frozen_postgresql(world):
        for process in world.fleet.processes:
            process.terminate()
        for process in world.fleet.processes:
            process.wait(60)
    for process in ("scheduler", "worker"):
        world.fleet.start(process)
    ended(world, ids)


def test_both_servers_kill_9_at_once(world: World) -> None:
    ids = begun(world)
    wait_until(lambda: count(world.store, "retrieval") > 0, 60, "on their way")
    world.servers.postgres.kill()
    world.servers.redis.kill()
    world.servers.redis.start()
    world.servers.postgres.start()
    ended(world, ids)


class Twice(WokenBroker):
    """Sends every message twice, as a client does that lost the first reply (DRAMATIQ 2.4 D5)."""

    def publish(self, promises: Sequence[Promise]) -> None:
        super().publish(promises)
        super().publish(promises)


def test_every_message_delivered_twice(runtime: Callable[..., Runtime]) -> None:
    both = [
        runtime(*map(spec_of, Stage), broker=Twice, name=name).work().schedule()
        for name in ("one", "two")
    ]
    store = both[0].store
    ingest(store, TRIAL)
    wait_quiet(store)
    ids = [ask(store, f"{TRIAL_QUESTION} ({n})") for n in range(QUESTIONS)]
    wait_finished(store, ids)
    wait_quiet(store)
    check(store, answered=QUESTIONS)
    assert count(store, "dead_letter") == 0
    assert max(row.attempts for row in rows(store, "SELECT attempts FROM stage_run")) == 1


def test_the_publication_fails_after_every_commit(runtime: Callable[..., Runtime]) -> None:
    refused: list[int] = []

    def refuse(promises: Sequence[Promise]) -> None:
        refused.append(len(promises))
        raise ConnectionError("refused")

    running = runtime(*map(spec_of, Stage), publisher=refuse).work().schedule()
    ingest(running.store, TRIAL)
    wait_quiet(running.store)
    ids = [ask(running.store, f"{TRIAL_QUESTION} ({n})") for n in range(QUESTIONS)]
    wait_finished(running.store, ids)
    wait_quiet(running.store)
    check(running.store, answered=QUESTIONS)
    assert count(running.store, "outbox") == 3 + 4 * QUESTIONS
    assert sum(refused) == 3 + QUESTIONS, "a thread runs on with its question (ADR 0048)"


def test_questions_asked_from_many_threads_while_redis_is_emptied_over_and_over(
    runtime: Callable[..., Runtime], published: Store
) -> None:
    running = runtime(*map(spec_of, Stage)).work().schedule()
    ingest(running.store, TRIAL)
    wait_quiet(running.store)
    ids: list[UUID] = []

    def ask_some() -> None:
        ids.extend(ask(published, f"{TRIAL_QUESTION} ({n})") for n in range(5))

    askers = [threading.Thread(target=ask_some) for _ in range(4)]
    for asker in askers:
        asker.start()
    while any(asker.is_alive() for asker in askers):
        for key in running.broker.client.scan_iter(f"{running.settings.redis_namespace}:*"):
            running.broker.client.delete(key)
    wait_finished(running.store, ids)
    wait_quiet(running.store)
    check(running.store, answered=20)
    assert done(running.store) == 0
    with running.store.reading() as session:
        assert session.execute(sa.text("SELECT count(*) FROM dead_letter")).scalar_one() == 0
