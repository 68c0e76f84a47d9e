"""Why a stage did not finish decides what follows: wait, back off, or die at once."""

from collections.abc import Callable

import pytest
import sqlalchemy as sa

from messages import RetrieveV1
from tests.integration.runtime.harness import (
    Probe,
    Runtime,
    count,
    done,
    message,
    promise,
    rows,
    status_of,
    wait_settled,
)
from tests.servers import wait_until
from workers.runtime.errors import Later, Permanent, Transient
from workers.runtime.stage import handle

Start = Callable[..., Runtime]


def test_later_costs_no_attempt_and_waits_as_long_as_it_was_asked_to(runtime: Start) -> None:
    def later(_: RetrieveV1) -> None:
        raise Later("the quota is used up", seconds=120)

    probe = Probe(later)
    running = runtime(probe.spec(max_attempts=1))
    (outbox_id,) = promise(running.store, asked := message())
    handle(running.context, probe.spec(max_attempts=1), asked.payload(), outbox_id)
    (row,) = rows(
        running.store,
        "SELECT run.status, run.attempts, outbox.status AS promise, "
        "extract(epoch FROM not_before - clock_timestamp()) AS wait "
        "FROM stage_run AS run JOIN outbox ON outbox.id = run.outbox_id",
    )
    assert (row.status, row.attempts, row.promise) == ("waiting", 0, "pending")
    assert 60 < row.wait <= 120
    assert count(running.store, "dead_letter") == 0


def test_transient_backs_off_and_dies_after_its_attempts(runtime: Start) -> None:
    def fail(_: RetrieveV1) -> None:
        raise Transient("the other side is away")

    probe = Probe(fail)
    running = runtime(probe.spec(max_attempts=3)).work().schedule()
    (outbox_id,) = promise(running.store, asked := message())
    wait_settled(running.store)
    assert probe.seen == [asked.question_id] * 3
    (letter,) = rows(running.store, "SELECT * FROM dead_letter")
    assert (letter.error_type, letter.attempts) == ("Transient", 3)
    assert letter.cause == "the other side is away"
    assert "harness" in letter.traceback
    assert status_of(running.store, outbox_id) == "dead"


@pytest.mark.parametrize("attempts", [1, 2, 3, 5, 9])
def test_the_wait_doubles_up_to_its_cap(attempts: int) -> None:
    spec = Probe().spec(backoff_seconds=1.0, backoff_cap_seconds=10.0)
    ceiling = min(10.0, 2.0 ** (attempts - 1))
    waits = [spec.backoff(attempts) for _ in range(200)]
    assert ceiling / 2 <= min(waits) < max(waits) <= ceiling


def test_transient_that_passes_is_done_on_the_next_attempt(runtime: Start) -> None:
    probe = Probe()

    def fail_once(_: RetrieveV1) -> None:
        if len(probe.seen) == 1:
            raise Transient("once")

    probe.act = fail_once
    running = runtime(probe.spec()).work().schedule()
    promise(running.store, asked := message())
    wait_settled(running.store)
    assert done(running.store, asked.question_id) == 1
    assert count(running.store, "dead_letter") == 0


def test_permanent_dies_at_once(runtime: Start) -> None:
    def never(_: RetrieveV1) -> None:
        raise Permanent("there is no such question")

    probe = Probe(never)
    running = runtime(probe.spec())
    (outbox_id,) = promise(running.store, asked := message())
    handle(running.context, probe.spec(), asked.payload(), outbox_id)
    assert probe.seen == [asked.question_id]
    (letter,) = rows(running.store, "SELECT * FROM dead_letter")
    assert (letter.error_type, letter.attempts) == ("Permanent", 1)
    assert letter.cause == "there is no such question"


def test_an_error_that_nobody_foresaw_is_tried_again_and_its_text_is_kept_nowhere(
    runtime: Start,
) -> None:
    def fail(_: RetrieveV1) -> None:
        raise ValueError("zebra" + "fish")

    probe = Probe(fail)
    running = runtime(probe.spec(max_attempts=2)).work().schedule()
    promise(running.store)
    wait_settled(running.store)
    (letter,) = rows(running.store, "SELECT * FROM dead_letter")
    assert (letter.error_type, letter.attempts) == ("ValueError", 2)
    assert "zebrafish" not in str(letter)


def test_a_commit_that_fails_is_tried_again_as_work_that_fails(runtime: Start) -> None:
    probe = Probe()
    running = runtime(probe.spec()).work().schedule()
    with running.store.engine.begin() as connection:
        connection.execute(sa.text("ALTER TABLE audit_head RENAME TO away"))
        outbox_id = connection.execute(
            sa.text(
                "INSERT INTO outbox VALUES (gen_random_uuid(), 'retrieve', :payload, "
                "gen_random_uuid(), 'pending', now(), 0, NULL, now(), NULL) RETURNING id"
            ).bindparams(sa.bindparam("payload", type_=sa.JSON)),
            {"payload": message().payload()},
        ).scalar_one()
    wait_until(lambda: count(running.store, "stage_run", "status = 'waiting'") == 1, 60, "failed")
    with running.store.engine.begin() as connection:
        connection.execute(sa.text("ALTER TABLE away RENAME TO audit_head"))
    wait_settled(running.store)
    assert status_of(running.store, outbox_id) == "done"
    assert done(running.store) == 1
