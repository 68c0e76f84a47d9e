"""A clock that is set back, or far ahead, holds up nothing."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from apscheduler.schedulers.background import BackgroundScheduler
from sqlmodel import Session

from knowledge.operation.operating import circuit_policy
from scheduler import jobs
from scheduler.intervals import Every, catch_up
from store.core.unit_of_work import Store
from store.dead_letters import dead_letters
from store.dead_letters.listing import Chosen
from store.dead_letters.replay import Operator, replay_matching
from store.pipeline import outbox
from store.pipeline.circuits import HELD_UNTIL
from tests.integration.runtime.harness import claim, promise_asked, rows
from tests.servers import wait_until

START = datetime(2026, 11, 26, 12, 0, tzinfo=UTC)
HOURS = timedelta(hours=6)


@pytest.fixture
def store(engine: sa.Engine) -> Store:
    return Store(engine)


def change(store: Store, statement: str, **values: Any) -> None:
    with Session(store.engine) as session:
        session.execute(sa.text(statement), values)
        session.commit()


def ahead(store: Store, column: str, table: str) -> float:
    """By how many seconds a moment is ahead of now."""
    (row,) = rows(
        store, f"SELECT extract(epoch FROM {column} - clock_timestamp()) AS s FROM {table}"
    )
    return float(row.s)


def died(store: Store) -> UUID:
    (outbox_id,) = promise_asked(store)
    death = dead_letters.Death("retrieve", {}, "Transient", "cannot", outbox_id=outbox_id)
    with store.unit_of_work("test") as work:
        outbox.dead(work.session, outbox_id)
        return dead_letters.add(work, death)


def replay_the_oldest(store: Store) -> None:
    done = replay_matching(store, Operator("test"), Chosen(), dry_run=False, limit=1)
    assert done.resolved == 1


# The scheduler's own clock ------------------------------------------------------------------------


def fired_between(first: datetime, until: datetime, seconds: float) -> list[datetime]:
    """The times that APScheduler would list for one run, as it does."""
    trigger, times = Every(seconds), []
    moment: datetime | None = first
    while moment is not None and moment <= until:
        times.append(moment)
        moment = trigger.get_next_fire_time(moment, until)
    return times


def test_a_job_fires_every_interval() -> None:
    trigger = Every(2)
    assert trigger.get_next_fire_time(None, START) == START + timedelta(seconds=2)
    late = START + timedelta(seconds=0.5)
    assert trigger.get_next_fire_time(START, late) == START + timedelta(seconds=2)


def test_a_clock_that_is_far_ahead_makes_no_list_of_what_was_missed() -> None:
    assert len(fired_between(START, START + timedelta(days=365), 0.5)) == 1


def test_a_clock_that_is_set_back_stops_no_job() -> None:
    ran: list[int] = []
    scheduler = BackgroundScheduler(timezone="UTC")
    scheduler.add_job(lambda: ran.append(1), Every(0.05), id="often")
    scheduler.add_job(lambda: ran.append(2), Every(3600), id="hourly")
    scheduler.start()
    try:
        assert catch_up(scheduler, datetime.now(UTC)) == []
        for job in scheduler.get_jobs():
            job.modify(next_run_time=datetime.now(UTC) + HOURS)  # as before it was set back
        assert set(catch_up(scheduler, datetime.now(UTC))) == {"often", "hourly"}
        ran.clear()
        wait_until(lambda: set(ran) == {1, 2}, what="both jobs ran again")
    finally:
        scheduler.shutdown(wait=True)


# PostgreSQL's clock -------------------------------------------------------------------------------


def test_a_message_that_was_to_wait_a_little_waits_a_little(store: Store) -> None:
    promise_asked(store)
    change(
        store,
        "UPDATE outbox SET status = 'pending', published_at = now() + :back, "
        "not_before = now() + :back + interval '30 s'",
        back=HOURS,
    )
    jobs.bring_back(store, 15)
    assert 20 < ahead(store, "not_before", "outbox") <= 30


def test_what_was_replayed_is_due_and_holds_up_no_later_replay(store: Store) -> None:
    for _ in range(2):
        died(store)
    replay_the_oldest(store)
    change(
        store,
        "UPDATE dead_letter_resolution SET at = at + :back, due_at = due_at + :back",
        back=HOURS,
    )
    change(
        store, "UPDATE outbox SET not_before = now() + :back WHERE status = 'pending'", back=HOURS
    )
    jobs.bring_back(store, 15)
    replay_the_oldest(store)
    assert ahead(store, "max(not_before)", "outbox WHERE status = 'pending'") < 5


def test_what_redis_lost_is_found_as_soon_as_ever(store: Store) -> None:
    promise_asked(store)
    change(store, "UPDATE outbox SET published_at = now() + :back", back=HOURS)
    jobs.bring_back(store, 15)
    assert ahead(store, "published_at", "outbox") <= 0


def test_what_is_held_for_a_paused_stage_stays_held(store: Store) -> None:
    promise_asked(store)
    change(
        store,
        "UPDATE outbox SET status = 'pending', published_at = now() + :back, not_before = :held",
        back=HOURS,
        held=HELD_UNTIL,
    )
    jobs.bring_back(store, 15)
    assert rows(store, "SELECT not_before FROM outbox")[0].not_before == HELD_UNTIL


def test_the_lease_of_a_worker_that_is_gone_ends_one_lease_later(store: Store) -> None:
    claim(store, "subject")
    change(
        store,
        "UPDATE stage_run SET started_at = now() + :back, lease_until = now() + :back",
        back=HOURS,
    )
    jobs.bring_back(store, 15)
    assert 0 < ahead(store, "lease_until", "stage_run") <= 15


@pytest.mark.parametrize("changed", ["now() + :back", "now() - interval '1 day'"])
def test_a_stage_that_paused_by_itself_is_tried_as_soon_as_ever(store: Store, changed: str) -> None:
    change(
        store,
        "INSERT INTO stage_circuit (stage, state, reason, changed_by, changed_at, probe_at) "
        f"VALUES ('retrieve', 'open', 'r', 'b', {changed}, now() + :back + interval '1 day')",
        back=HOURS,
    )
    jobs.bring_back(store, 15)
    assert ahead(store, "probe_at", "stage_circuit") <= circuit_policy().probe_cap_seconds


def test_what_is_dated_rightly_stays_as_it_is(store: Store) -> None:
    promise_asked(store)
    claim(store, "subject")
    change(store, "UPDATE outbox SET status = 'pending', not_before = now() + interval '1 day'")
    before = rows(store, "SELECT * FROM outbox"), rows(store, "SELECT * FROM stage_run")
    jobs.bring_back(store, 15)
    assert (rows(store, "SELECT * FROM outbox"), rows(store, "SELECT * FROM stage_run")) == before
