"""When there is no room for one more: rules over a backlog, without a server."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api_gateway.backpressure.load import (
    ENOUGH,
    FEW,
    LANES,
    LONGEST_RETRY_SECONDS,
    RETRY_SECONDS,
    Overload,
    Work,
    overload,
)
from messages import Stage
from store.pipeline.backlog import Backlog

MOST, LONGEST = 1000, 30.0


def judged(found: Backlog, *, awaited: bool = True, most: int = MOST) -> Overload | None:
    return overload(Work.QUESTIONS, found, most=most, longest_seconds=LONGEST, awaited=awaited)


def test_a_new_question_may_wait_as_long_as_is_allowed_and_no_longer() -> None:
    # ten a second were done: 300 wait for 30 s
    assert judged(Backlog(300, busy_seconds=20, ended=200)) is None
    refused = judged(Backlog(350, busy_seconds=20, ended=200))
    assert refused is not None
    assert (refused.rule, refused.waiting, refused.wait_seconds) == ("slow", 350, 35)
    assert refused.retry_seconds == 5, "by then it would be let in"


def test_few_that_wait_are_never_too_many_however_slow_it_was() -> None:
    assert judged(Backlog(FEW - 1, busy_seconds=600, ended=ENOUGH)) is None
    assert judged(Backlog(FEW, busy_seconds=600, ended=ENOUGH)) is not None


def test_without_a_speed_only_the_count_decides() -> None:
    # no worker runs: what is accepted is kept until one does
    assert judged(Backlog(MOST - 1, busy_seconds=600, ended=0)) is None
    assert judged(Backlog(MOST - 1, busy_seconds=600, ended=ENOUGH - 1)) is None
    full = judged(Backlog(MOST, busy_seconds=600, ended=0))
    assert full is not None
    assert (full.rule, full.wait_seconds, full.retry_seconds) == ("full", None, RETRY_SECONDS)


def test_what_nobody_sits_in_front_of_may_wait_for_long() -> None:
    slow = Backlog(MOST - 1, busy_seconds=600, ended=ENOUGH)
    assert judged(slow) is not None
    assert judged(slow, awaited=False) is None
    assert judged(Backlog(MOST, 600, ENOUGH), awaited=False) is not None


def test_a_small_limit_holds_below_the_few() -> None:
    assert judged(Backlog(3), most=3) is not None
    assert judged(Backlog(2), most=3) is None


backlogs = st.builds(
    Backlog,
    waiting=st.integers(0, 3000),
    busy_seconds=st.floats(2, 600),
    ended=st.integers(0, 20_000),
)


@given(backlogs, st.booleans())
def test_more_that_waits_never_makes_room(found: Backlog, awaited: bool) -> None:
    more = Backlog(found.waiting + 1, found.busy_seconds, found.ended)
    if judged(found, awaited=awaited) is not None:
        assert judged(more, awaited=awaited) is not None


@given(backlogs, st.booleans())
def test_whoever_is_refused_is_told_when_to_come_back(found: Backlog, awaited: bool) -> None:
    refused = judged(found, awaited=awaited)
    if refused is not None:
        assert 1 <= refused.retry_seconds <= LONGEST_RETRY_SECONDS


@pytest.mark.parametrize("work", list(Work))
def test_each_kind_of_work_has_stages_of_its_own(work: Work) -> None:
    others: list[Stage] = [
        stage for other in Work if other is not work for stage in LANES[other].stages
    ]
    assert LANES[work].stages
    assert not set(LANES[work].stages) & set(others)
