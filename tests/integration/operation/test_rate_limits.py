"""Turns at a host: never more than the rate allows, however many ask, and never stuck."""

import threading
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from store.core.database import connect
from store.sources.rate_limits import RateLimits

AT = datetime(2026, 3, 2, 12, tzinfo=UTC)
HOST = "made-up.example.org"


def after(seconds: float) -> datetime:
    return AT + timedelta(seconds=seconds)


@pytest.fixture
def limits(engine: sa.Engine) -> RateLimits:
    return RateLimits(engine)


def assert_within_rate(turns: list[datetime], per_second: float, burst: int) -> None:
    """No stretch of time has more turns than `burst` and what its length allows."""
    turns = sorted(turns)
    for first in range(len(turns)):
        for last in range(first, len(turns)):
            length = (turns[last] - turns[first]).total_seconds()
            assert last - first + 1 <= burst + length * per_second + 1e-3


def test_turns_are_one_interval_apart(limits: RateLimits) -> None:
    waits = [limits.reserve(HOST, 4, 1, AT) for _ in range(4)]
    assert waits == [0.0, 0.25, 0.5, 0.75]
    assert limits.reserve(HOST, 4, 1, after(0.9)) == pytest.approx(0.1)
    assert limits.reserve("other.example.org", 4, 1, AT) == 0.0


def test_a_burst_goes_at_once_and_comes_back_with_the_time(limits: RateLimits) -> None:
    assert [limits.reserve(HOST, 2, 3, AT) for _ in range(5)] == [0.0, 0.0, 0.0, 0.5, 1.0]
    assert [limits.reserve(HOST, 2, 3, after(60)) for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]


def test_a_turn_that_is_too_far_away_is_not_taken(limits: RateLimits) -> None:
    assert [limits.reserve(HOST, 1, 1, AT, longest=2) for _ in range(3)] == [0.0, 1.0, 2.0]
    assert [limits.reserve(HOST, 1, 1, AT, longest=2) for _ in range(5)] == [3.0] * 5
    assert limits.reserve(HOST, 1, 1, after(1), longest=2) == 2.0


def test_a_hold_is_for_everybody_and_never_shortens_a_wait(
    limits: RateLimits, engine: sa.Engine
) -> None:
    limits.hold(HOST, after(20), AT)
    limits.hold(HOST, after(10), AT)
    assert RateLimits(engine).reserve(HOST, 1, 1, AT) == 20.0
    assert RateLimits(engine).reserve(HOST, 1, 1, AT) == 21.0
    assert limits.reserve(HOST, 1, 1, after(25)) == 0.0


def test_nothing_holds_a_host_for_more_than_an_hour(limits: RateLimits) -> None:
    limits.hold(HOST, after(53_578), AT)
    assert limits.reserve(HOST, 1, 1, after(5)) == 3595.0
    assert limits.reserve(HOST, 1, 1, after(3600)) == 0.0


def test_a_clock_that_was_set_back_by_years_costs_an_hour_at_most(limits: RateLimits) -> None:
    later = AT + timedelta(days=1000)
    limits.hold(HOST, later, later)
    assert limits.reserve(HOST, 1, 1, AT) == 3600.0
    assert limits.reserve(HOST, 1, 1, after(1800)) == 1800.0
    assert limits.reserve(HOST, 1, 1, after(3600)) == 0.0
    limits.hold("other.example.org", later, later)
    limits.hold("other.example.org", after(10), AT)
    assert limits.reserve("other.example.org", 1, 1, after(3600)) == 0.0


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    per_second=st.floats(0.2, 50),
    burst=st.integers(1, 5),
    steps=st.lists(st.floats(-0.5, 2), min_size=1, max_size=30),
)
def test_no_window_has_more_turns_than_the_rate_allows(
    limits: RateLimits, per_second: float, burst: int, steps: list[float]
) -> None:
    with limits.engine.begin() as connection:
        connection.execute(sa.text("DELETE FROM rate_limit"))
    turns, at = [], AT
    for step in steps:
        at += timedelta(seconds=step)
        wait = limits.reserve(HOST, per_second, burst, at)
        if wait <= 30:
            turns.append(at + timedelta(seconds=wait))
    assert_within_rate(turns, per_second, burst)


def take(url: str, times: int) -> list[datetime]:
    """What one process does: two threads, each with its own clock's time."""
    engine = connect(url)
    limits = RateLimits(engine)
    turns: list[datetime] = []

    def thread() -> None:
        for _ in range(times):
            at = datetime.now(UTC)
            wait = limits.reserve(HOST, 20, 3, at, longest=600)
            turns.append(at + timedelta(seconds=wait))

    threads = [threading.Thread(target=thread) for _ in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    engine.dispose()
    return turns


def test_threads_and_processes_together_keep_the_rate(engine: sa.Engine) -> None:
    url = engine.url.render_as_string(hide_password=False)
    with get_context("spawn").Pool(3) as pool:
        found = pool.starmap(take, [(url, 20)] * 3)
        pool.close()
        pool.join()
    turns = [turn for of_one in found for turn in of_one]
    assert len(turns) == 120
    assert_within_rate(turns, 20, 3)
    assert (max(turns) - min(turns)).total_seconds() < 117 / 20 + 60, "and no turn is lost"
