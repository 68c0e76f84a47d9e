"""The schedule of refreshes over a real database: once a tick, all or nothing, breaches told."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import Session, col, select

from messages import RefreshV1
from scheduler import main, refreshing
from scheduler.refreshing import forget_ticks, plan_refreshes, watch_slas
from store.audit import audit
from store.core.database import connect, passes_by_itself
from store.core.settings import Settings
from store.core.unit_of_work import Store
from store.models import AuditEvent, Outbox, Refresh, Watch, now
from store.pipeline import schedule_ticks
from store.sources import refreshes, source_states, watches
from store.sources.plan import MAX_ACTIVE, last_slot
from tests.servers import wait_until
from workers.runtime.broker import WokenBroker

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
LABEL = 8 * HOUR
"""How often openfda-label is refreshed; its SLA is a day."""


class Down(Exception):
    """What a test lets a source say."""


def follow(store: Store, source: str = "openfda-label", n: int = 1, at: datetime = START) -> Watch:
    """Follow `n` queries at a source; gives the last watch."""
    with store.unit_of_work("test") as work:
        for i in range(n):
            watch = watches.follow(work, source, f"colon {i}", "user", at)
    return watch


def rows(store: Store, query: str, **values: Any) -> list[Any]:
    """What the query finds now."""
    with store.reading() as session:
        return list(session.execute(sa.text(query), values))


def counts(store: Store) -> dict[str, int]:
    """How many rows a refresh leaves in each table."""
    with store.reading() as session:
        tables = ("tick", "refresh", "outbox")
        found = {
            name: int(session.execute(sa.text(f"SELECT count(*) FROM {name}")).scalar_one())
            for name in tables
        }
        events = select(AuditEvent).where(col(AuditEvent.event) == "refresh.requested")
        return {**found, "audit": len(session.exec(events).all())}


def each(n: int) -> dict[str, int]:
    """As `counts`: so many of each."""
    return dict.fromkeys(("tick", "refresh", "outbox", "audit"), n)


def events(store: Store, name: str) -> list[AuditEvent]:
    """The audit events of that name, in order."""
    with store.reading() as session:
        found = select(AuditEvent).where(col(AuditEvent.event) == name).order_by(AuditEvent.seq)  # type: ignore[arg-type]
        return list(session.exec(found))


def begin(store: Store, watch: Watch, at: datetime) -> None:
    """A worker begins the refresh under way."""
    with store.unit_of_work("test") as work:
        refresh = refreshes.active(work.session, watch.id)
        refreshes.begin(work, refresh, work.session.get_one(Watch, watch.id), at)


def complete(store: Store, watch: Watch, at: datetime, *, looked: bool = True) -> None:
    """The refresh under way ends well, as of the time when it began, or `at`."""
    with store.unit_of_work("test") as work:
        refresh = refreshes.active(work.session, watch.id)
        if refresh.started_at is None:
            refreshes.begin(work, refresh, work.session.get_one(Watch, watch.id), at)
        refresh.looked = looked
        refreshes.advance(work, refresh, continuation=None, payloads=0, request_id=refresh.id)
        refreshes.finish_if_stored(work, refresh, at)


def complete_all(store: Store, at: datetime) -> None:
    """All refreshes under way end well."""
    for row in rows(store, "SELECT watch_id FROM refresh WHERE status = 'queued'"):
        complete(store, now_of(store, row.watch_id), at)


def fail(store: Store, watch: Watch, error: str, at: datetime) -> Watch:
    """The refresh under way fails; gives the watch as it stands then."""
    with store.unit_of_work("test") as work:
        refreshes.fail(work, refreshes.active(work.session, watch.id), error, at)
    return now_of(store, watch.id)


def now_of(store: Store, watch_id: UUID) -> Watch:
    """The watch as it stands."""
    with store.reading() as session:
        return session.get_one(Watch, watch_id)


def degrade(store: Store, source: str, error: str, at: datetime) -> datetime:
    """Let a source fail until it is degraded; gives until when it is left alone."""
    with store.unit_of_work("test") as work:
        for _ in range(source_states.FAILURES):
            state = source_states.failed(work.session, source, Down(error), at)
    assert state.retry_at is not None
    return state.retry_at


def refreshed(store: Store, at: datetime = START) -> Watch:
    """A watch whose first refresh is complete."""
    watch = follow(store)
    assert plan_refreshes(store, at) == 1
    complete(store, watch, at)
    return now_of(store, watch.id)


# Ticks --------------------------------------------------------------------------------------------


def test_a_new_watch_is_asked_for_at_once_and_once(store: Store) -> None:
    watch = follow(store)
    assert plan_refreshes(store, START) == 1
    assert plan_refreshes(store, START) == 0
    assert plan_refreshes(store, START + 30 * DAY) == 0, "it is under way"
    assert counts(store) == each(1)
    ((job, fire_at, refresh_id),) = rows(store, "SELECT job, fire_at, refresh_id FROM tick")
    assert (job, fire_at) == (f"first:{watch.id}", START)
    with store.reading() as session:
        promised = session.exec(select(Outbox)).one()
        refresh = session.exec(select(Refresh)).one()
    assert (
        promised.payload
        == RefreshV1(request_id=promised.request_id, refresh_id=refresh.id, step=0).payload()
    )
    assert (refresh.id, refresh.watch_id, refresh.reason) == (refresh_id, watch.id, "schedule")


def test_schedulers_that_plan_the_same_moment_ask_once(settings: Settings, store: Store) -> None:
    for source in ("openfda-label", "pubmed", "news"):
        follow(store, source, n=2)
    at = START
    for turn in range(1, 6):
        barrier = threading.Barrier(4)
        asked: list[int] = []

        def schedule(
            at: datetime = at, barrier: threading.Barrier = barrier, asked: list[int] = asked
        ) -> None:
            engine = connect(settings.database_url, pool_size=2)
            mine = Store(engine, lambda promises: None)
            barrier.wait(30)
            asked.append(plan_refreshes(mine, at))
            engine.dispose()

        threads = [threading.Thread(target=schedule) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert len(asked) == 4, "no scheduler failed"
        assert sum(asked) == 6
        assert counts(store) == each(6 * turn)
        complete_all(store, at)
        at += 3 * DAY
    with store.reading() as session:
        assert audit.verify(session).whole


def test_a_scheduler_that_planned_before_another_one_acted_does_nothing(store: Store) -> None:
    watch = follow(store)
    with store.reading() as session:
        (old,) = refreshing._due(session, START)
    assert plan_refreshes(store, START) == 1
    complete(store, watch, START)
    assert not refreshing._ask(store, old, START)
    assert counts(store) == each(1)


def test_a_watch_that_was_stopped_after_the_plan_is_not_asked_for(store: Store) -> None:
    watch = follow(store)
    with store.reading() as session:
        (old,) = refreshing._due(session, START)
    with store.unit_of_work("test") as work:
        watches.stop(work, watch.id, START)
    assert not refreshing._ask(store, old, START)
    assert plan_refreshes(store, START + DAY) == 0
    assert counts(store) == each(0)


def test_a_refresh_that_a_user_asked_for_meanwhile_serves_the_tick(store: Store) -> None:
    watch = follow(store)
    with store.reading() as session:
        (old,) = refreshing._due(session, START)
    with store.unit_of_work("test") as work:
        asked = refreshes.request(work, watch, "user", START)
    assert refreshing._ask(store, old, START)
    assert counts(store) == each(1)
    assert rows(store, "SELECT refresh_id FROM tick") == [(asked.id,)]


def test_a_scheduler_waits_for_a_refresh_that_just_ends_and_holds_nothing_it_needs(
    store: Store,
) -> None:
    watch = follow(store)
    with store.reading() as session:
        (old,) = refreshing._due(session, START)
    with store.unit_of_work("test") as work:
        refreshes.request(work, watch, "user", START)
    begin(store, watch, START)
    asked: list[bool] = []
    scheduler = threading.Thread(target=lambda: asked.append(refreshing._ask(store, old, START)))
    with store.unit_of_work("test") as work:
        refresh = refreshes.locked(work.session, refreshes.active(work.session, watch.id).id)
        assert refresh is not None
        refresh.status = "storing"
        work.session.flush()
        scheduler.start()
        waits = (
            "SELECT FROM pg_stat_activity "
            "WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        wait_until(lambda: bool(rows(store, waits)), what="the scheduler waits")
        refreshes.finish_if_stored(work, refresh, START)  # locks the watch
    scheduler.join(60)
    assert asked == [True]
    assert counts(store)["tick"] == 1


def test_a_scheduler_that_fails_in_the_middle_leaves_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    follow(store)
    before = counts(store)

    def broken(*_: object) -> None:
        raise RuntimeError("broken")

    with monkeypatch.context() as patch:
        patch.setattr(schedule_ticks, "began", broken)
        with pytest.raises(RuntimeError, match="broken"):
            plan_refreshes(store, START)
    assert counts(store) == before == each(0)
    assert plan_refreshes(store, START) == 1
    assert counts(store) == each(1)


def test_a_scheduler_that_loses_its_connection_leaves_nothing_and_that_passes(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    follow(store)

    def cut_off(session: Session, *_: object) -> None:
        session.execute(sa.text("SELECT pg_terminate_backend(pg_backend_pid())"))

    with monkeypatch.context() as patch:
        patch.setattr(schedule_ticks, "began", cut_off)
        with pytest.raises(sa.exc.DBAPIError) as told:
            plan_refreshes(store, START)
    assert passes_by_itself(told.value)
    assert counts(store) == each(0)
    assert plan_refreshes(store, START) == 1
    assert counts(store) == each(1)


def test_what_was_missed_in_a_downtime_coalesces_into_one_refresh(store: Store) -> None:
    watch = refreshed(store)
    at = START + 10 * DAY
    assert plan_refreshes(store, at) == 1
    complete(store, watch, at)
    assert plan_refreshes(store, at) == 0
    assert counts(store) == each(2)
    (tick,) = rows(store, "SELECT job, fire_at FROM tick ORDER BY created_at DESC LIMIT 1")
    assert tick == (f"refresh:{watch.id}", last_slot(watch.id, LABEL, at))


def test_a_clock_that_was_set_back_asks_for_no_slot_twice(store: Store) -> None:
    watch = refreshed(store)
    slot = last_slot(watch.id, LABEL, START + 5 * DAY)
    assert plan_refreshes(store, slot) == 1
    complete(store, watch, slot)
    assert plan_refreshes(store, slot - MINUTE) == plan_refreshes(store, slot - HOUR) == 0
    assert plan_refreshes(store, slot - 7 * HOUR) == 1, "an earlier slot, which was missed"
    complete(store, watch, slot - 7 * HOUR)
    assert plan_refreshes(store, slot) == 0
    fired = [row.fire_at for row in rows(store, "SELECT fire_at FROM tick")]
    assert len(set(fired)) == len(fired)
    assert plan_refreshes(store, slot + LABEL) == 1


def test_a_clock_that_ran_a_year_ahead_holds_nobody_back(store: Store) -> None:
    watch = refreshed(store)
    assert plan_refreshes(store, START + 365 * DAY) == 1
    complete(store, watch, START + 365 * DAY)
    slot = last_slot(watch.id, LABEL, START + DAY)
    assert plan_refreshes(store, slot) == 1
    complete(store, watch, slot)
    assert plan_refreshes(store, slot + MINUTE) == 0
    slot += LABEL
    with store.unit_of_work("test") as work:
        refreshes.request(work, watch, "user", slot + MINUTE)
    complete(store, watch, slot + MINUTE)
    assert plan_refreshes(store, slot + HOUR) == 0, "a user has asked since"
    assert plan_refreshes(store, slot + LABEL) == 1


def test_old_ticks_are_forgotten_in_batches_and_young_ones_kept(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refreshing, "FORGET_AT_A_TIME", 3)
    with store.unit_of_work("test") as work:
        for days in range(100):
            at = START - days * DAY
            assert schedule_ticks.take(work.session, "job", at, at)
    assert forget_ticks(store, START) == 9
    assert forget_ticks(store, START) == 0
    (left,) = rows(store, "SELECT count(*) AS n, min(fire_at) AS first FROM tick")
    assert (left.n, left.first) == (91, START - 90 * DAY)


# What is due --------------------------------------------------------------------------------------


def test_a_failed_refresh_is_tried_again_when_its_wait_is_over(store: Store) -> None:
    watch = follow(store)
    plan_refreshes(store, START)
    watch = fail(store, watch, "it did not answer", START)
    assert watch.retry_at is not None
    assert plan_refreshes(store, watch.retry_at - timedelta(seconds=1)) == 0
    assert plan_refreshes(store, watch.retry_at) == 1
    assert [
        row.reason for row in rows(store, "SELECT reason FROM refresh ORDER BY requested_at")
    ] == [
        "schedule",
        "retry",
    ]
    assert rows(store, "SELECT fire_at FROM tick WHERE job = :job", job=f"retry:{watch.id}") == [
        (watch.retry_at,)
    ]


def test_a_degraded_source_is_left_alone_then_tried_with_one_refresh(store: Store) -> None:
    follow(store, "pubmed", n=3)
    until = degrade(store, "pubmed", "pubmed: it did not answer", START)
    assert plan_refreshes(store, until - timedelta(seconds=1)) == 0
    assert plan_refreshes(store, until) == 1
    assert plan_refreshes(store, until) == 0, "the trial is under way"
    with store.unit_of_work("test") as work:
        source_states.succeeded(work.session, "pubmed", until)
    assert plan_refreshes(store, until) == 2


def test_a_degraded_source_is_tried_with_a_watch_that_works(store: Store) -> None:
    dead = follow(store, "pubmed")
    assert plan_refreshes(store, START) == 1
    fail(store, dead, "it always fails", START)
    later = START + HOUR
    with store.unit_of_work("test") as work:  # the dead one is nearer to its deadline
        good = watches.follow(work, "pubmed", "a query that works", "user", later)
    until = degrade(store, "pubmed", "pubmed: it did not answer", later)
    assert plan_refreshes(store, until) == 1
    (asked,) = rows(store, "SELECT watch_id FROM refresh WHERE status = 'queued'")
    assert asked.watch_id == good.id


def test_what_nobody_chose_to_follow_is_not_asked_for(store: Store) -> None:
    with store.unit_of_work("test") as work:
        watches.follow(work, "pubmed", "colon", "abstention", START)
    assert plan_refreshes(store, START + 30 * DAY) == 0
    assert watch_slas(store, START + 30 * DAY) == 0


def test_a_source_that_this_version_does_not_know_stops_nobody(store: Store) -> None:
    follow(store)
    with store.unit_of_work("test") as work:
        watches.follow(work, "forgotten-source", "colon", "user", START)
    assert plan_refreshes(store, START) == 1
    assert watch_slas(store, START + 2 * DAY) == 1


def test_those_nearest_to_a_breach_come_first_and_only_so_many(store: Store) -> None:
    follow(store, "crossref", n=2)  # no SLA
    follow(store, "pubmed", n=MAX_ACTIVE)  # a week
    follow(store, "openfda-label", n=2)  # a day
    assert plan_refreshes(store, START) == MAX_ACTIVE
    by_source = (
        "SELECT w.source, count(*) FROM refresh r JOIN watch w ON w.id = r.watch_id GROUP BY 1"
    )
    assert dict(tuple(row) for row in rows(store, by_source)) == {
        "openfda-label": 2,
        "pubmed": MAX_ACTIVE - 2,
    }
    assert plan_refreshes(store, START) == 0
    complete_all(store, START)
    assert plan_refreshes(store, START) == 4
    assert dict(tuple(row) for row in rows(store, by_source))["crossref"] == 2


def test_a_refresh_that_saw_too_little_is_asked_again_out_of_turn_before_the_breach(
    store: Store,
) -> None:
    watch = refreshed(store)
    at = START
    while at < START + DAY:
        if plan_refreshes(store, at):
            complete(store, watch, at, looked=False)
        at += 15 * MINUTE
    jobs = [row.job.partition(":")[0] for row in rows(store, "SELECT job FROM tick")]
    assert jobs.count("risk") in (2, 3)
    assert jobs.count("refresh") in (2, 3)


# Breaches -----------------------------------------------------------------------------------------


def breach(store: Store) -> Any:
    """The only breach."""
    (one,) = rows(
        store,
        "SELECT w.source, w.query, b.began_at, b.ended_at, b.cause "
        "FROM sla_breach b JOIN watch w ON w.id = b.watch_id",
    )
    return one


def test_a_breach_begins_at_the_deadline_however_late_it_is_noticed_and_is_told_once(
    store: Store,
) -> None:
    watch = refreshed(store)
    assert watch_slas(store, START + DAY) == 0
    assert watch_slas(store, START + 3 * DAY) == 1
    assert watch_slas(store, START + 4 * DAY) == 0
    found = breach(store)
    assert (found.source, found.query, found.ended_at) == (watch.source, watch.query, None)
    assert found.began_at == START + DAY
    (told,) = events(store, "sla.breached")
    assert told.subject == str(watch.id)


def test_schedulers_that_notice_a_breach_together_write_it_once(
    settings: Settings, store: Store
) -> None:
    follow(store, "pubmed", n=3)
    barrier = threading.Barrier(3)
    opened: list[int] = []

    def notice() -> None:
        engine = connect(settings.database_url, pool_size=2)
        mine = Store(engine, lambda promises: None)
        barrier.wait(30)
        opened.append(watch_slas(mine, START + 8 * DAY))
        engine.dispose()

    threads = [threading.Thread(target=notice) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (len(opened), sum(opened)) == (3, 3)
    assert len(events(store, "sla.breached")) == 3


def test_a_breach_ends_with_the_refresh_that_is_complete_again(store: Store) -> None:
    watch = refreshed(store)
    late = START + 2 * DAY
    assert watch_slas(store, late) == 1
    assert plan_refreshes(store, late) == 1
    complete(store, watch, late + HOUR)
    found = breach(store)
    assert (found.began_at, found.ended_at) == (START + DAY, late + HOUR)
    assert len(events(store, "sla.restored")) == 1
    assert watch_slas(store, late + HOUR) == 0


def test_the_scheduler_that_was_down_is_the_cause_even_though_it_asks_before_anybody_notices(
    store: Store,
) -> None:
    refreshed(store)
    assert plan_refreshes(store, START + 3 * DAY) == 1
    assert watch_slas(store, START + 3 * DAY) == 0, "planning has noticed it"
    found = breach(store)
    assert found.began_at == START + DAY
    assert found.cause == "no refresh was begun in time: the scheduler was down"


def _workers_are_down(store: Store, watch: Watch) -> str:
    assert plan_refreshes(store, START + 12 * HOUR) == 1
    return "workers were down"


def _it_fails(store: Store, watch: Watch) -> str:
    assert plan_refreshes(store, START + 12 * HOUR) == 1
    fail(store, watch, "label: 503 after 4 tries", START + 12 * HOUR)
    return "label: 503 after 4 tries"


def _it_is_degraded(store: Store, watch: Watch) -> str:
    degrade(store, watch.source, "label: it did not answer", START + 12 * HOUR)
    return "label: it did not answer"


@pytest.mark.parametrize("happens", [_workers_are_down, _it_fails, _it_is_degraded])
def test_a_breach_names_its_cause(store: Store, happens: Callable[[Store, Watch], str]) -> None:
    cause = happens(store, refreshed(store))
    assert watch_slas(store, START + 2 * DAY) == 1
    assert cause in breach(store).cause


def test_a_breach_is_not_opened_beside_the_refresh_that_just_ends(
    store: Store, engine: sa.Engine
) -> None:
    watch = refreshed(store)
    with Session(engine) as session:  # as `refreshes.finish_if_stored` holds it
        session.get_one(Watch, watch.id, with_for_update=True)
        assert watch_slas(store, START + 2 * DAY) == 0
    assert watch_slas(store, START + 2 * DAY) == 1


# The process --------------------------------------------------------------------------------------


def test_the_scheduler_process_asks_for_what_is_due_and_notices_what_is_late(
    settings: Settings, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(main, "PLAN_SECONDS", 0.1)
    monkeypatch.setattr(main, "SLA_SECONDS", 0.1)
    follow(store, at=now() - 30 * DAY)
    broker = WokenBroker(settings)
    scheduler = main.build_scheduler(settings, store, broker)
    scheduler.start()
    try:
        wait_until(lambda: counts(store) == each(1), what="a refresh was asked for")
    finally:
        scheduler.shutdown(wait=True)
        broker.close()
    assert len(events(store, "sla.breached")) == 1
