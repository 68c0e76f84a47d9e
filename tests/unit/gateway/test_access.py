"""Who may ask, without a server: scopes, what is refused in which words, how much is audited."""

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api_gateway.auth.access import LOCAL, Caller, Scope, needs, owned, require
from api_gateway.auth.limits import until_midnight
from api_gateway.auth.refusals import Allowance, Refusals, Refused
from api_gateway.auth.requirement import keys_required
from api_gateway.http.host_names import is_loopback, url_of
from api_gateway.main import require_a_key
from api_gateway.problems import Problem, not_found
from knowledge.operation.access import Noted, RefusalPolicy, access_policy
from store.access import keys
from store.core.settings import Settings
from store.models import Note

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.10", "::1", "localhost", "a.localhost"])
def test_names_of_this_machine(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:80"),
        ("example.org", "http://example.org:80"),
        ("::1", "http://[::1]:80"),
        ("::", "http://[::]:80"),
    ],
)
def test_an_address_of_ipv6_stands_in_brackets(host: str, url: str) -> None:
    assert url_of(host, 80) == url
    assert urlsplit(url).hostname == host


ELSEWHERE = ["0.0.0.0", "::", "", "10.0.0.1", "example.org", "127.0.0.1.example.org"]


@pytest.mark.requirement("OP-3.3")
@pytest.mark.parametrize("host", ELSEWHERE)
def test_op_3_3_keys_are_asked_for_wherever_other_machines_can_ask(host: str) -> None:
    assert not is_loopback(host)
    assert keys_required(Settings().model_copy(update={"host": host}))


@pytest.mark.requirement("OP-3.3")
def test_op_3_3_on_loopback_keys_are_asked_for_if_it_is_set() -> None:
    assert not keys_required(Settings(host="127.0.0.1"))
    assert keys_required(Settings(host="127.0.0.1", require_keys=True))


def test_the_scopes_of_keys_are_those_of_routes() -> None:
    assert tuple(Scope) == keys.SCOPES
    assert LOCAL.scopes == set(Scope)


@pytest.mark.requirement("OP-3.2")
@given(has=st.sets(st.sampled_from(Scope)), wanted=st.sets(st.sampled_from(Scope), min_size=1))
def test_op_3_2_a_key_passes_with_one_of_the_scopes_and_never_without(
    has: set[Scope], wanted: set[Scope]
) -> None:
    caller = Caller("a", uuid4(), frozenset(has))
    if has & wanted:
        require(caller, sorted(wanted))
        return
    with pytest.raises(Refused) as refused:
        require(caller, sorted(wanted))
    assert (refused.value.status_code, refused.value.reason) == (403, "missing_scope")


def test_a_dependency_names_its_scopes() -> None:
    assert needs(Scope.AUDIT, Scope.READ).dependency.scopes == (Scope.AUDIT, Scope.READ)


def _note(owner: str) -> Note:
    return Note(id=uuid4(), text="", text_hash="", request_id=uuid4(), owner=owner)


@pytest.mark.requirement("OP-3.5")
def test_op_3_5_somebody_elses_row_is_missing_in_the_same_words() -> None:
    request_id, caller = uuid4(), Caller("ward-1", uuid4(), frozenset(Scope))
    mine, theirs = _note("ward-1"), _note("ward-2")
    assert owned(caller, mine, "note") is mine
    with pytest.raises(Problem) as missing:
        owned(caller, None, "note")
    with pytest.raises(Refused) as foreign:
        owned(caller, theirs, "note")
    assert foreign.value.body(request_id) == missing.value.body(request_id)
    assert foreign.value.body(request_id) == not_found("note").body(request_id)
    assert foreign.value.headers == missing.value.headers
    assert (foreign.value.reason, foreign.value.target) == ("not_owner", theirs.id)


def test_the_actor_of_events_is_the_key() -> None:
    key_id = UUID(int=7)
    assert Caller("a", key_id, frozenset()).actor("gateway") == f"key:{key_id}"
    assert LOCAL.actor("operator") == "operator"


# --- what of the refusals is audited --------------------------------------------------------------


