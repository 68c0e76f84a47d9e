"""When a watch runs next is what the scheduler's plan will decide."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from store.sources.plan import STRAY, Followed, due, next_run

AT = datetime(2026, 11, 22, 12, tzinfo=UTC)
WATCH = UUID("6f2b8a52-52d5-4a0a-9d0f-0d1a6d9c6b8e")
_INSTANT = timedelta(microseconds=1)

moments = st.timedeltas(timedelta(days=-20), timedelta(days=1)).map(lambda shift: AT + shift)
passed = st.timedeltas(timedelta(days=-20), STRAY).map(lambda shift: AT + shift)


@st.composite
def followed(draw: st.DrawFn) -> Followed:
    sla = draw(st.none() | st.sampled_from([timedelta(hours=24), timedelta(hours=168)]))
    return Followed(
        draw(st.uuids()),
        "pubmed",
        every=timedelta(hours=draw(st.sampled_from([1, 4, 8, 24]))),
        created_at=draw(moments),
        sla=sla,
        deadline=None if sla is None else draw(moments) + sla,
        requested_at=draw(st.none() | passed),
        cursor_at=draw(st.none() | passed),
        retry_at=draw(st.none() | moments),
        failed_at=draw(st.none() | moments),
    )


@settings(max_examples=200)
@given(watch=followed(), shares=st.lists(st.floats(0, 1), max_size=5))
def test_a_watch_is_due_at_its_next_run_and_not_before(
    watch: Followed, shares: list[float]
) -> None:
    then = next_run(watch, AT)
    assert then >= AT
    if then == AT:
        assert due(watch, AT) is not None
        return
    assert due(watch, then) is not None
    for moment in (AT, then - _INSTANT, *(AT + share * (then - AT) for share in shares)):
        if moment < then:
            assert due(watch, moment) is None


def test_while_a_refresh_is_under_way_the_next_run_is_the_slot_after_it() -> None:
    every = timedelta(hours=24)
    watch = Followed(WATCH, "pubmed", every, AT, requested_at=AT, under_way=True)
    then = next_run(watch, AT)
    assert AT < then <= AT + every
    assert due(replace(watch, under_way=False), then) is not None


def test_what_a_wrong_clock_wrote_holds_no_watch_back() -> None:
    ahead = AT + timedelta(days=3)
    every = timedelta(hours=24)
    for watch in (
        Followed(WATCH, "pubmed", every, ahead),
        Followed(WATCH, "pubmed", every, AT, requested_at=ahead, cursor_at=ahead),
        Followed(WATCH, "pubmed", every, AT, retry_at=ahead, failed_at=ahead),
    ):
        assert due(watch, AT) is not None
        assert next_run(watch, AT) == AT
