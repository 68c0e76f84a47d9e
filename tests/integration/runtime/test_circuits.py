"""A stage that fails most of its messages pauses, is tried, and comes back; nothing is lost."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from knowledge.operation.operating import CircuitPolicy
from messages import RetrieveV1
from scheduler import jobs
from store.audit import audit
from store.core.unit_of_work import Store
from store.dead_letters.dead_letters import Death
from store.pipeline import circuits
from tests.integration.runtime.harness import (
    Probe,
    Runtime,
    count,
    done,
    message,
    promise,
    rows,
    status_of,
    together,
    wait_settled,
)
from tests.servers import wait_until
from workers.runtime.errors import Permanent, Transient
from workers.runtime.failures import bury
from workers.runtime.stage import handle

pytestmark = pytest.mark.requirement("DC-5")
Start = Callable[..., Runtime]
STAGE = "retrieve"
FAST = CircuitPolicy(
    window_seconds=600, least_deaths=3, share=0.5, probe_seconds=600, probe_cap_seconds=3600
)


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three deaths are enough, and no probe comes by itself within a test."""
    monkeypatch.setattr("store.pipeline.circuits.circuit_policy", lambda: FAST)


def never(_: object) -> None:
    """Work that cannot be done."""
    raise Permanent("the index is empty")


def state(store: Store) -> Any:
    """Where the stage stands."""
    with store.reading() as session:
        (found,) = [one for one in circuits.states(session) if one.stage == STAGE]
    return found


def deliver(running: Runtime, probe: Probe, asked: RetrieveV1) -> UUID:
    """Promise a message and give it to a worker; its outbox id."""
    (outbox_id,) = promise(running.store, asked)
    handle(running.context, probe.spec(), asked.payload(), outbox_id)
    return outbox_id


def again(running: Runtime, probe: Probe) -> int:
    """Give what is due to a worker, as the relay does; returns how many there were."""
    due = rows(
        running.store,
        "SELECT id, payload FROM outbox WHERE status = 'pending' "
        "AND not_before <= clock_timestamp()",
    )
    for row in due:
        handle(running.context, probe.spec(), row.payload, row.id)
    return len(due)


def due_now(store: Store) -> None:
    """Let the time of the next probe come."""
    with store.engine.begin() as connection:
        connection.execute(sa.text("UPDATE stage_circuit SET probe_at = clock_timestamp()"))


def opened(running: Runtime, deaths: int = 3) -> None:
    """Let so many messages die that the circuit opens."""
    for _ in range(deaths):
        deliver(running, Probe(never), message())


def events(store: Store) -> list[str]:
    """The audit events of circuits and stages, in order."""
    found = rows(
        store,
        "SELECT event FROM audit_event WHERE event LIKE 'circuit.%' OR event LIKE 'stage.%' "
        "ORDER BY seq",
    )
    return [row.event for row in found]


def test_a_stage_of_which_most_dies_pauses_and_says_so(
    runtime: Start, capsys: pytest.CaptureFixture[str]
) -> None:
    running = runtime(Probe().spec())
    opened(running, 2)
    assert state(running.store).state == "closed"
    opened(running, 1)
    found = state(running.store)
    assert (found.state, found.changed_by) == ("open", "circuit")
    assert found.reason == "3 of 3 messages died within 600 s"
    assert (found.deaths, found.done) == (3, 0)
    assert events(running.store) == ["circuit.opened"]
    assert "circuit_opened" in capsys.readouterr().out


def test_a_stage_of_which_half_is_done_goes_on(runtime: Start) -> None:
    running = runtime(Probe().spec())
    for _ in range(4):
        deliver(running, Probe(), message())
    opened(running, 4)
    assert state(running.store).state == "closed"
    opened(running, 1)
    assert state(running.store).state == "open"


def test_what_strangers_put_on_a_queue_pauses_nothing(runtime: Start) -> None:
    running = runtime(Probe().spec())
    for _ in range(5):
        bury(running.store, Death(STAGE, {}, "UndecodableMessage", "it is no JSON message"))
    assert count(running.store, "dead_letter") == 5
    assert state(running.store).state == "closed"


def test_strangers_deaths_beside_those_of_the_stage_do_not_count(runtime: Start) -> None:
    running = runtime(Probe().spec())
    for _ in range(4):
        deliver(running, Probe(), message())
    for _ in range(5):
        bury(running.store, Death(STAGE, {}, "UndecodableMessage", "it is no JSON message"))
    opened(running, 3)
    found = state(running.store)
    assert (found.state, found.deaths, found.done) == ("closed", 3, 4)


