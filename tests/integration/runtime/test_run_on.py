"""A thread goes on with the next stage of a question; whatever interrupts it, nothing is lost."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
import sqlalchemy as sa
from sqlmodel import Session

from messages import QUESTION_STAGES, AuditV1, GenerateV1, Message, RetrieveV1, Stage, VerifyV1
from store.core.settings import Settings
from store.core.unit_of_work import Promise, UnitOfWork
from store.pipeline import circuits, ledger
from tests.integration.runtime.harness import HASH, Runtime, count, expire, message, rows
from workers.runtime.errors import Permanent, Transient
from workers.runtime.relay import reconcile, sweep
from workers.runtime.stage import Context, StageSpec, handle

pytestmark = pytest.mark.requirement("DC-2")


_PROMISE = sa.text(
    "SELECT id, payload FROM outbox WHERE stage = :stage ORDER BY created_at DESC LIMIT 1"
)
_DUE = sa.text("UPDATE outbox SET not_before = clock_timestamp() WHERE status = 'pending'")


class Killed(BaseException):
    """kill -9: nothing that catches an Exception sees it."""


class Chain:
    """The four stages of a question; a test says what happens in the work of each."""

    def __init__(self) -> None:
        self.acts: dict[Stage, Callable[[Any], object]] = {}
        self.fails: set[Stage] = set()
        self.worked: list[Stage] = []

    @property
    def specs(self) -> list[StageSpec[Any, Any]]:
        """One spec a stage, with a time limit that names it."""
        return [
            StageSpec(
                stage=stage,
                work=self._work,
                commit=self._commit,
                backoff_seconds=0.001,
                backoff_cap_seconds=0.001,
                time_limit_seconds=100.0 + n,
            )
            for n, stage in enumerate(QUESTION_STAGES)
        ]

    def _work(self, _: Context, message: Message) -> object:
        self.worked.append(message.stage)
        return self.acts.get(message.stage, lambda _: None)(message)

    def _commit(self, unit: UnitOfWork, message: Any, _: object) -> None:
        unit.record(f"probe.{message.stage.value}", message.question_id)
        given = {"request_id": message.request_id, "question_id": message.question_id}
        match message:
            case RetrieveV1():
                unit.emit(GenerateV1(**given, retrieval_hash=HASH))
            case GenerateV1():
                unit.emit(VerifyV1(**given, draft_hash=HASH))
            case VerifyV1():
                unit.emit(AuditV1(**given, answer_hash=HASH))
        if message.stage in self.fails:
            raise Transient("the database minds")


class World:
    """A worker of these stages without a broker: what it publishes is kept in a list."""

    def __init__(self, settings: Settings, stages: Sequence[Stage] = QUESTION_STAGES) -> None:
        self.chain, self.sent = Chain(), list[Promise]()
        self._specs = {spec.stage: spec for spec in self.chain.specs}
        served = [self._specs[stage] for stage in stages]
        self.running = Runtime(settings, served, 1, publisher=self.sent.extend)
        self.store, self.context = self.running.store, self.running.context
        self.running.leases.stop()  # leases end when a test lets them end
        self.limits: list[float] = []
        self.context.run_on.limit = self.limits.append

    def ask(self) -> RetrieveV1:
        """Promise the first stage of a question, and do what is delivered for it."""
        asked = message()
        with self.store.unit_of_work("test") as work:
            work.emit(asked)
        self.deliver(self.sent.pop())
        return asked

    def deliver(self, promise: Promise) -> None:
        """Hand over a message; a killed worker says nothing."""
        try:
            handle(self.context, self._specs[Stage(promise.stage)], promise.payload, promise.id)
        except Killed:
            self.context.run_on.limit = self.limits.append

    def relay(self) -> None:
        """What relay and reconciler do for what was published and reached nobody."""
        reconcile(self.store, {}, lost_after=0.0)
        sweep(self.store, self.sent.extend)
        while self.sent:
            self.deliver(self.sent.pop())

    def hurry(self) -> None:
        """Let what waits for its next attempt be due."""
        with Session(self.store.engine) as session:
            session.execute(_DUE)
            session.commit()

    def check(self, asked: RetrieveV1, *, stages: Sequence[Stage] = QUESTION_STAGES) -> None:
        """Each of these stages was committed once, in order, and no promise is open."""
        events = rows(
            self.store,
            "SELECT event FROM audit_event WHERE subject = :s AND event LIKE 'probe.%' "
            "ORDER BY seq",
            s=str(asked.question_id),
        )
        assert [one.event for one in events] == [f"probe.{stage.value}" for stage in stages]
        assert count(self.store, "outbox", "status IN ('pending', 'published')") == 0
        assert count(self.store, "stage_run", "status = 'running'") == 0


@pytest.fixture
def start(settings: Settings) -> Iterator[Callable[..., World]]:
    """Starts workers; stops them at the end."""
    started: list[World] = []

    def begin(*stages: Stage, **changed: Any) -> World:
        world = World(settings.model_copy(update=changed), stages or QUESTION_STAGES)
        started.append(world)
        return world

    yield begin
    for world in started:
        world.running.stop()


@pytest.fixture
def world(start: Callable[..., World]) -> World:
    """A worker that runs on."""
    return start()


def test_one_thread_does_all_stages_and_publishes_none_of_them(world: World) -> None:
    asked = world.ask()
    assert world.chain.worked == list(QUESTION_STAGES)
    assert world.sent == []
    assert world.limits == [101.0, 102.0, 103.0], "each stage has the whole of its own time"
    world.check(asked)
    found = rows(world.store, "SELECT attempts, outbox_id FROM stage_run ORDER BY id")
    promised = rows(world.store, "SELECT id, publish_count FROM outbox ORDER BY created_at")
    assert [one.attempts for one in found] == [1, 1, 1, 1]
    assert [one.outbox_id for one in found] == [one.id for one in promised]
    assert [one.publish_count for one in promised] == [1, 1, 1, 1]


_WAITS = sa.text("SELECT source <> 'session' FROM pg_settings WHERE name = 'synchronous_commit'")
"""Whether a commit waits as the server's settings say: those of these tests say that none does."""


