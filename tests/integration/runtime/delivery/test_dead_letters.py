"""Dead letters: each says why, none says what patients or documents said, and most can return."""

import hashlib
import json
import threading
from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, example, given
from hypothesis import settings as bounded
from hypothesis import strategies as st

from messages import QUESTION_STAGES, Stage
from scheduler import jobs
from store.audit import audit
from store.core.database import connect
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.dead_letters import dead_letters
from store.dead_letters.dead_letters import Death, NotReplayable
from tests.integration.runtime.harness import (
    Probe,
    Runtime,
    count,
    done,
    message,
    promise,
    promise_asked,
    push,
    rows,
    settled,
    together,
    wait_settled,
)
from tests.servers import (
    TRIAL,
    TRIAL_QUESTION,
    ask,
    get_question,
    ingest,
    wait_finished,
    wait_until,
)
from workers.inline import InlineWorker
from workers.registry import spec_of
from workers.runtime.broker import WokenBroker
from workers.runtime.errors import Permanent
from workers.runtime.failures import bury
from workers.runtime.stage import handle

pytestmark = pytest.mark.requirement("DC-5")
Start = Callable[..., Runtime]


def letter(store: Store) -> Any:
    """The only dead letter."""
    (found,) = rows(store, "SELECT * FROM dead_letter")
    return found


def replay(store: Store, letter_id: UUID) -> None:
    """Replay as an operator does."""
    with store.unit_of_work("operator") as work:
        dead_letters.replay(work, letter_id)


def death(**changes: Any) -> Death:
    """A death outside of any claim."""
    given: dict[str, Any] = {
        "stage": "retrieve",
        "payload": message().payload(),
        "error_type": "ActorNotFound",
        "cause": "no such actor",
    }
    return Death(**given | changes)


def test_a_question_whose_message_nobody_can_read_fails_with_the_reason(runtime: Start) -> None:
    """Not left waiting for ever: its caller polls."""
    running = runtime(Probe().spec())
    question_id = ask(running.store, "Which trials are there?")
    (row,) = rows(running.store, "SELECT id, payload FROM outbox")
    spec = Probe().spec()
    handle(running.context, spec, {**row.payload, "schema": "retrieve.v2"}, row.id)
    question = get_question(running.store, question_id)
    assert question.status == "failed"
    assert question.error is not None
    assert "newer than this worker" in question.error
    assert settled(running.store)
    assert letter(running.store).subject == str(question_id)


def test_an_item_whose_message_nobody_can_read_fails_with_the_reason(runtime: Start) -> None:
    running = runtime(Probe().spec())
    item_id = ingest(running.store, TRIAL)
    (row,) = rows(running.store, "SELECT id, payload FROM outbox")
    bury(running.store, death(stage="ingest", outbox_id=row.id))
    (item,) = rows(
        running.store, "SELECT status, error FROM ingest_item WHERE id = :id", id=item_id
    )
    assert (item.status, item.error) == ("failed", "no such actor")
    replay(running.store, letter(running.store).id)
    (item,) = rows(
        running.store, "SELECT status, error FROM ingest_item WHERE id = :id", id=item_id
    )
    assert (item.status, item.error) == ("pending", None)


def test_l8_a_question_that_met_an_old_worker_is_answered_once_after_a_replay(
    runtime: Start, inline: InlineWorker
) -> None:
    ingest(inline.store, TRIAL)
    inline.run()
    old = runtime(Probe().spec())
    old.broker.actors.clear()  # a worker of a version before this stage had its name
    old.work()
    question_id = ask(old.store, TRIAL_QUESTION)
    wait_finished(old.store, [question_id])
    old.stop()
    found = letter(inline.store)
    assert found.error_type == "ActorNotFound"
    assert "upgrade the workers, then replay" in found.cause
    assert get_question(inline.store, question_id).error == found.cause
    replay(inline.store, found.id)
    inline.run()
    assert get_question(inline.store, question_id).status == "answered"
    assert count(inline.store, "audit_event", "event = 'answer.sealed'") == 1


def test_a_replay_brings_a_dead_question_to_one_answer(runtime: Start) -> None:
    specs = [spec_of(stage) for stage in Stage]
    running = runtime(*specs, threads=2).work().schedule()
    ingest(running.store, TRIAL)
    wait_settled(running.store)
    with running.store.engine.begin() as connection:
        connection.execute(sa.text("UPDATE index_encoder SET name = 'another encoder'"))
    question_id = ask(running.store, TRIAL_QUESTION)
    wait_finished(running.store, [question_id])
    assert get_question(running.store, question_id).status == "failed"
    with running.store.engine.begin() as connection:
        connection.execute(sa.text("UPDATE index_encoder SET name = :n"), {"n": encoder(running)})
    replay(running.store, letter(running.store).id)
    wait_until(lambda: get_question(running.store, question_id).status == "answered", 30)
    for stage in QUESTION_STAGES:
        assert count(running.store, "stage_run", "stage = :s AND status = 'done'", s=stage) == 1
    assert count(running.store, "audit_event", "event = 'answer.sealed'") == 1
    with running.store.reading() as session:
        assert audit.verify(session).whole


