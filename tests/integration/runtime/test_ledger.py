"""Invariant 2: one piece of work is done once, by whoever holds its newest token."""

from collections.abc import Callable
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa
from sqlmodel import Session

from store.core.unit_of_work import Store
from store.dead_letters import dead_letters
from store.pipeline import ledger, outbox
from store.pipeline.ledger import Claim, LeaseLost, Standing
from tests.integration.runtime.harness import (
    Probe,
    Runtime,
    claim,
    count,
    done,
    expire,
    message,
    promise,
    promise_asked,
    rows,
    run_of,
    settled,
    together,
)
from workers.runtime.errors import Later, Permanent
from workers.runtime.stage import Context, handle

Start = Callable[..., Runtime]


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


def test_a_claim_waits_for_the_disk_from_its_second_delivery_on(runtime: Start) -> None:
    """ADR 0063: else work that kills its server would never be counted."""
    running = runtime(Probe().spec())
    (outbox_id,) = promise(running.store, asked := message())

    def waits(subject: object = None) -> bool:
        with Session(running.store.engine) as session:
            held = ledger.claim(
                session,
                stage="retrieve",
                subject=str(subject or asked.question_id),
                input_hash=asked.input_hash(),
                worker="w",
                outbox_id=outbox_id,
                lease_seconds=60,
                is_light=True,
            )
            assert isinstance(held, Claim)
            found = session.execute(
                sa.text(
                    "SELECT source <> 'session' FROM pg_settings WHERE name = 'synchronous_commit'"
                )
            ).scalar_one()
            session.commit()
        return bool(found)

    assert waits() is False
    expire(running.store, asked.question_id)
    assert waits() is True, "it was claimed before"
    with running.store.unit_of_work("test") as work:
        work.session.execute(sa.text("UPDATE outbox SET publish_count = 2"))
    assert waits(uuid4()) is True, "a claim before may be lost"


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
    first, second = promise_asked(running.store, asked, asked)
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