@contextmanager
def waits() -> Iterator[list[bool]]:
    """Whether each commit meanwhile waits for the disk, in order."""
    found: list[bool] = []

    def ask(session: Session) -> None:
        found.append(session.execute(_WAITS).scalar_one())

    sa.event.listen(Session, "before_commit", ask)
    try:
        yield found
    finally:
        sa.event.remove(Session, "before_commit", ask)


def test_only_acceptance_and_seal_wait_for_the_disk(world: World) -> None:
    """ADR 0063: nobody is told anything between them."""
    with waits() as found:
        asked = world.ask()
    # A claim in autocommit has no transaction any more that could be asked.
    accepted, _claim, *stages = found
    assert (accepted, stages) == (True, [False, False, False, True])
    world.check(asked)


def test_a_commit_that_publishes_anything_waits_for_the_disk(world: World) -> None:
    def promise(unit: UnitOfWork, given: Any, _: object) -> None:
        commit(unit, given, _)
        unit.emit(message())

    spec = world.context.run_on.specs[Stage.GENERATE]
    commit = spec.commit
    object.__setattr__(spec, "commit", promise)
    with waits() as found:
        world.ask()
    assert found[2:6] == [False, True, False, True]
    assert [one.stage for one in world.sent] == ["retrieve"]


def test_what_is_delivered_later_for_work_that_was_run_on_is_a_no_op(world: World) -> None:
    asked = world.ask()
    late = rows(world.store, "SELECT id, stage, payload FROM outbox")
    for one in late:
        world.deliver(Promise(one.id, one.stage, one.payload))
    assert world.chain.worked == list(QUESTION_STAGES)
    world.check(asked)


def test_what_a_process_does_not_go_on_with_is_published(start: Callable[..., World]) -> None:
    stopping = start()
    stopping.chain.acts[Stage.RETRIEVE] = lambda _: stopping.context.stop.set()
    for why, world in {
        "the setting": start(run_on=False),
        "another worker's stage": start(Stage.RETRIEVE, Stage.VERIFY),
        "a stop": stopping,
    }.items():
        asked = world.ask()
        assert world.chain.worked == [Stage.RETRIEVE], why
        assert [one.stage for one in world.sent] == ["generate"], why
        world.relay()
        assert world.chain.worked == list(QUESTION_STAGES), why
        world.check(asked)


@pytest.mark.parametrize("stage", QUESTION_STAGES[1:], ids=lambda stage: stage.value)
def test_killed_between_a_commit_and_the_next_stage_the_relay_takes_over(
    world: World, stage: Stage
) -> None:
    def killed(seconds: float) -> None:
        if seconds == 100.0 + QUESTION_STAGES.index(stage):
            raise Killed

    world.context.run_on.limit = killed
    asked = world.ask()
    assert stage not in world.chain.worked
    assert count(world.store, "outbox", "status = 'published'") == 1
    busy = {stage.value: 9}
    assert reconcile(world.store, busy, lost_after=0.0) == 0, "its lease runs"
    expire(world.store, asked.question_id)
    assert reconcile(world.store, busy, lost_after=0.0) == 1, "it waits in no queue, long or short"
    world.relay()
    assert world.chain.worked == list(QUESTION_STAGES)
    world.check(asked)