def test_a_second_report_of_a_death_without_a_promise_is_none(store: Store) -> None:
    """Redis may report one again after its worker did; others without a promise may be open."""
    reported = death()
    for one in (death(), reported, death(), reported):
        bury(store, one)
    with store.unit_of_work("test") as work:
        assert dead_letters.add(work, reported) == reported.id
    assert count(store, "dead_letter", "status = 'open'") == 3


def encoder(running: Runtime) -> str:
    """The name of the encoder that the index was written with."""
    return running.context.encoder.name


def died(running: Runtime) -> UUID:
    """Let a promise die; gives the dead letter."""

    def never(_: object) -> None:
        raise Permanent("it can never work")

    (outbox_id,) = promise_asked(running.store, asked := message())
    handle(running.context, Probe(never).spec(), asked.payload(), outbox_id)
    (found,) = rows(running.store, "SELECT id FROM dead_letter WHERE outbox_id = :o", o=outbox_id)
    letter_id: UUID = found.id
    return letter_id


def test_a_replayed_message_that_dies_again_is_a_new_dead_letter(runtime: Start) -> None:
    running = runtime(Probe().spec())
    first = died(running)
    replay(running.store, first)
    (row,) = rows(running.store, "SELECT outbox_id, payload FROM dead_letter")

    def never(_: object) -> None:
        raise Permanent("it can never work")

    handle(running.context, Probe(never).spec(), row.payload, row.outbox_id)
    states = rows(running.store, "SELECT status, attempts FROM dead_letter ORDER BY died_at")
    assert [state.status for state in states] == ["replayed", "open"]
    assert [state.attempts for state in states] == [1, 1]


def test_of_two_replays_at_once_one_is_refused(runtime: Start) -> None:
    running = runtime(Probe().spec())
    letter_id, refused = died(running), list[str]()

    def try_replay() -> None:
        try:
            replay(running.store, letter_id)
        except NotReplayable as error:
            refused.append(str(error))

    together(try_replay, try_replay, try_replay)
    assert refused == [f"dead letter {letter_id} is replayed already"] * 2
    assert count(running.store, "audit_event", "event = 'message.replayed'") == 1


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        ({"question_id": "x"}, "it can never succeed as it is: the message names no schema"),
        ({"schema": "retrieve.v1"}, "it can never succeed as it is: retrieve.v1: request_id"),
    ],
)
def test_a_replay_that_can_never_succeed_is_refused_with_the_reason(
    runtime: Start, payload: dict[str, object], reason: str
) -> None:
    running = runtime(Probe().spec())
    (outbox_id,) = promise_asked(running.store)
    handle(running.context, Probe().spec(), payload, outbox_id)
    with pytest.raises(NotReplayable, match=reason):
        replay(running.store, letter(running.store).id)
    assert letter(running.store).status == "open"


def test_a_replay_of_what_was_never_promised_is_refused_with_the_reason(runtime: Start) -> None:
    running = runtime(Probe().spec())
    bury(running.store, death(outbox_id=uuid4()))
    with pytest.raises(NotReplayable, match="its promise in the outbox is gone"):
        replay(running.store, letter(running.store).id)


def test_a_replay_of_an_unknown_dead_letter_says_so(store: Store) -> None:
    with pytest.raises(LookupError, match="there is no dead letter"):
        replay(store, uuid4())


def test_a_future_message_is_replayable_after_the_upgrade(runtime: Start) -> None:
    running = runtime(Probe().spec())
    (outbox_id,) = promise_asked(running.store, asked := message())
    handle(running.context, Probe().spec(), {**asked.payload(), "schema": "retrieve.v2"}, outbox_id)
    assert letter(running.store).error_type == "FutureMessage"
    replay(running.store, letter(running.store).id)
    probe = Probe()
    handle(running.context, probe.spec(), asked.payload(), outbox_id)
    assert done(running.store, asked.question_id) == 1


def test_a_late_copy_that_dies_changes_nothing_for_what_is_done(runtime: Start) -> None:
    probe = Probe()
    running = runtime(probe.spec())
    (outbox_id,) = promise(running.store, asked := message())
    handle(running.context, probe.spec(), asked.payload(), outbox_id)
    bury(running.store, death(outbox_id=outbox_id))
    assert count(running.store, "dead_letter") == 0
    assert count(running.store, "outbox", "status = 'done'") == 1


def test_a_copy_that_dies_while_another_is_worked_on_changes_nothing(runtime: Start) -> None:
    """A rolling deploy: the new worker has it, the old one gets the copy."""
    probe = Probe()
    running = runtime(probe.spec())
    (outbox_id,) = promise(running.store, asked := message())
    probe.act = lambda _: bury(running.store, death(outbox_id=outbox_id))
    handle(running.context, probe.spec(), asked.payload(), outbox_id)
    assert count(running.store, "dead_letter") == 0
    assert done(running.store, asked.question_id) == 1


