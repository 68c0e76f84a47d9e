"""What dramatiq over Redis can do to a message (DRAMATIQ 2.3 to 2.5), and that none is lost."""

import json
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import redis

from messages import Stage
from store.core.settings import Settings
from store.models import now
from tests.integration.runtime.harness import (
    Probe,
    Runtime,
    count,
    done,
    encoded,
    message,
    promise,
    push,
    rows,
    send,
    wait_settled,
)
from tests.servers import wait_until
from workers.runtime.broker import WokenBroker
from workers.runtime.errors import Transient
from workers.runtime.wire import MAX_BYTES, fault

Start = Callable[..., Runtime]


def unacknowledged(running: Runtime) -> int:
    """Messages that some broker has fetched and not acknowledged."""
    client, pattern = running.broker.client, f"{running.broker.namespace}:__acks__.*"
    return sum(client.scard(key) for key in client.keys(pattern))


def held(running: Runtime) -> int:
    """Messages of any kind that Redis still holds."""
    client, namespace = running.broker.client, running.broker.namespace
    names = [f"{namespace}:retrieve.msgs", f"{namespace}:retrieve.XQ.msgs"]
    return sum(client.hlen(name) for name in names)


GOOD = message().payload()
NOT_MESSAGES: dict[str, tuple[bytes, str]] = {
    "no JSON": (b"{not json", "it is no JSON message"),
    "no text": (b"\xff\xfe\x00", "it is no JSON message"),
    "empty": (b"", "it is no JSON message"),
    "a list": (b"[]", "it is no JSON message"),
    "other fields": (b'{"patient": "zebrafish"}', "it is no JSON message"),
    "deeply nested": (b"[" * 100_000, "it is no JSON message"),
    "too large": (b" " * (MAX_BYTES + 1), "it is larger than any message"),
    "another queue": (encoded(GOOD, redis_id="r", queue="x"), "it was sent to another queue"),
    "no actor": (encoded(GOOD, redis_id="r", actor_name="zebra fish"), "it names no actor"),
    "no options": (encoded(GOOD, redis_id="r", options={}), "it carries no id of the broker"),
    "options no object": (encoded(GOOD, redis_id="r", options=[]), "it carries no id"),
    "an id that is a list": (encoded(GOOD, redis_id="r", message_id=[]), "none of an outbox row"),
    "an id of another kind": (encoded(GOOD, redis_id="r", message_id="1"), "none of an outbox row"),
    "no payload": (encoded(GOOD, redis_id="r", args=()), "does not consist of one JSON object"),
    "two payloads": (encoded(GOOD, redis_id="r", args=(1, 2)), "one JSON object"),
    "a text": (encoded("zebrafish", redis_id="r"), "one JSON object"),
    "keywords": (encoded(GOOD, redis_id="r", kwargs={"a": 1}), "one JSON object"),
    "delayed": (
        encoded(GOOD, redis_id="r", options={"redis_message_id": "r", "eta": 10**15}),
        "nothing is delayed here",
    ),
}


def test_a_message_of_ours_has_no_fault() -> None:
    assert fault(encoded(GOOD, redis_id="r"), "retrieve") is None


@pytest.mark.parametrize("kind", NOT_MESSAGES)
def test_the_fault_of_what_is_no_message_is_named(kind: str) -> None:
    body, reason = NOT_MESSAGES[kind]
    assert reason in (fault(body, "retrieve") or "")


@pytest.mark.requirement("DC-2")
def test_s2_bad_messages_in_a_batch_die_at_once_and_their_neighbours_are_all_done(
    runtime: Start,
) -> None:
    probe = Probe()
    running = runtime(probe.spec(), threads=16)  # fetches 32 at once
    client, namespace = running.broker.client, running.broker.namespace
    good = [message() for _ in range(len(NOT_MESSAGES))]
    for one, (body, _) in zip(good, NOT_MESSAGES.values(), strict=True):
        push(client, namespace, "retrieve", body)
        promise(running.store, one)
    running.work()
    wait_settled(running.store)
    assert sorted(probe.seen) == sorted(one.question_id for one in good)
    wait_until(lambda: held(running) == 0, 60, "Redis holds none of them")
    letters = rows(running.store, "SELECT * FROM dead_letter")
    assert {letter.error_type for letter in letters} == {"UndecodableMessage"}
    assert len(letters) == len(NOT_MESSAGES)
    for _, reason in NOT_MESSAGES.values():
        assert any(reason in letter.cause for letter in letters)
    assert "zebrafish" not in str(letters)
    assert unacknowledged(running) == 0


