"""Invariant 2: one piece of work is done once, by whoever holds its newest token."""

from collections.abc import Callable
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa
from sqlmodel import Session, select

from store import dead_letters, ledger, outbox
from store.ledger import Claim, LeaseLost, Standing
from store.models import StageRun
from store.unit_of_work import Store
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
    together,
)
from tests.servers import wait_until
from workers.runtime.errors import Later, Permanent
from workers.runtime.leases import LeaseKeeper
from workers.runtime.stage import Context, handle

Start = Callable[..., Runtime]


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


def test_of_two_claims_of_the_same_work_one_wins(shared_store: Store) -> None:
    subject, results = str(uuid4()), list[Claim | Standing]()
    together(*[lambda: results.append(claim(shared_store, subject))] * 6)
    assert sorted(map(type, results), key=str).count(Claim) == 1
    assert results.count(Standing.RUNNING) == 5


def test_other_input_is_other_work(shared_store: Store) -> None:
    subject = str(uuid4())
    assert isinstance(claim(shared_store, subject), Claim)
    with Session(shared_store.engine) as session:
        other = ledger.claim(
            session,
            stage="retrieve",
            subject=subject,
            input_hash="1" * 64,
            worker="w",
            outbox_id=None,
            lease_seconds=60,
        )
    assert isinstance(other, Claim)


def test_an_expired_lease_is_claimed_again_with_a_higher_token(shared_store: Store) -> None:
    subject = str(uuid4())
    first = claim(shared_store, subject)
    assert claim(shared_store, subject) is Standing.RUNNING
    expire(shared_store, subject)
    second = claim(shared_store, subject)
    assert isinstance(first, Claim)
    assert isinstance(second, Claim)
    assert second.token > first.token
    assert second.attempts == 2


@pytest.mark.parametrize("end", ["finish", "put back", "bury"])
def test_a_stale_token_ends_nothing(shared_store: Store, end: str) -> None:
    subject = str(uuid4())
    stale = claim(shared_store, subject)
    expire(shared_store, subject)
    fresh = claim(shared_store, subject)
    assert isinstance(stale, Claim)
    assert isinstance(fresh, Claim)
    ends: dict[str, Callable[[Session], object]] = {
        "finish": lambda session: ledger.finish(session, stale),
        "put back": lambda session: ledger.put_back(session, stale, "x", counts=True),
        "bury": lambda session: ledger.bury(session, stale, "x"),
    }
    with Session(shared_store.engine) as session, pytest.raises(LeaseLost):
        ends[end](session)
    assert run_of(shared_store, subject).token == fresh.token


def test_a_late_commit_is_refused_and_nothing_of_it_is_written(runtime: Start) -> None:
    """The first worker was frozen past its lease; the second did the work meanwhile."""
    slow, quick = Probe(), Probe()
    first = runtime(slow.spec(), name="first")
    second = runtime(quick.spec(), name="second")
    (outbox_id,) = promise(first.store, asked := message())

    def overtaken(_: object) -> None:
        expire(first.store, asked.question_id)
        handle(second.context, quick.spec(), asked.payload(), outbox_id)

    slow.act = overtaken
    handle(first.context, slow.spec(), asked.payload(), outbox_id)
    assert (slow.seen, quick.seen) == ([asked.question_id], [asked.question_id])
    assert done(first.store, asked.question_id) == 1
    assert run_of(first.store, asked.question_id).worker == "second"
    assert settled(first.store)
    assert count(first.store, "dead_letter") == 0


def test_an_attempt_is_counted_before_the_work_begins(runtime: Start) -> None:
    probe, attempts = Probe(), list[int]()
    running = runtime(probe.spec())
    asked = message()
    probe.act = lambda _: attempts.append(run_of(running.store, asked.question_id).attempts)
    handle(running.context, probe.spec(), asked.payload(), None)
    assert attempts == [1]


@pytest.mark.requirement("DC-5")
def test_a_message_that_kills_its_worker_each_time_becomes_a_dead_letter(runtime: Start) -> None:
    """DRAMATIQ 2.4 D1: the attempts are counted where a crash cannot take them back."""
    probe = Probe()
    running = runtime(probe.spec(max_attempts=3))
    (outbox_id,) = promise(running.store, asked := message())
    for _ in range(3):
        with Session(running.store.engine) as session:  # a claim, and then nothing more
            held = ledger.claim(
                session,
                stage="retrieve",
                subject=asked.subject,
                input_hash=asked.input_hash(),
                worker="killed",
                outbox_id=outbox_id,
                lease_seconds=60,
            )
            session.commit()
        assert isinstance(held, Claim)
        expire(running.store, asked.question_id)
    handle(running.context, probe.spec(max_attempts=3), asked.payload(), outbox_id)
    assert probe.seen == []
    (letter,) = rows(running.store, "SELECT * FROM dead_letter")
    assert (letter.outbox_id, letter.attempts, letter.status) == (outbox_id, 3, "open")
    assert "given up after 3 attempts" in letter.cause
    assert settled(running.store)


