"""Leases live as long as the work does, and no longer."""

from collections.abc import Callable
from uuid import uuid4

import sqlalchemy as sa
from sqlmodel import Session

from store.core.unit_of_work import Store
from store.pipeline import ledger
from store.pipeline.ledger import Claim
from tests.integration.runtime.harness import (
    Probe,
    Runtime,
    claim,
    done,
    expire,
    message,
    promise,
    run_of,
)
from tests.servers import wait_until
from workers.runtime.leases import LeaseKeeper
from workers.runtime.stage import handle

Start = Callable[..., Runtime]


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

        wait_until(renewed, 60, "lease renewed")
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
            lambda: run_of(running.store, asked.question_id).lease_until != before, 60, "renewed"
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
            wait_until(lambda: isinstance(claim(shared_store, subject), Claim), 60, "claimed")
    finally:
        keeper.stop()