def test_a_commit_that_fails_claims_nothing(world: World) -> None:
    def fail(_: object) -> None:
        world.chain.fails.add(Stage.GENERATE)

    world.chain.acts[Stage.GENERATE] = fail
    asked = world.ask()
    assert rows(world.store, "SELECT stage, status FROM stage_run ORDER BY id") == [
        ("retrieve", "done"),
        ("generate", "waiting"),
    ]
    world.chain.acts.clear()
    world.chain.fails.clear()
    world.hurry()
    world.relay()
    world.check(asked)


def test_a_paused_stage_holds_a_chain_until_it_is_resumed(world: World) -> None:
    def pause(_: object) -> None:
        with world.store.unit_of_work("operator") as work:
            circuits.pause(work, Stage.VERIFY, "looking into it")

    world.chain.acts[Stage.RETRIEVE] = pause
    asked = world.ask()
    assert [one.stage for one in world.sent] == ["verify"], "published as ever"
    world.deliver(world.sent.pop())
    world.relay()
    assert world.chain.worked == [Stage.RETRIEVE, Stage.GENERATE], "held"
    with world.store.unit_of_work("operator") as work:
        circuits.resume(work, Stage.VERIFY)
    world.relay()
    world.check(asked)


def test_a_lease_lost_in_mid_chain_ends_it_there_and_nothing_is_done_twice(world: World) -> None:
    def lose(message: GenerateV1) -> None:
        world.chain.acts.clear()
        expire(world.store, message.question_id)
        with world.store.reading() as session:
            held = session.execute(_PROMISE, {"stage": "generate"}).one()
        world.deliver(Promise(held.id, "generate", held.payload))  # another worker's

    world.chain.acts[Stage.GENERATE] = lose
    asked = world.ask()
    assert world.chain.worked == [
        *(Stage.RETRIEVE, Stage.GENERATE),
        *QUESTION_STAGES[1:],  # by the one that took over; the first commits no more, nor goes on
    ]
    world.check(asked)


def test_a_retry_in_mid_chain_waits_for_its_time_and_goes_on_from_there(world: World) -> None:
    def fail(_: object) -> None:
        world.chain.acts.clear()
        raise Transient("it may pass")

    world.chain.acts[Stage.GENERATE] = fail
    asked = world.ask()
    assert world.chain.worked == [Stage.RETRIEVE, Stage.GENERATE]
    assert rows(world.store, "SELECT stage, status FROM outbox WHERE status = 'pending'") == [
        ("generate", "pending")
    ]
    world.hurry()
    world.relay()
    assert world.chain.worked == [Stage.RETRIEVE, Stage.GENERATE, *QUESTION_STAGES[1:]]
    world.check(asked)


def test_a_death_in_mid_chain_is_a_dead_letter_of_that_stage_and_ends_it(world: World) -> None:
    def die(_: object) -> None:
        raise Permanent("it cannot be done")

    world.chain.acts[Stage.VERIFY] = die
    asked = world.ask()
    assert world.chain.worked == [Stage.RETRIEVE, Stage.GENERATE, Stage.VERIFY]
    assert rows(world.store, "SELECT stage, cause FROM dead_letter") == [
        ("verify", "it cannot be done")
    ]
    world.check(asked, stages=QUESTION_STAGES[:2])


def test_a_question_is_not_erased_between_two_stages_nor_worked_on_once_it_was(
    world: World,
) -> None:
    """An erasure withdraws what was promised; work that is claimed it leaves, and comes again."""

    def erase(_: object) -> None:
        with world.store.unit_of_work("erasure") as work:
            (held,) = work.session.execute(_PROMISE, {"stage": "generate"}).all()
            given = GenerateV1.model_validate(held.payload)
            key = {"subject": given.subject, "input_hash": given.input_hash()}
            erased.append(ledger.withdraw(work.session, stage="generate", worker="erasure", **key))

    erased: list[bool] = []
    world.context.run_on.limit = erase
    world.check(world.ask())
    assert erased[0] is False

    world.context.run_on.specs.clear()
    asked = world.ask()
    erase(None)
    assert erased[-1] is True
    world.relay()
    world.check(asked, stages=QUESTION_STAGES[:1])