def test_one_death_reported_by_several_is_one_dead_letter(runtime: Start) -> None:
    running = runtime(Probe().spec())
    (outbox_id,) = promise(running.store)
    same = death(outbox_id=outbox_id)
    unread = death(error_type="UndecodableMessage")
    together(*[lambda: bury(running.store, same), lambda: bury(running.store, unread)] * 3)
    assert count(running.store, "dead_letter") == 2
    assert count(running.store, "audit_event", "event = 'message.dead'") == 2


def test_a_death_without_database_is_kept_in_redis_and_copied_later(
    runtime: Start, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker's database is away when it refuses two messages; the scheduler copies them."""
    away = connect("postgresql://nobody@/nowhere?host=/nonexistent")

    class Cut(WokenBroker):
        """A broker whose own way to PostgreSQL is cut."""

        def __init__(self, settings: Settings, store: Store) -> None:
            super().__init__(settings, Store(away))

    cut = runtime(Probe().spec(), broker=Cut)
    push(cut.broker.client, cut.broker.namespace, "retrieve", b'{"patient": "zebrafish"}')
    (outbox_id,) = promise_asked(cut.store, asked := message())
    cut.broker.actors.clear()
    cut.work()
    client, dead = cut.broker.client, f"{settings.redis_namespace}:retrieve.XQ"
    wait_until(lambda: client.zcard(dead) == 2, 60, "kept in Redis")
    cut.stop()
    away.dispose()
    healthy = runtime(Probe().spec())
    jobs.copy_dead(healthy.broker)
    assert count(healthy.store, "dead_letter") == 0  # a worker may be about to do so itself
    monkeypatch.setattr("workers.runtime.broker.UNCOPIED_MS", -1000)
    jobs.copy_dead(healthy.broker)
    jobs.copy_dead(healthy.broker)
    found = rows(healthy.store, "SELECT * FROM dead_letter ORDER BY error_type")
    assert [one.error_type for one in found] == ["Rejected", "UndecodableMessage"]
    assert found[0].outbox_id == outbox_id
    assert "zebrafish" not in str(found)
    assert client.zcard(dead) == client.hlen(f"{dead}.msgs") == 0
    replay(healthy.store, found[0].id)
    healthy.work().schedule()
    wait_settled(healthy.store)
    assert done(healthy.store, asked.question_id) == 1


def test_a_death_that_was_copied_twice_is_one_dead_letter(
    runtime: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker dies between the copy and forgetting it in Redis."""
    running = runtime(Probe().spec())
    body = b"{not json"
    redis_id = push(running.broker.client, running.broker.namespace, "retrieve", body)
    died = threading.Event()
    monkeypatch.setattr(WokenBroker, "_forget", lambda *_: died.set())
    running.work()
    assert died.wait(60)
    monkeypatch.undo()
    monkeypatch.setattr("workers.runtime.broker.UNCOPIED_MS", -1000)
    assert running.broker.copy_dead() == 1
    assert count(running.store, "dead_letter") == 1
    assert running.broker.client.zscore(f"{running.broker.namespace}:retrieve.XQ", redis_id) is None


_leaves = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.text("\x00\ud800a")
)
_payloads = st.dictionaries(
    st.text() | st.sampled_from(["schema", "question_id", "text"]),
    st.recursive(
        _leaves,
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text("\x00\ud800a"), inner, max_size=3)
        ),
        max_leaves=6,
    ),
    max_size=4,
)


@bounded(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(payload=_payloads)
@example(payload={"text": "a\x00b", "\x00": float("nan"), "n": 10**400, "d": {"a": {"b": {}}}})
@example(payload=json.loads('{"a":' * 50 + "1" + "}" * 50))
def test_a_dead_letter_can_be_written_whatever_the_message_was(
    shared_store: Store, payload: Mapping[str, Any]
) -> None:
    dying = death(payload=payload, error_type="UnknownMessage")
    bury(shared_store, dying)
    (found,) = rows(shared_store, "SELECT payload FROM dead_letter WHERE id = :id", id=dying.id)
    words = [word for word in payload.values() if isinstance(word, str) and len(word) > 3]
    assert all(word not in json.dumps(found.payload) for word in words)
    plain = {hashlib.sha256(word.encode(errors="surrogatepass")).hexdigest() for word in words}
    assert not any(one in json.dumps(found.payload) for one in plain)  # they have no key (OP-6.2)


def test_ids_and_hashes_of_a_message_are_kept_word_for_word(shared_store: Store) -> None:
    dying = death(payload=message().payload())
    bury(shared_store, dying)
    (found,) = rows(shared_store, "SELECT payload FROM dead_letter WHERE id = :id", id=dying.id)
    assert found.payload == dying.payload


def test_the_same_fault_has_the_same_fingerprint_whatever_it_names() -> None:
    causes = [f"question {uuid4()} has no such draft (line {n})" for n in range(3)]
    assert len({death(cause=cause).fingerprint for cause in causes}) == 1
    assert death(cause="another").fingerprint != death(cause=causes[0]).fingerprint