def test_long_work_keeps_its_lease(runtime: Start) -> None:
    probe = Probe()
    running = runtime(probe.spec())
    (outbox_id,) = promise(running.store, asked := message())

    def long(_: object) -> None:
        first = run_of(running.store, asked.question_id).lease_until
        assert first is not None

        def renewed() -> bool:
            until = run_of(running.store, asked.question_id).lease_until
            return until is not None and (until - first).total_seconds() > 1.0

        wait_until(renewed, 20, "lease renewed")
        handle(running.context, other.spec(), asked.payload(), outbox_id)

    other = Probe()
    probe.act = long
    handle(running.context, probe.spec(), asked.payload(), outbox_id)
    assert other.seen == []
    assert done(running.store, asked.question_id) == 1
    assert run_of(running.store, asked.question_id).attempts == 1


def test_leases_are_renewed_again_after_postgresql_has_dropped_every_connection(
    runtime: Start,
) -> None:
    probe = Probe()
    running = runtime(probe.spec())
    asked = message()

    def dropped(_: object) -> None:
        with running.store.engine.connect() as connection:
            connection.execute(
                sa.text(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            )
        before = run_of(running.store, asked.question_id).lease_until
        wait_until(
            lambda: run_of(running.store, asked.question_id).lease_until != before, 20, "renewed"
        )

    probe.act = dropped
    handle(running.context, probe.spec(), asked.payload(), None)
    assert done(running.store, asked.question_id) == 1


def test_one_slow_commit_does_not_let_the_other_leases_run_out(shared_store: Store) -> None:
    """The row of the slow commit is locked: renewing waits for it neither there nor elsewhere."""
    slow, other = claim(shared_store, str(uuid4())), claim(shared_store, subject := str(uuid4()))
    assert isinstance(slow, Claim)
    assert isinstance(other, Claim)
    with Session(shared_store.engine) as committing:
        ledger.finish(committing, slow)
        with Session(shared_store.engine) as session:
            session.execute(sa.text("SET LOCAL lock_timeout = '3s'"))
            assert ledger.renew(session, [slow, other], 3600) == {slow.token, other.token}
            session.commit()
    with Session(shared_store.engine) as session:
        left = session.execute(
            sa.text(
                "SELECT extract(epoch FROM lease_until - clock_timestamp()) FROM stage_run "
                "WHERE subject = :subject"
            ),
            {"subject": subject},
        ).scalar_one()
    assert left > 3000


def test_renewing_extends_no_lease_that_is_gone(shared_store: Store) -> None:
    subject = str(uuid4())
    stale = claim(shared_store, subject)
    expire(shared_store, subject)
    fresh = claim(shared_store, subject, lease=60)
    assert isinstance(stale, Claim)
    assert isinstance(fresh, Claim)
    with Session(shared_store.engine) as session:
        assert ledger.renew(session, [stale], 3600) == set()
        session.commit()
    until = run_of(shared_store, subject).lease_until
    with shared_store.reading() as session:
        assert until is not None
        assert (until - session.execute(sa.select(sa.func.now())).scalar_one()).seconds <= 60


def test_what_hangs_beyond_its_time_limit_is_left_to_others(shared_store: Store) -> None:
    """No exception reaches a thread inside a C call; its lease must not live as long as it does."""
    keeper = LeaseKeeper(shared_store, lease_seconds=0.3)
    keeper.start()
    try:
        held = claim(shared_store, subject := str(uuid4()), lease=0.3)
        assert isinstance(held, Claim)
        with keeper.holding(held, limit_seconds=0.0):
            wait_until(lambda: isinstance(claim(shared_store, subject), Claim), 20, "claimed")
    finally:
        keeper.stop()


def test_a_second_delivery_does_not_shorten_the_wait_for_the_next_attempt(
    runtime: Start,
) -> None:
    def later(_: object) -> None:
        raise Later("the other side asked for it", seconds=3600)

    probe = Probe(later)
    running = runtime(probe.spec())
    (outbox_id,) = promise(running.store, asked := message())
    for _ in range(3):
        handle(running.context, probe.spec(), asked.payload(), outbox_id)
    assert probe.seen == [asked.question_id]
    assert run_of(running.store, asked.question_id).attempts == 0


def test_a_second_promise_of_work_that_is_done_is_kept(runtime: Start) -> None:
    probe = Probe()
    running = runtime(probe.spec())
    asked = message()
    for outbox_id in promise(running.store, asked, asked):
        handle(running.context, probe.spec(), asked.payload(), outbox_id)
    assert probe.seen == [asked.question_id]
    assert count(running.store, "outbox", "status = 'done'") == 2


def test_a_second_promise_of_work_that_died_dies_with_it_and_one_replay_revives_the_work(
    runtime: Start,
) -> None:
    def never(_: object) -> None:
        raise Permanent("it can never work")

    probe = Probe(never)
    running = runtime(probe.spec())
    asked = message()
    first, second = promise(running.store, asked, asked)
    for outbox_id in (first, second):
        handle(running.context, probe.spec(), asked.payload(), outbox_id)
    assert settled(running.store)
    (letter,) = rows(running.store, "SELECT id, outbox_id FROM dead_letter")
    assert letter.outbox_id == first
    with running.store.unit_of_work("operator") as work:
        dead_letters.replay(work, letter.id)
    probe.act = lambda _: None
    handle(running.context, probe.spec(), asked.payload(), first)
    assert done(running.store, asked.question_id) == 1
    assert settled(running.store)


def test_a_promise_whose_work_was_revived_does_not_die_with_what_it_was(
    runtime: Start,
) -> None:
    probe = Probe()
    running = runtime(probe.spec())
    (outbox_id,) = promise(running.store, asked := message())
    with Session(running.store.engine) as session:
        outbox.dead_with_its_work(
            session,
            outbox_id,
            stage="retrieve",
            subject=asked.subject,
            input_hash=asked.input_hash(),
        )
        session.commit()
    handle(running.context, probe.spec(), asked.payload(), outbox_id)
    assert done(running.store, asked.question_id) == 1


def test_the_first_failure_is_remembered_on_the_dead_letter(runtime: Start) -> None:
    def fail(_: object) -> None:
        raise RuntimeError("again")

    probe = Probe(fail)
    spec = probe.spec(max_attempts=2, backoff_seconds=0.0)
    running = runtime(spec)
    (outbox_id,) = promise(running.store, asked := message())
    handle(running.context, spec, asked.payload(), outbox_id)
    first = run_of(running.store, asked.question_id).first_failed_at
    handle(running.context, spec, asked.payload(), outbox_id)
    (letter,) = rows(running.store, "SELECT first_failed_at, died_at FROM dead_letter")
    assert letter.first_failed_at == first
    assert letter.first_failed_at < letter.died_at


def test_an_end_that_cannot_be_written_down_still_ends_the_promise(runtime: Start) -> None:
    """`on_dead` itself fails: without this the reconciler would send the message for ever."""

    def never(_: object) -> None:
        raise Permanent("it can never work")

    def broken(*_: object) -> None:
        raise KeyError("zebra" + "fish")

    probe = Probe(never)
    spec = probe.spec(on_dead=broken)
    running = runtime(spec)
    (outbox_id,) = promise(running.store, asked := message())
    handle(running.context, spec, asked.payload(), outbox_id)
    assert settled(running.store)
    (letter,) = rows(running.store, "SELECT * FROM dead_letter")
    assert (letter.outbox_id, letter.error_type) == (outbox_id, "KeyError")
    assert "zebrafish" not in str(letter)


def test_an_empty_context_needs_no_outbox_row(runtime: Start) -> None:
    probe = Probe()
    running = runtime(probe.spec())
    context = Context(running.store, running.settings, "alone", running.leases)
    handle(context, probe.spec(), (asked := message()).payload(), None)
    assert done(running.store, asked.question_id) == 1


def test_subjects_are_never_mixed_up(runtime: Start) -> None:
    probe = Probe()
    running = runtime(probe.spec())
    asked = [message() for _ in range(5)]
    ids: list[UUID] = promise(running.store, *asked)
    for one, outbox_id in zip(asked, ids, strict=True):
        handle(running.context, probe.spec(), one.payload(), outbox_id)
    assert sorted(probe.seen) == sorted(one.question_id for one in asked)
    assert done(running.store) == 5
