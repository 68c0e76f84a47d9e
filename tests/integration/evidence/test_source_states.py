"""The circuit breaker of a source: when it opens, for how long, and how it closes."""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlmodel import Session

from store.sources import source_states
from store.sources.source_states import AT_ONCE
from workers.http import errors as source_errors
from workers.http.errors import (
    NotAllowed,
    QuotaExhausted,
    Refused,
    SourceError,
    TooLarge,
    Unreachable,
)

AT = datetime(2026, 3, 2, 12, tzinfo=UTC)


def after(**length: float) -> datetime:
    return AT + timedelta(**length)


@pytest.fixture
def session(engine: sa.Engine) -> Iterator[Session]:
    with Session(engine) as opened:
        yield opened


def degrade(session: Session, at: datetime = AT) -> source_states.SourceState:
    for _ in range(3):
        state = source_states.failed(session, "pubmed", Unreachable("down"), at)
    return state


def test_a_source_that_was_never_asked_may_be_asked(session: Session) -> None:
    assert source_states.state(session, "pubmed") is None
    assert source_states.may_ask(session, "pubmed", AT)
    assert source_states.all_states(session) == {}


def test_the_third_failure_in_a_row_degrades_a_source_with_the_reason(session: Session) -> None:
    for n in (1, 2):
        state = source_states.failed(session, "pubmed", Unreachable(f"down {n}"), after(hours=n))
        assert (state.status, state.failures, state.retry_at) == ("ok", n, None)
        assert source_states.may_ask(session, "pubmed", after(hours=n))
    state = source_states.failed(session, "pubmed", TooLarge("down 3"), after(hours=3))
    assert (state.status, state.reason, state.since) == ("degraded", "down 3", after(hours=3))
    assert (state.last_error, state.last_error_at) == ("down 3", after(hours=3))
    assert state.retry_at is not None
    assert after(hours=3, minutes=4) <= state.retry_at <= after(hours=3, minutes=5)
    assert source_states.state(session, "pubmed") == state
    assert source_states.all_states(session) == {"pubmed": state}
    assert not source_states.may_ask(session, "pubmed", after(hours=3, minutes=3))
    assert source_states.may_ask(session, "clinicaltrials", after(hours=3, minutes=3))


def test_a_success_in_between_begins_the_count_again(session: Session) -> None:
    for _ in range(3):
        for _ in range(2):
            state = source_states.failed(session, "pubmed", Unreachable("down"), AT)
            assert state.status == "ok"
        source_states.succeeded(session, "pubmed", after(minutes=1))
    state_now = source_states.state(session, "pubmed")
    assert state_now is not None
    assert (state_now.failures, state_now.since) == (0, AT)
    assert state_now.last_success_at == after(minutes=1)


@pytest.mark.parametrize("error", [Refused("no"), NotAllowed("not there")])
def test_what_does_not_pass_by_itself_degrades_at_once(
    session: Session, error: SourceError
) -> None:
    state = source_states.failed(session, "pubmed", error, AT)
    assert (state.status, state.reason) == ("degraded", str(error))


def test_the_names_of_errors_that_degrade_at_once_are_names_of_source_errors() -> None:
    assert all(issubclass(getattr(source_errors, name), SourceError) for name in AT_ONCE)


@pytest.mark.parametrize(("asked", "kept"), [(90.0, 90.0), (53_578.0, 53_578.0), (1e9, 86_400.0)])
def test_an_exhausted_quota_is_left_alone_as_long_as_it_asks_and_a_day_at_most(
    session: Session, asked: float, kept: float
) -> None:
    state = source_states.failed(session, "openalex", QuotaExhausted("enough", asked), AT)
    assert (state.status, state.retry_at) == ("degraded", after(seconds=kept))


def test_the_pause_doubles_up_to_an_hour(session: Session) -> None:
    state = degrade(session)
    pauses = []
    for _ in range(9):
        assert state.retry_at is not None
        at = state.retry_at
        state = source_states.failed(session, "pubmed", Unreachable("down"), at)
        assert state.retry_at is not None
        pauses.append((state.retry_at - at).total_seconds() / 60)
    for pause, longest in zip(pauses, [10, 20, 40, 60, 60, 60, 60, 60, 60], strict=True):
        assert 0.8 * longest <= pause <= longest
    assert state.since == AT


def test_requests_that_fail_together_make_one_pause(session: Session) -> None:
    state = degrade(session)
    for _ in range(5):
        late = source_states.failed(session, "pubmed", Unreachable("too"), after(seconds=30))
        assert late.retry_at == state.retry_at
        assert late.failures == 3
        assert late.last_error == "too"
    quota = source_states.failed(session, "pubmed", QuotaExhausted("x", 7200), after(seconds=30))
    assert quota.retry_at == after(seconds=7230)


def test_when_the_time_has_come_one_trial_goes_and_the_others_wait_for_it(
    session: Session,
) -> None:
    state = degrade(session)
    assert state.retry_at is not None
    at = state.retry_at
    tries = [source_states.may_ask(session, "pubmed", at) for _ in range(3)]
    assert tries == [True, False, False]
    source_states.succeeded(session, "pubmed", at)
    well = source_states.state(session, "pubmed")
    assert well is not None
    assert (well.status, well.reason, well.retry_at, well.since) == ("ok", None, None, at)
    assert source_states.may_ask(session, "pubmed", at)


def test_a_trial_that_fails_makes_the_pause_longer(session: Session) -> None:
    state = degrade(session)
    assert state.retry_at is not None
    assert source_states.may_ask(session, "pubmed", state.retry_at)
    failed = source_states.failed(session, "pubmed", Unreachable("still"), state.retry_at)
    assert (failed.status, failed.failures, failed.since) == ("degraded", 4, AT)
    assert not source_states.may_ask(session, "pubmed", state.retry_at + timedelta(minutes=7))


def test_a_trial_that_was_never_heard_of_again_is_followed_by_another(session: Session) -> None:
    state = degrade(session)
    assert state.retry_at is not None
    assert source_states.may_ask(session, "pubmed", state.retry_at)
    assert source_states.may_ask(session, "pubmed", state.retry_at + timedelta(minutes=1))


def test_a_clock_that_was_set_back_does_not_close_a_source_for_ever(session: Session) -> None:
    state = degrade(session, after(days=1000))
    assert not state.is_open(AT)
    assert source_states.may_ask(session, "pubmed", AT)


def test_an_open_circuit_says_so(session: Session) -> None:
    state = degrade(session)
    assert state.retry_at is not None
    assert state.is_open(AT)
    assert state.is_open(after(minutes=3))
    assert not state.is_open(state.retry_at)


def test_no_failure_is_lost_between_two_writers(engine: sa.Engine) -> None:
    def fail() -> None:
        with Session(engine) as own:
            source_states.failed(own, "pubmed", Unreachable("down"), AT)
            own.commit()

    threads = [threading.Thread(target=fail) for _ in range(3)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    with Session(engine) as session:
        state = source_states.state(session, "pubmed")
    assert state is not None
    assert (state.status, state.failures) == ("degraded", 3)


def test_one_of_many_gets_the_trial(engine: sa.Engine) -> None:
    with Session(engine) as session:
        state = degrade(session)
        session.commit()
    at = state.retry_at
    assert at is not None
    let: list[bool] = []

    def ask() -> None:
        with Session(engine) as own:
            let.append(source_states.may_ask(own, "pubmed", at))
            own.commit()

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(let) == [False] * 5 + [True]