@pytest.mark.requirement("DC-2")
def test_messages_that_no_stage_can_read_die_at_once_among_good_ones(runtime: Start) -> None:
    probe = Probe()
    running = runtime(probe.spec(), threads=8)
    good = [message() for _ in range(5)]
    bad: dict[str, Any] = {
        "InvalidMessage": {**GOOD, "question_id": "zebrafish"},
        "UnknownMessage": {**GOOD, "schema": "zebrafish.v1"},
        "FutureMessage": {**GOOD, "schema": "retrieve.v2", "more": "zebrafish"},
    }
    sent = {}
    for one, (kind, payload) in zip(good, bad.items(), strict=False):
        promise(running.store, one)
        sent[kind] = send(running, payload)
    sent["ActorNotFound"] = send(running, GOOD, actor_name="retrieve_and_more")
    promise(running.store, *good[len(bad) :])
    running.work()
    wait_until(lambda: count(running.store, "dead_letter") == 4, 60, "dead letters")
    wait_settled(running.store)
    assert sorted(probe.seen) == sorted(one.question_id for one in good)
    letters = rows(running.store, "SELECT * FROM dead_letter WHERE status = 'open'")
    causes = {letter.error_type: letter.cause for letter in letters}
    assert set(causes) == set(sent)
    assert causes["InvalidMessage"] == "retrieve.v1: question_id: uuid_parsing"
    assert "never in use" in causes["UnknownMessage"]
    assert "newer than this worker" in causes["FutureMessage"]
    assert "knows its actor" in causes["ActorNotFound"]
    assert "zebrafish" not in str(letters)
    wait_until(lambda: held(running) == 0, 60, "Redis holds none of them")


def test_d5_a_message_that_the_client_pushed_twice_is_done_once(runtime: Start) -> None:
    probe = Probe()
    running = runtime(probe.spec(), threads=2)
    (outbox_id,) = promise(running.store, asked := message())
    client, namespace = running.broker.client, running.broker.namespace
    (redis_id,) = client.lrange(f"{namespace}:retrieve", 0, -1)
    client.rpush(f"{namespace}:retrieve", redis_id)
    running.work()
    wait_settled(running.store)
    wait_until(lambda: client.llen(f"{namespace}:retrieve") == 0, 60, "both copies taken")
    wait_until(lambda: unacknowledged(running) == 0, 60, "both copies acknowledged")
    assert probe.seen == [asked.question_id]
    assert count(running.store, "outbox", "id = :id AND status = 'done'", id=outbox_id) == 1


def test_d2_a_message_delivered_to_two_workers_at_once_is_done_once(runtime: Start) -> None:
    probes = [Probe(), Probe()]
    both = [runtime(probe.spec(), name=f"worker {n}") for n, probe in enumerate(probes)]
    asked = [message() for _ in range(20)]
    ids = promise(both[0].store, *asked)
    for one, outbox_id in zip(asked, ids, strict=True):
        send(both[0], one.payload(), message_id=str(outbox_id))
    for running in both:
        running.work()
    wait_settled(both[0].store)
    wait_until(lambda: held(both[0]) == 0, 60, "every copy taken")
    seen = [subject for probe in probes for subject in probe.seen]
    assert sorted(seen) == sorted(one.question_id for one in asked)
    assert done(both[0].store) == 20


class Faulty(WokenBroker):
    """A broker whose next Redis commands fail as the tests say, after or before they were done."""

    faults: dict[str, list[tuple[str, Exception]]]

    def _dispatch(self, command: str) -> Callable[..., Any]:
        run: Callable[..., Any] = super()._dispatch(command)  # type: ignore[no-untyped-call]

        def dispatch(*args: Any) -> Any:
            waiting = type(self).faults.get(command)
            if not waiting:
                return run(*args)
            when, error = waiting.pop(0)
            if when == "after":
                run(*args)
            raise error

        return dispatch