class Kept:
    """A store that keeps events; while `away` it raises, as one without its database."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.away = False

    def unit_of_work(self, actor: str, request_id: UUID | None = None) -> "Kept":
        return self

    def __enter__(self) -> "Kept":
        if self.away:
            raise ConnectionError("away")
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def record(self, event: str, subject: object, **payload: Any) -> None:
        self.events.append((event, payload))

    def total(self) -> int:
        """Refusals that the events tell of."""
        return sum(payload.get("count", 1) for _, payload in self.events)


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.at = NOON

    def __call__(self) -> datetime:
        return self.at


POLICY = RefusalPolicy(
    strangers=Noted(per_minute=3, per_day=10),
    keys=Noted(per_minute=5, per_day=20),
    limited=Noted(per_minute=1, per_day=2),
    counted_seconds=600,
)


def _refusals() -> tuple[Refusals, Kept, Clock]:
    store, clock = Kept(), Clock()
    return Refusals(store, POLICY, clock), store, clock  # type: ignore[arg-type]


def _refused(reason: str, key_id: UUID | None = None) -> Refused:
    return Refused(401, "no", reason=reason, key_id=key_id)


@pytest.mark.requirement("OP-3.6")
def test_op_3_6_a_strangers_refusals_are_events_up_to_a_number_and_then_a_count() -> None:
    refusals, store, clock = _refusals()
    for _ in range(1000):
        refusals.note(_refused("unknown_key"), "GET /v1/questions", None)
    assert [event for event, _ in store.events] == ["access.refused"] * 3
    assert refusals.flush() == 0, "not due yet"
    clock.at += timedelta(seconds=600)
    assert refusals.flush() == 1
    event, payload = store.events[-1]
    assert (event, payload["reason"], payload["count"]) == (
        "access.refused_more",
        "unknown_key",
        997,
    )
    assert refusals.flush(everything=True) == 0


@pytest.mark.requirement("OP-3.6")
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["no_key", "unknown_key", "missing_scope", "rate"]),
            st.integers(0, 90),
            st.booleans(),
        ),
        max_size=300,
    )
)
def test_op_3_6_whatever_happens_no_refusal_is_lost_and_the_events_are_bounded(
    steps: list[tuple[str, int, bool]],
) -> None:
    refusals, store, clock = _refusals()
    key_id = uuid4()
    for reason, seconds, away in steps:
        clock.at += timedelta(seconds=seconds)
        store.away = away
        refusals.note(_refused(reason, key_id), "GET /v1/notes/{note_id}", None)
        refusals.flush()
    store.away = False
    refusals.flush(everything=True)
    assert store.total() == len(steps)
    days = 1 + (clock.at.date() - NOON.date()).days
    single = sum(event == "access.refused" for event, _ in store.events)
    assert single <= days * (10 + 10 + 20 + 2)


@given(
    seconds=st.lists(st.integers(0, 40), max_size=200),
    per_minute=st.integers(1, 10),
    per_day=st.integers(1, 50),
)
def test_an_allowance_never_gives_more_than_it_says(
    seconds: list[int], per_minute: int, per_day: int
) -> None:
    allowance, at = Allowance(Noted(per_minute=per_minute, per_day=per_day)), NOON
    taken: list[datetime] = []
    for step in seconds:
        at += timedelta(seconds=step)
        if allowance.take(at):
            taken.append(at)
    minutes = [int(one.timestamp() // 60) for one in taken]
    assert all(minutes.count(one) <= per_minute for one in set(minutes))
    days = [one.date() for one in taken]
    assert all(days.count(one) <= per_day for one in set(days))


def test_refusals_of_one_key_do_not_use_up_what_another_ones_may_write() -> None:
    refusals, store, _ = _refusals()
    for _ in range(20):
        refusals.note(_refused("not_owner", UUID(int=1)), "r", None)
    refusals.note(_refused("not_owner", UUID(int=2)), "r", None)
    assert [payload["key_id"] for _, payload in store.events].count(str(UUID(int=2))) == 1
    # Who shows a prefix without its secret is nobody: many prefixes give him no more events.
    for number in range(20):
        refusals.note(_refused("wrong_secret", UUID(int=number)), "r", None)
    assert sum(payload["reason"] == "wrong_secret" for _, payload in store.events) == 3


def test_fifty_tries_of_a_key_at_each_of_five_kinds_of_rows_are_events_of_their_own() -> None:
    assert access_policy().refusals.keys.per_minute >= 250


@pytest.mark.parametrize(
    ("at", "seconds"),
    [
        (NOON, 12 * 3600),
        (datetime(2026, 11, 22, 23, 59, 59, 500_000, UTC), 1),
        (datetime(2026, 11, 22, 0, 0, tzinfo=UTC), 86400),
    ],
)
def test_a_day_ends_at_midnight_utc(at: datetime, seconds: int) -> None:
    assert until_midnight(at) == seconds


def test_where_the_database_cannot_tell_of_keys_the_gateway_starts_and_asks_for_them() -> None:
    from api_gateway.app import create_app

    settings = Settings(
        host="0.0.0.0",
        database_url="postgresql://127.0.0.1:1/none",
        redis_url="redis://127.0.0.1:1/0",
    )
    require_a_key(create_app(settings).state.gateway)
    assert keys_required(settings)
