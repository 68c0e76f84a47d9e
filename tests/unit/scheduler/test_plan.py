"""When a watch is due: slots, retries, risks, and the order in which they come."""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from uuid import UUID, uuid5

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.feeds.sources import connector_policies, connector_sla_hours
from store.sources.plan import MAX_ACTIVE, STRAY, Due, Followed, choose, due, last_slot
from store.sources.refreshes import FIRST_RETRY_SECONDS, LAST_RETRY_SECONDS

START = datetime(2026, 1, 1, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
NAMESPACE = UUID(int=7)

ids = st.uuids(version=4)
moments = st.integers(-(10**9), 4 * 10**9).map(
    lambda s: START + timedelta(seconds=s, microseconds=7)
)
intervals = st.floats(0.1, 200).map(lambda hours: timedelta(hours=hours))


def watch(n: int = 0, every: timedelta = 8 * HOUR, sla: timedelta | None = DAY) -> Followed:
    """A watch as it is just after it was made."""
    deadline = None if sla is None else START + sla
    return Followed(uuid5(NAMESPACE, str(n)), "label", every, START, sla, deadline)


@dataclass
class World:
    """One watch and its ticks, as the database keeps them; refreshes end when the test says so."""

    watch: Followed
    ticks: list[tuple[str, datetime]] = field(default_factory=list)
    started: list[datetime] = field(default_factory=list)
    failures: int = 0

    def take(self, one: Due | None, at: datetime) -> bool:
        """What a scheduler does with what it planned: one tick, one refresh."""
        if one is None or (one.job, one.fire_at) in self.ticks:
            return False
        self.ticks.append((one.job, one.fire_at))
        if not self.watch.under_way:
            self.started.append(at)
            self.watch = replace(self.watch, requested_at=at, under_way=True)
        return True

    def complete(self) -> None:
        """The refresh under way saw everything."""
        self.failures = 0
        began, sla = self.started[-1], self.watch.sla
        cursor = max(began, self.watch.cursor_at or began)
        deadline = None if sla is None else cursor + sla
        self.watch = replace(
            self.watch, cursor_at=cursor, deadline=deadline, retry_at=None, under_way=False
        )

    def fall_short(self) -> None:
        """The refresh under way ends well, but did not see what it should: no cursor moves."""
        self.watch = replace(self.watch, retry_at=None, under_way=False)

    def fail(self, at: datetime) -> None:
        """The refresh under way fails; the wait is the longest that the ladder has."""
        self.failures += 1
        wait = min(LAST_RETRY_SECONDS, FIRST_RETRY_SECONDS * 2 ** (self.failures - 1) * 1.25)
        retry_at = at + timedelta(seconds=wait)
        self.watch = replace(self.watch, retry_at=retry_at, failed_at=at, under_way=False)


# The grid -----------------------------------------------------------------------------------------


@given(ids, intervals, moments)
def test_the_last_slot_is_less_than_one_interval_ago(
    watch_id: UUID, every: timedelta, at: datetime
) -> None:
    slot = last_slot(watch_id, every, at)
    assert slot <= at < slot + every


@given(ids, intervals, moments, st.floats(0, 0.999))
def test_schedulers_whose_clocks_differ_name_the_same_slot(
    watch_id: UUID, every: timedelta, at: datetime, part: float
) -> None:
    slot = last_slot(watch_id, every, at)
    assert last_slot(watch_id, every, slot + every * part) == slot
    assert last_slot(watch_id, every, slot + every) == slot + every


def test_watches_of_one_interval_are_spread_over_it() -> None:
    slots = [last_slot(uuid5(NAMESPACE, str(n)), DAY, START) for n in range(2400)]
    hours = Counter((START - slot) // HOUR for slot in slots)
    assert len(set(slots)) == len(slots)
    assert set(hours) == set(range(24))
    assert max(hours.values()) < 150  # 100 on average


# What is due --------------------------------------------------------------------------------------


def test_a_new_watch_is_due_from_the_moment_it_was_made() -> None:
    fresh = watch()
    assert due(fresh, START - MINUTE) is None
    one = due(fresh, START + 3 * DAY)
    assert one is not None
    assert (one.job, one.fire_at, one.reason) == (f"first:{fresh.watch_id}", START, "schedule")


def test_a_refresh_under_way_is_not_asked_for_again() -> None:
    for one in (watch(), replace(watch(), retry_at=START), replace(watch(), cursor_at=START)):
        assert due(replace(one, under_way=True), START + 30 * DAY) is None


def test_a_failed_watch_is_due_at_its_retry_and_not_at_its_slots() -> None:
    retry_at = START + 3 * DAY
    failed = replace(watch(), requested_at=START, failed_at=START, retry_at=retry_at)
    assert due(failed, retry_at - MINUTE) is None
    one = due(failed, retry_at + DAY)
    assert one is not None
    assert (one.job, one.fire_at, one.reason) == (f"retry:{failed.watch_id}", retry_at, "retry")


def test_a_watch_whose_first_refresh_saw_too_little_waits_for_its_slot() -> None:
    seen = replace(watch(), requested_at=START)
    slot = last_slot(seen.watch_id, seen.every, START) + seen.every
    assert due(seen, slot - MINUTE) is None
    assert due(seen, slot) == Due(
        seen.watch_id, "label", f"refresh:{seen.watch_id}", slot, "schedule", seen.deadline
    )


def test_a_refresh_that_began_late_serves_the_slots_it_waited_over() -> None:
    late = replace(watch(), requested_at=START, cursor_at=START + DAY, deadline=START + 2 * DAY)
    assert due(late, START + DAY + MINUTE) is None


@given(st.lists(st.floats(0.01, 2000), min_size=1, max_size=12), ids)
def test_after_any_downtime_exactly_one_refresh_is_due(gaps: list[float], watch_id: UUID) -> None:
    world = World(replace(watch(), watch_id=watch_id))
    assert world.take(due(world.watch, START), START)
    world.complete()
    at = START
    for hours in gaps:
        before, at = at, at + timedelta(hours=hours)
        slot_passed = last_slot(watch_id, world.watch.every, at) > before
        one = due(world.watch, at)
        assert (one is not None) == slot_passed
        if world.take(one, at):
            world.complete()
        assert due(world.watch, at) is None


_steps = st.lists(
    st.one_of(
        st.tuples(st.just("wait"), st.floats(0, 20)),
        st.tuples(st.just("read"), st.integers(0, 1)),
        st.tuples(st.just("take"), st.integers(0, 1)),
        st.tuples(st.sampled_from(["complete", "fail", "fall short"]), st.just(0)),
    ),
    max_size=60,
)


@given(_steps)
def test_two_schedulers_however_interleaved_ask_once_a_slot(
    steps: list[tuple[str, float]],
) -> None:
    world, at = World(watch()), START
    planned: list[Due | None] = [None, None]
    for step, value in steps:
        if step == "wait":
            at += timedelta(hours=value)
        elif step == "read":  # what it plans may be old when it acts on it
            planned[int(value)] = due(world.watch, at)
        elif step == "take":
            world.take(planned[int(value)], at)
        elif world.watch.under_way and step == "complete":
            world.complete()
        elif world.watch.under_way and step == "fail":
            world.fail(at)
        elif world.watch.under_way:
            world.fall_short()
    assert len(set(world.ticks)) == len(world.ticks)
    assert len(world.started) <= len(world.ticks)
    slots = Counter(fire_at for job, fire_at in world.ticks if job.startswith("refresh:"))
    assert all(times == 1 for times in slots.values())


# Risk ---------------------------------------------------------------------------------------------


def test_a_watch_in_the_last_quarter_of_its_sla_is_due_out_of_turn() -> None:
    rare = watch(every=60 * HOUR)
    asked = last_slot(rare.watch_id, rare.every, START) + MINUTE
    rare = replace(rare, requested_at=asked, cursor_at=asked, deadline=asked + DAY)
    assert due(rare, asked + 18 * HOUR - MINUTE) is None
    one = due(rare, asked + 20 * HOUR)
    assert one is not None
    assert (one.job, one.fire_at) == (f"risk:{rare.watch_id}", asked + 18 * HOUR)


def test_a_watch_that_sees_too_little_is_asked_four_times_as_often_once_it_is_at_risk() -> None:
    world, at = World(watch()), START
    world.take(due(world.watch, at), at)
    world.complete()
    for _ in range(4 * 24 * 60):
        at += MINUTE
        if world.take(due(world.watch, at), at):
            world.fall_short()
    risky = [fire_at for job, fire_at in world.ticks if job.startswith("risk:")]
    assert risky[0] >= START + 18 * HOUR
    assert 78 // 3 < len(risky) <= 78 // 2
    assert all(b - a >= 2 * HOUR for a, b in pairwise(risky))
    assert len(world.ticks) == 1 + 4 * 3 + len(risky)


def test_a_watch_at_risk_waits_for_its_retry() -> None:
    failed = replace(
        watch(), requested_at=START, failed_at=START, retry_at=START + 2 * DAY, cursor_at=START
    )
    assert due(failed, START + DAY) is None


def test_a_watch_without_sla_is_never_at_risk() -> None:
    local = replace(watch(every=DAY, sla=None), requested_at=START, cursor_at=START)
    slot = last_slot(local.watch_id, local.every, START) + local.every
    assert due(local, slot - timedelta(seconds=1)) is None


# A wrong clock ------------------------------------------------------------------------------------


@given(st.floats(0.01, 1000), st.floats(0, 2000))
def test_a_clock_that_is_set_back_asks_for_no_slot_twice_and_holds_nobody_back(
    ahead: float, since: float
) -> None:
    world, at = World(watch()), START
    for moment in (at, at + timedelta(hours=since), at + timedelta(hours=since + ahead)):
        if world.take(due(world.watch, moment), moment):
            world.complete()
    at += timedelta(hours=since)
    begun = len(world.started)
    last = world.ticks[-1]
    while len(world.started) == begun:  # the clock is right again, and time goes on
        at += 10 * MINUTE
        assert at < START + timedelta(hours=since) + 3 * world.watch.every + STRAY
        seen = world.watch
        if seen.requested_at and seen.requested_at > at + STRAY:  # as `ticks.last_asked` reads it
            seen = replace(seen, requested_at=None)
        world.take(due(seen, at), at)
    assert world.ticks[-1] != last


def test_a_retry_that_a_wrong_clock_put_far_ahead_is_due_now() -> None:
    year = 365 * DAY
    failed = replace(
        watch(), requested_at=START, failed_at=START + year, retry_at=START + year + HOUR
    )
    one = due(failed, START + DAY)
    assert one is not None
    assert one.job == f"retry:{failed.watch_id}"


def test_a_pause_that_a_source_asked_for_is_no_wrong_clock() -> None:
    failed = replace(watch(), requested_at=START, failed_at=START, retry_at=START + DAY)
    assert due(failed, START + HOUR) is None


# Order and limits ---------------------------------------------------------------------------------


def found(n: int, source: str = "label", deadline: datetime | None = START) -> Due:
    """A due watch."""
    return Due(uuid5(NAMESPACE, str(n)), source, f"refresh:{n}", START, "schedule", deadline)


def test_nearest_to_its_deadline_comes_first_and_without_sla_last() -> None:
    some = [found(1, deadline=None), found(2), found(3, deadline=START - DAY)]
    assert choose(some) == [some[2], some[1], some[0]]


@given(st.permutations(range(20)))
def test_the_order_does_not_depend_on_the_order_of_the_rows(order: list[int]) -> None:
    some = [found(n, deadline=START + (n % 3) * HOUR) for n in range(20)]
    assert choose([some[n] for n in order]) == choose(some)


@pytest.mark.parametrize("under_way", [0, 3, 8, 11])
def test_no_more_refreshes_are_under_way_than_the_limit(under_way: int) -> None:
    chosen = choose([found(n) for n in range(30)], under_way={"pubmed": under_way})
    assert len(chosen) == max(0, MAX_ACTIVE - under_way)


def test_a_source_that_rests_is_not_asked_and_takes_nobodys_place() -> None:
    some = [found(n, "news", START - DAY) for n in range(MAX_ACTIVE)] + [found(99)]
    assert choose(some, resting={"news"}) == [found(99)]


def test_a_degraded_source_is_tried_with_the_watch_that_failed_least() -> None:
    dead = [replace(found(n, "news", START - (9 - n) * DAY), failures=70 + n) for n in (1, 2)]
    good = [
        replace(found(3, "news"), failures=1),
        replace(found(4, "news", START - HOUR), failures=1),
    ]
    assert choose([*dead, *good], on_trial={"news"}) == [good[1]]
    assert choose(dead, on_trial={"news"}) == [dead[0]], "if there is no other"
    assert choose([*dead, *good]) == [*dead, good[1], good[0]], "a deadline is a deadline"


def test_what_a_watch_failed_stands_in_its_tick() -> None:
    failed = replace(watch(), requested_at=START, failed_at=START, retry_at=START, failures=7)
    one = due(failed, START + HOUR)
    assert one is not None
    assert one.failures == 7


def test_a_degraded_source_is_tried_with_one_refresh_at_a_time() -> None:
    some = [found(1, "news", START - DAY), found(2, "news", START - HOUR), found(3)]
    assert choose(some, on_trial={"news"}) == [some[0], some[2]]
    assert choose(some, on_trial={"news"}, under_way={"news": 1}) == [some[2]]


# The policy's own numbers -------------------------------------------------------------------------

RHYTHMS = sorted(
    {
        (policy.refresh_hours, sla)
        for name, policy in connector_policies().items()
        if (sla := connector_sla_hours(name)) is not None
    }
)


@pytest.mark.parametrize(("every", "sla"), RHYTHMS)
def test_at_least_three_refreshes_fit_into_the_sla(every: float, sla: float) -> None:
    assert 3 * every <= sla


def _live(world: World, days: int, step: timedelta, fails: Iterator[bool]) -> timedelta:
    """Let the world run; every refresh takes up to 50 minutes. Gives its greatest age."""
    chance = random.Random(1)
    at, ends, oldest = START, START, timedelta(0)
    while at < START + days * DAY:
        if world.watch.under_way and at >= ends:
            if next(fails):
                world.fail(at)
            else:
                world.complete()
        if world.take(due(world.watch, at), at):
            ends = at + chance.randrange(50) * MINUTE
        oldest = max(oldest, at - (world.watch.cursor_at or START))
        at += step
    return oldest


def _always(fail: bool) -> Iterator[bool]:
    while True:
        yield fail


def _runs(length: int) -> Iterator[bool]:
    """So many failures, a success, and again."""
    while True:
        yield from [True] * length
        yield False


@pytest.mark.parametrize(("every", "sla"), RHYTHMS)
def test_weeks_of_minutes_pass_without_a_breach(every: float, sla: float) -> None:
    for n in range(3):
        world = World(watch(n, timedelta(hours=every), timedelta(hours=sla)))
        oldest = _live(world, 20, MINUTE, _always(False))
        assert oldest < timedelta(hours=every) + HOUR < timedelta(hours=sla)
        assert len(world.started) in range(int(20 * 24 / every), int(20 * 24 / every) + 3)


@pytest.mark.parametrize("length", range(1, 9))
@pytest.mark.parametrize(("every", "sla"), RHYTHMS)
def test_eight_failures_in_a_row_make_no_breach(every: float, sla: float, length: int) -> None:
    world = World(watch(length % 3, timedelta(hours=every), timedelta(hours=sla)))
    assert _live(world, 20, 5 * MINUTE, _runs(length)) < timedelta(hours=sla)


def test_a_source_that_always_fails_is_asked_no_more_often_than_the_ladder_says() -> None:
    world = World(watch())
    _live(world, 10, MINUTE, _always(True))
    gaps = [b - a for a, b in pairwise(world.started)]
    assert all(a <= b + 50 * MINUTE for a, b in pairwise(gaps))
    assert all(gap >= timedelta(seconds=LAST_RETRY_SECONDS) for gap in gaps[8:])
    assert {job.partition(":")[0] for job, _ in world.ticks} == {"first", "retry"}


@settings(max_examples=50)
@given(st.integers(9, 60), st.floats(1, 400))
def test_after_a_downtime_each_of_many_watches_is_asked_once_a_few_at_a_time(
    n: int, hours: float
) -> None:
    worlds = {one.watch_id: World(one) for one in (watch(i) for i in range(n))}
    for world in worlds.values():
        world.take(due(world.watch, START), START)
        world.complete()
    at = START + 8 * HOUR + timedelta(hours=hours)
    rounds = 0
    while chosen := choose([one for w in worlds.values() if (one := due(w.watch, at))]):
        assert len(chosen) <= MAX_ACTIVE
        for one in chosen:
            assert worlds[one.watch_id].take(one, at)
            worlds[one.watch_id].complete()
        rounds += 1
    assert rounds == -(-n // MAX_ACTIVE)
    assert all(len(world.started) == 2 for world in worlds.values())