@pytest.fixture
def faults() -> dict[str, list[tuple[str, Exception]]]:
    """Faults of `Faulty`, by command."""
    Faulty.faults = {}
    return Faulty.faults


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("error", [redis.TimeoutError("no answer"), redis.ConnectionError("gone")])
def test_s3_an_acknowledgement_that_fails_is_repeated_and_the_work_is_not(
    runtime: Start, faults: dict[str, Any], when: str, error: Exception
) -> None:
    probe = Probe()
    running = runtime(probe.spec(), broker=Faulty)
    faults["ack"] = [(when, error), (when, error)]
    promise(running.store, asked := message())
    running.work()
    wait_settled(running.store)
    wait_until(lambda: held(running) + unacknowledged(running) == 0, 60, "acknowledged")
    assert probe.seen == [asked.question_id]


@pytest.mark.parametrize("error", [redis.TimeoutError("no answer"), redis.ConnectionError("gone")])
def test_s4_a_batch_whose_reply_was_lost_is_found_by_the_reconciler(
    runtime: Start, faults: dict[str, Any], error: Exception
) -> None:
    probe = Probe()
    running = runtime(probe.spec(), broker=Faulty)
    faults["fetch"] = [("after", error)] * 2
    asked = [message() for _ in range(3)]
    promise(running.store, *asked)
    running.work().schedule()
    wait_settled(running.store)
    assert sorted(probe.seen) == sorted(one.question_id for one in asked)