def test_deaths_of_long_ago_pause_nothing(runtime: Start) -> None:
    running = runtime(Probe().spec())
    opened(running, 2)
    with running.store.engine.begin() as connection:
        connection.execute(sa.text("UPDATE dead_letter SET died_at = died_at - interval '11 min'"))
    opened(running, 1)
    assert state(running.store).state == "closed"


def test_a_paused_stage_claims_nothing_and_its_messages_wait_without_a_loop(
    runtime: Start,
) -> None:
    """A real worker and a real relay: each message is looked at once and then lies still."""
    probe = Probe()
    running = runtime(probe.spec())
    with running.store.unit_of_work("operator") as work:
        assert circuits.pause(work, STAGE, "the source is being moved")
    running.work().schedule()
    promised = promise(running.store, *[message() for _ in range(20)])
    wait_until(lambda: state(running.store).held == 20, 60, "all held")
    before = rows(running.store, "SELECT id, xmin::text FROM outbox ORDER BY id")
    wait_until(lambda: running.broker.backlog()[STAGE] == 0, 60, "nothing in Redis")
    for _ in range(3):
        jobs.watch_circuits(running.store)
        jobs.find_lost(running.store, running.broker, 0.0)
        jobs.relay(running.store, running.broker)
    assert rows(running.store, "SELECT id, xmin::text FROM outbox ORDER BY id") == before
    assert probe.seen == []
    assert count(running.store, "stage_run") == 0
    with running.store.unit_of_work("operator") as work:
        assert circuits.resume(work, STAGE) == 20
    wait_settled(running.store)
    assert done(running.store) == len(promised) == 20
    assert len(probe.seen) == 20


def test_a_pause_takes_no_attempt_from_what_waits_for_the_next(runtime: Start) -> None:
    def busy(_: object) -> None:
        raise Transient("not now")

    running = runtime(Probe().spec())
    asked = message()
    outbox_id = deliver(running, Probe(busy), asked)
    with running.store.unit_of_work("operator") as work:
        circuits.pause(work, STAGE, "upgrade")
    for _ in range(10):
        handle(running.context, Probe().spec(), asked.payload(), outbox_id)
    (run,) = rows(running.store, "SELECT status, attempts FROM stage_run")
    assert (run.status, run.attempts) == ("waiting", 1)
    with running.store.unit_of_work("operator") as work:
        circuits.resume(work, STAGE)
    handle(running.context, Probe().spec(), asked.payload(), outbox_id)
    assert done(running.store, asked.question_id) == 1


def test_work_under_way_ends_as_it_will_when_its_stage_is_paused(runtime: Start) -> None:
    running = runtime(Probe().spec())

    def pause(_: object) -> None:
        with running.store.unit_of_work("operator") as work:
            circuits.pause(work, STAGE, "while it works")

    asked = message()
    deliver(running, Probe(pause), asked)
    assert done(running.store, asked.question_id) == 1


def test_a_probe_that_is_done_closes_the_circuit_and_frees_what_waits(runtime: Start) -> None:
    running, probe = runtime(Probe().spec()), Probe()
    opened(running)
    for _ in range(4):
        deliver(running, probe, message())
    assert (state(running.store).held, probe.seen) == (4, [])
    due_now(running.store)
    jobs.watch_circuits(running.store)  # lets one go
    assert again(running, probe) == 1
    assert state(running.store).state == "closed"
    assert again(running, probe) == 3
    assert done(running.store) == 4
    assert events(running.store) == ["circuit.opened", "circuit.probed", "circuit.closed"]
    with running.store.reading() as session:
        assert audit.verify(session).whole


def test_a_probe_that_dies_keeps_the_circuit_open_for_longer(runtime: Start) -> None:
    running = runtime(Probe().spec())
    opened(running)
    due_now(running.store)
    deliver(running, Probe(never), message())  # the next to come is the probe
    found = state(running.store)
    assert (found.state, found.failed_probes, found.probing) == ("open", 1, False)
    (waited,) = rows(
        running.store,
        "SELECT extract(epoch FROM probe_at - clock_timestamp()) AS s FROM stage_circuit",
    )
    assert 600 < waited.s <= 1200
    held = Probe()
    deliver(running, held, message())
    assert held.seen == []
    assert events(running.store) == ["circuit.opened", "circuit.probed", "circuit.probe_failed"]


def test_of_many_that_come_at_once_one_is_the_probe(runtime: Start) -> None:
    running = runtime(Probe().spec())
    opened(running)
    due_now(running.store)
    ids = promise(running.store, *[message() for _ in range(4)])
    admitted: list[circuits.Admission] = []

    def admit(outbox_id: UUID) -> None:
        with running.store.unit_of_work("worker") as work:
            admitted.append(circuits.admit(work, STAGE, outbox_id))

    together(*[lambda one=outbox_id: admit(one) for outbox_id in ids])
    assert sorted(admitted) == ["held", "held", "held", "probe"]
    assert state(running.store).held == 3


