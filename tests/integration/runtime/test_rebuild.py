"""All queues anew from PostgreSQL, with one command, whatever Redis holds."""

from collections.abc import Callable
from uuid import uuid4

import pytest
import sqlalchemy as sa

from store.dead_letters.dead_letters import Death
from store.pipeline import circuits
from tests.integration.runtime.harness import (
    Probe,
    Runtime,
    count,
    done,
    message,
    promise,
    push,
    rows,
    status_of,
    wait_settled,
)
from workers.runtime.dead_letter_middleware import letter_id
from workers.runtime.failures import bury
from workers.runtime.rebuild import rebuild_queues

Start = Callable[..., Runtime]


def keys(running: Runtime) -> set[str]:
    """The keys of the stage's queue in Redis."""
    found = running.broker.client.scan_iter(f"{running.broker.namespace}:retrieve*")
    return {key.decode() for key in found}


@pytest.mark.requirement("DC-5")
def test_a_lost_redis_is_filled_again_and_all_is_done_once(runtime: Start) -> None:
    running = runtime(Probe().spec())
    asked = [message() for _ in range(5)]
    promise(running.store, *asked)
    running.broker.client.delete(*keys(running))
    assert running.broker.backlog()["retrieve"] == 0
    report = rebuild_queues(running.store, running.broker, "operator")
    assert (report.sent, report.removed["retrieve"]) == (5, 0)
    assert running.broker.backlog()["retrieve"] == 5
    running.work()
    wait_settled(running.store)
    assert [done(running.store, one.question_id) for one in asked] == [1] * 5
    assert count(running.store, "audit_event", "event = 'queues.rebuilt'") == 1


def test_copies_and_rubbish_are_gone_afterwards_and_doing_it_twice_changes_nothing(
    runtime: Start,
) -> None:
    running = runtime(Probe().spec())
    promise(running.store, message(), message())
    for _ in range(3):
        push(running.broker.client, running.broker.namespace, "retrieve", b"rubbish")
    running.broker.client.sadd(f"{running.broker.namespace}:__acks__.{uuid4()}.retrieve", "gone")
    first = rebuild_queues(running.store, running.broker, "operator")
    assert (first.removed["retrieve"], first.sent) == (5, 2)
    second = rebuild_queues(running.store, running.broker, "operator")
    assert (second.removed["retrieve"], second.sent) == (2, 2)
    assert running.broker.backlog()["retrieve"] == 2
    assert not [key for key in keys(running) if "__acks__" in key]


def test_what_waits_for_its_time_or_for_a_paused_stage_goes_on_waiting(runtime: Start) -> None:
    running = runtime(Probe().spec())
    held, later, kept, dead = promise(running.store, *[message() for _ in range(4)])
    with running.store.unit_of_work("operator") as work:
        circuits.pause(work, "retrieve", "for a while")
        circuits.admit(work, "retrieve", held)
        moved = "UPDATE outbox SET {} WHERE id = :id"
        postponed = "status = 'pending', not_before = clock_timestamp() + interval '1 hour'"
        work.session.execute(sa.text(moved.format(postponed)), {"id": later})
        work.session.execute(sa.text(moved.format("status = 'done'")), {"id": kept})
    bury(running.store, Death("retrieve", {}, "Rejected", "x", outbox_id=dead))
    report = rebuild_queues(running.store, running.broker, "operator")
    assert (report.sent, report.held, report.not_due) == (0, 1, 1)
    states = [status_of(running.store, one) for one in (held, later, kept, dead)]
    assert states == ["pending", "pending", "done", "dead"]


def test_what_a_worker_holds_is_finished_by_it_once(runtime: Start) -> None:
    running = runtime(Probe().spec())
    asked = message()

    def rebuild(_: object) -> None:
        rebuild_queues(running.store, running.broker, "operator")

    probe = Probe(rebuild)
    running.stop()
    running = runtime(probe.spec()).work()
    promise(running.store, asked)
    wait_settled(running.store)
    assert probe.seen == [asked.question_id]
    assert done(running.store, asked.question_id) == 1


def test_what_redis_alone_knew_to_be_dead_is_copied_first(runtime: Start) -> None:
    running = runtime(Probe().spec())
    client, namespace = running.broker.client, running.broker.namespace
    redis_id = push(client, namespace, "retrieve", b"rubbish")
    running.broker.do_fetch("retrieve", 1)
    running.broker.do_nack("retrieve", redis_id)
    report = rebuild_queues(running.store, running.broker, "operator")
    assert report.dead_copied == 1
    (found,) = rows(running.store, "SELECT id FROM dead_letter")
    assert found.id == letter_id(redis_id)
    assert not client.exists(f"{namespace}:retrieve.XQ")


def test_another_system_in_the_same_redis_is_left_alone(runtime: Start) -> None:
    running = runtime(Probe().spec())
    client, namespace = running.broker.client, running.broker.namespace
    others = [f"{namespace}2:retrieve", f"x{namespace}:__acks__.1.retrieve"]
    for key in others:
        client.sadd(key, "theirs")
    try:
        rebuild_queues(running.store, running.broker, "operator")
        assert client.exists(*others) == 2
    finally:
        client.delete(*others)