def test_l1_a_retry_that_redis_does_not_take_is_kept_in_postgresql(
    runtime: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    probe, refuse = Probe(), threading.Event()

    def fail_once(_: object) -> None:
        if len(probe.seen) == 1:
            refuse.set()
            raise Transient("once")

    probe.act = fail_once
    running = runtime(probe.spec())
    publish, tried = running.broker.publish, threading.Event()

    def refusing(promises: Any) -> None:
        if refuse.is_set():
            tried.set()
            raise redis.ConnectionError("OOM command not allowed")
        publish(promises)

    monkeypatch.setattr(running.broker, "publish", refusing)
    promise(running.store, asked := message())
    running.work().schedule()
    assert tried.wait(60)
    refuse.clear()
    wait_settled(running.store)
    assert done(running.store, asked.question_id) == 1
    assert len(probe.seen) == 2


def test_consumers_survive_that_redis_drops_their_connections(runtime: Start) -> None:
    probe = Probe()
    running = runtime(probe.spec(), threads=2).work().schedule()
    for _ in range(3):
        promise(running.store, *[message() for _ in range(5)])
        running.broker.client.client_kill_filter(_type="normal", skipme=True)
    wait_settled(running.store)
    assert done(running.store) == 15


def test_waking_is_by_queue_and_survives_junk_and_a_dropped_connection(
    runtime: Start, settings: Settings
) -> None:
    running = runtime(Probe().spec())
    event = running.broker.wake_event("retrieve")
    running.broker.listen()
    client, channels = running.broker.client, f"{settings.redis_namespace}:published"

    def wakes(payload: bytes = b"") -> bool:
        event.clear()
        client.publish(f"{channels}:retrieve", payload)
        return event.wait(0.2)

    wait_until(wakes, 60, "woken")
    wait_until(lambda: wakes(b"\xff\xfe"), 60, "woken by junk")
    assert client.publish(f"{channels}:generate", "") == 0, "nobody here works on that queue"
    client.client_kill_filter(_type="pubsub")
    wait_until(wakes, 60, "woken after the connection was lost")


def test_a_subscription_that_the_client_made_anew_wakes_too(
    runtime: Start, settings: Settings
) -> None:
    """What was announced in between is not waited for until the next slow look."""
    running = runtime(Probe().spec())
    event = running.broker.wake_event("retrieve")
    running.broker.listen()
    wait_until(event.is_set, 60, "woken by the first subscription")
    event.clear()
    running.broker.client.client_kill_filter(_type="pubsub")
    wait_until(event.is_set, 60, "woken by the next one")


def test_what_a_process_publishes_wakes_its_own_consumer_at_once(runtime: Start) -> None:
    """Nobody listens to Redis here, and the next slow look is far off."""
    running = runtime(Probe().spec())
    event = running.broker.wake_event("retrieve")
    event.clear()
    promise(running.store, message())
    assert event.is_set()
    event.clear()
    running.broker.publish([])
    assert not event.is_set()


class Counting(WokenBroker):
    """A broker that counts how often it looks into Redis for messages."""

    fetches = 0

    def do_fetch(self, queue_name: str, count: int) -> list[bytes]:
        self.fetches += 1
        found: list[bytes] = self.__getattr__("do_fetch")(queue_name, count)  # type: ignore[no-untyped-call]
        return found


def test_a_queue_that_was_emptied_is_not_looked_into_until_somebody_says_so(
    runtime: Start,
) -> None:
    running = runtime(Probe().spec(), broker=Counting)
    consumer = running.broker.consume("retrieve", prefetch=4, timeout=300)
    broker = running.broker
    assert isinstance(broker, Counting)
    for number in range(1, 4):
        promise(running.store, message())
        found = next(consumer)
        assert found is not None
        assert broker.fetches == number, "one look for each"
        consumer.ack(found)
    assert next(consumer) is None
    assert broker.fetches == 4, "the slow look"
    promise(running.store, *[message() for _ in range(5)])
    assert None not in [next(consumer) for _ in range(4)]
    assert broker.fetches == 5, "all that there was room for, at once"


def test_room_for_what_was_left_is_told_by_an_acknowledgement(runtime: Start) -> None:
    running = runtime(Probe().spec())
    consumer = running.broker.consume("retrieve", prefetch=1, timeout=300_000)
    promise(running.store, message(), message())
    first, found = next(consumer), []
    assert first is not None
    looking = threading.Thread(target=lambda: found.extend([next(consumer), next(consumer)]))
    looking.start()
    consumer.ack(first)
    looking.join(60)
    assert [one for one in found if one is not None], "long before the slow look"


def test_what_a_stopping_worker_has_fetched_goes_back_to_the_queue(runtime: Start) -> None:
    probe, hold = Probe(), threading.Event()
    running = runtime(probe.spec(), threads=1)  # fetches two at once
    probe.act = lambda _: hold.wait(20)
    asked = [message() for _ in range(6)]
    promise(running.store, *asked)
    running.work()
    wait_until(lambda: unacknowledged(running) == 2, 60, "one in work, one fetched")
    wait_until(lambda: len(probe.seen) == 1, 60, "one in work")
    release = threading.Timer(0.3, hold.set)
    release.start()
    running.stop()
    release.join()
    successor = runtime(Probe().spec())
    assert unacknowledged(successor) == 0
    assert successor.broker.backlog()["retrieve"] == len(asked) - len(probe.seen)
    successor.work()  # and no reconciler is needed
    wait_settled(successor.store)
    assert done(successor.store) == len(asked)


def test_a_message_in_redis_carries_ids_and_hashes_only(runtime: Start) -> None:
    running = runtime(Probe().spec())
    (outbox_id,) = promise(running.store, asked := message())
    (body,) = running.broker.client.hvals(f"{running.broker.namespace}:retrieve.msgs")
    sent = json.loads(body)
    assert sent["message_id"] == str(outbox_id)
    assert sent["args"] == [asked.payload()]
    assert set(sent["options"]) == {"redis_message_id"}


def test_backlog_counts_every_stage(runtime: Start) -> None:
    running = runtime(Probe().spec())
    promise(running.store, message(), message())
    expected = {stage.value: 0 for stage in Stage} | {"retrieve": 2}
    assert running.broker.backlog() == expected


def test_the_front_of_a_queue_is_what_waits_longest_there(runtime: Start) -> None:
    running = runtime(Probe().spec())
    assert running.broker.heads() == {}
    before = now()
    first, *_ = promise(running.store, message(), message())
    heads = running.broker.heads()
    assert list(heads) == [first]
    assert before - timedelta(milliseconds=1) <= heads[first] <= now()


@pytest.mark.parametrize("sent", [None, "then", True, -1, 10**18])
def test_a_front_that_nobody_can_read_or_that_has_no_moment_is_none(
    runtime: Start, sent: Any
) -> None:
    running = runtime(Probe().spec())
    if sent is None:
        push(running.broker.client, running.broker.namespace, "retrieve", b"no message")
    else:
        send(running, message().payload(), message_timestamp=sent)
    promise(running.store, message())
    assert running.broker.heads() == {}