@pytest.mark.parametrize("status", ["done", "dead"])
def test_a_late_copy_of_what_has_ended_is_no_probe(runtime: Start, status: str) -> None:
    """It would settle the circuit by what happened before it opened."""
    running = runtime(Probe().spec())
    opened(running)
    due_now(running.store)
    ended, waiting = promise(running.store, message(), message())
    with running.store.engine.begin() as connection:
        connection.execute(
            sa.text("UPDATE outbox SET status = :status, done_at = now() WHERE id = :id"),
            {"status": status, "id": ended},
        )
    with running.store.unit_of_work("worker") as work:
        assert circuits.admit(work, STAGE, ended) is circuits.Admission.HELD
    assert status_of(running.store, ended) == status
    assert not state(running.store).probing
    with running.store.unit_of_work("worker") as work:
        assert circuits.admit(work, STAGE, waiting) is circuits.Admission.PROBE


def test_a_probe_that_is_asked_to_wait_for_long_gives_its_place_to_another(
    runtime: Start,
) -> None:
    running = runtime(Probe().spec())
    opened(running)
    due_now(running.store)
    (outbox_id,) = promise(running.store)
    with running.store.unit_of_work("worker") as work:
        assert circuits.admit(work, STAGE, outbox_id) is circuits.Admission.PROBE
    with running.store.engine.begin() as connection:
        connection.execute(
            sa.text(
                "UPDATE outbox SET status = 'pending', "
                "not_before = clock_timestamp() + interval '1 day' WHERE id = :id"
            ),
            {"id": outbox_id},
        )
    jobs.watch_circuits(running.store)
    assert not state(running.store).probing
    deliver(running, Probe(), message())
    assert state(running.store).state == "closed"


def test_deaths_before_an_operator_resumed_the_stage_no_longer_count(runtime: Start) -> None:
    running = runtime(Probe().spec())
    opened(running)
    with running.store.unit_of_work("operator") as work:
        assert circuits.resume(work, STAGE) == 0
        assert circuits.resume(work, STAGE) is None
    opened(running, 2)
    assert state(running.store).state == "closed"
    opened(running, 1)
    assert state(running.store).state == "open"
    assert events(running.store) == ["circuit.opened", "stage.resumed", "circuit.opened"]


def test_a_circuit_takes_no_stage_away_from_an_operator_who_paused_it(runtime: Start) -> None:
    running = runtime(Probe().spec())
    asked = [message() for _ in range(4)]
    ids = promise(running.store, *asked)
    with running.store.unit_of_work("operator") as work:
        assert circuits.pause(work, STAGE, "mine")
        assert not circuits.pause(work, STAGE, "again")
    for one, outbox_id in zip(asked, ids, strict=True):
        bury(running.store, Death(STAGE, one.payload(), "Rejected", "x", outbox_id=outbox_id))
    jobs.watch_circuits(running.store)
    found = state(running.store)
    assert (found.state, found.reason, found.changed_by) == ("paused", "mine", "operator")
    assert events(running.store) == ["stage.paused"]


def test_two_workers_that_see_the_last_death_open_it_once(runtime: Start) -> None:
    running = runtime(Probe().spec())
    opened(running, 2)

    def die() -> None:
        (outbox_id,) = promise(running.store, one := message())
        bury(running.store, Death(STAGE, one.payload(), "Rejected", "x", outbox_id=outbox_id))

    together(die, die, die)
    assert events(running.store) == ["circuit.opened"]


def test_what_a_worker_held_while_the_stage_was_being_resumed_is_found(runtime: Start) -> None:
    """The row says held and the stage works: without the scheduler's look it would lie for ever."""
    running = runtime(Probe().spec())
    (outbox_id,) = promise(running.store)
    with running.store.unit_of_work("operator") as work:
        circuits.pause(work, STAGE, "shortly")
        circuits.resume(work, STAGE)
    with running.store.engine.begin() as connection:
        connection.execute(
            sa.text("UPDATE outbox SET status = 'pending', not_before = :held"),
            {"held": circuits.HELD_UNTIL},
        )
    jobs.watch_circuits(running.store)
    assert state(running.store).held == 0
    assert status_of(running.store, outbox_id) == "pending"


def test_the_reason_of_a_pause_is_in_no_audit_event_and_no_log(
    runtime: Start, capsys: pytest.CaptureFixture[str]
) -> None:
    running = runtime(Probe().spec())
    with running.store.unit_of_work("operator") as work:
        circuits.pause(work, STAGE, "zebrafishoma")
    assert "zebrafishoma" not in str(rows(running.store, "SELECT * FROM audit_event"))
    assert "zebrafishoma" not in capsys.readouterr().out
