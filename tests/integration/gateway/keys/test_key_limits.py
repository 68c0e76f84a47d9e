"""How much a key may ask, and how much of the refusals is written down."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from threading import Barrier
from typing import Any
from uuid import UUID, uuid4

import pytest
import redis
from sqlmodel import Session

from api_gateway.auth.limits import Limiter
from api_gateway.auth.limits import Limits as Granted
from store.access import keys
from store.audit.audit import verify
from store.audit.log import query
from store.core.database import connect
from store.core.settings import Settings
from store.models import ModelUsage, now
from tests.integration.gateway.conftest import Running, serving
from tests.integration.gateway.keys.test_keys import bearer, make_key, problem, refusals


@pytest.mark.requirement("OP-3.7")
def test_op_3_7_a_key_that_asks_too_fast_is_told_when_to_come_back(locked: Running) -> None:
    issued = make_key(locked, "read", limits={"rate_per_minute": 5})
    other = make_key(locked, "read", limits={"rate_per_minute": 5})
    answers = [locked.client.get("/v1/questions", headers=bearer(issued)) for _ in range(6)]
    assert [one.status_code for one in answers[:5]] == [200] * 5
    problem(answers[5], 429, "rate-limited")
    assert 1 <= int(answers[5].headers["retry-after"]) <= 12
    assert locked.client.get("/v1/questions", headers=bearer(other)).status_code == 200
    assert refusals(locked, reason="rate", key_id=str(issued.key.id))


@pytest.mark.requirement("OP-3.7")
def test_op_3_7_the_requests_of_a_day_are_counted(locked: Running) -> None:
    issued = make_key(locked, "read", limits={"requests_a_day": 3})
    answers = [locked.client.get("/v1/questions", headers=bearer(issued)) for _ in range(4)]
    assert [one.status_code for one in answers[:3]] == [200] * 3
    problem(answers[3], 429, "daily-budget-spent")
    assert 1 <= int(answers[3].headers["retry-after"]) <= 86400
    assert refusals(locked, reason="requests_a_day", key_id=str(issued.key.id))


@pytest.mark.requirement("OP-3.7")
def test_op_3_7_a_day_survives_a_redis_that_forgets(locked: Running) -> None:
    issued = make_key(locked, "read", limits={"requests_a_day": 3})

    def ask() -> int:
        return locked.client.get("/v1/questions", headers=bearer(issued)).status_code

    assert ask() == 200
    assert ask() == 200
    # PostgreSQL was told of both, as it is from time to time.
    with Session(locked.store.engine) as session:
        keys.note_use(session, issued.key.id, now(), counted=2)
        session.commit()
    _forget(locked.settings, issued.key.id)
    assert ask() == 200, "the third"
    assert ask() == 429


def _forget(settings: Settings, key_id: UUID) -> None:
    client = redis.Redis.from_url(settings.redis_url)
    for key in client.scan_iter(f"{settings.redis_namespace}:access:{{{key_id}}}*"):
        client.delete(key)
    client.close()


@pytest.mark.requirement("OP-3.7")
def test_op_3_7_without_redis_postgresql_counts(
    new_database: Callable[[], str], settings_for: Any
) -> None:
    settings = settings_for(new_database(), require_keys=True, redis_url="redis://127.0.0.1:1/0")
    with serving(settings) as running:
        slow = make_key(running, "read", limits={"rate_per_minute": 3})
        few = make_key(running, "read", limits={"requests_a_day": 3})
        for issued, kind in ((slow, "rate-limited"), (few, "daily-budget-spent")):
            answers = [running.client.get("/v1/sources", headers=bearer(issued)) for _ in range(4)]
            assert [one.status_code for one in answers[:3]] == [200] * 3
            problem(answers[3], 429, kind)


def test_a_rate_gives_as_many_turns_as_it_says(locked: Running) -> None:
    client = redis.Redis.from_url(locked.settings.redis_url)
    limiter = Limiter(locked.store, client, f"test-{uuid4().hex}")
    key_id, limits = make_key(locked, "read").key.id, Granted(600, 10_000, Decimal(1))
    began = time.monotonic()
    granted = sum(limiter.take(key_id, limits, now()) is None for _ in range(900))
    passed = time.monotonic() - began
    assert 600 <= granted <= 600 + passed * 10 + 1
    client.close()


def test_a_clock_of_redis_that_is_set_back_refuses_no_key_for_as_long(locked: Running) -> None:
    client = redis.Redis.from_url(locked.settings.redis_url)
    prefix = f"test-{uuid4().hex}"
    limiter = Limiter(locked.store, client, prefix)
    key_id, limits = make_key(locked, "read").key.id, Granted(60, 10_000, Decimal(1))
    rate = f"{prefix}:access:{{{key_id}}}:rate"
    client.set(rate, int((time.time() + 6 * 3600) * 1e6))  # written before it was set back
    assert limiter.take(key_id, limits, now()) is None
    granted = sum(limiter.take(key_id, limits, now()) is None for _ in range(100))
    assert 59 <= granted < 100
    client.close()


def test_gateways_that_find_the_day_forgotten_at_one_moment_raise_it_once(locked: Running) -> None:
    key_id, limits = make_key(locked, "read").key.id, Granted(600, 10_000, Decimal(1))
    at, gateways = now(), 6
    client = redis.Redis.from_url(locked.settings.redis_url, decode_responses=True)
    for _ in range(10):
        prefix = f"test-{uuid4().hex}"  # as good as a Redis that forgot
        with Session(locked.store.engine) as session:
            known = keys.note_use(session, key_id, at, counted=1000)
            session.commit()
        ready = Barrier(gateways)

        def take(limiter: Limiter, ready: Barrier = ready) -> object:
            ready.wait()
            return limiter.take(key_id, limits, at)

        limiters = [Limiter(locked.store, client, prefix) for _ in range(gateways)]
        with ThreadPoolExecutor(gateways) as pool:
            assert list(pool.map(take, limiters)) == [None] * gateways
        counted = client.get(f"{prefix}:access:{{{key_id}}}:{keys.day_of(at)}")
        assert known < int(str(counted)) <= known + 2 * gateways
    client.close()


@pytest.mark.requirement("OP-3.7")
def test_op_3_7_an_owner_whose_day_is_spent_asks_no_more_and_still_reads(locked: Running) -> None:
    limits = {"usd_a_day": Decimal("0.50")}
    poor = make_key(locked, "ask", "read", owner="poor", limits=limits)
    other = make_key(locked, "ask", owner="other", limits=limits)
    first = locked.client.post("/v1/questions", json={"question": "q"}, headers=bearer(poor))
    assert first.status_code == 202
    with locked.store.unit_of_work("test") as work:
        for subject, cost in ((first.json()["id"], "0.49"), ("no id", "9"), (None, "9")):
            work.session.add(
                ModelUsage(
                    at=now(),
                    subject=subject,
                    purpose="draft",
                    model="m",
                    outcome="proposed",
                    cost_usd=Decimal(cost),
                )
            )
    second = locked.client.post("/v1/questions", json={"question": "q"}, headers=bearer(poor))
    assert second.status_code == 202
    with locked.store.unit_of_work("test") as work:
        work.session.add(  # what it cost is not known: it counts as the most that it can be
            ModelUsage(
                at=now(),
                subject=second.json()["id"],
                purpose="draft",
                model="m",
                outcome="asked",
                input_tokens=100_000,
                output_tokens=8_000,
            )
        )
    for path, body in (("/v1/questions", {"question": "q"}), ("/v1/notes", {"text": "A note."})):
        response = locked.client.post(path, json=body, headers=bearer(poor))
        problem(response, 429, "daily-budget-spent")
        assert int(response.headers["retry-after"]) >= 1
        assert locked.client.post(path, json=body, headers=bearer(other)).status_code == 202
    assert locked.client.get("/v1/questions", headers=bearer(poor)).status_code == 200
    assert refusals(locked, reason="usd_a_day", key_id=str(poor.key.id))


# --- refusals are bounded -------------------------------------------------------------------------


@pytest.mark.requirement("OP-3.6")
def test_op_3_6_a_stranger_cannot_fill_the_audit(
    new_database: Callable[[], str], settings_for: Any
) -> None:
    with serving(settings_for(new_database(), require_keys=True)) as running:
        for number in range(120):
            running.client.get("/v1/questions", headers=bearer(f"attest_{number:010x}_{'A' * 43}"))
        written = running.count("audit_event", "event = 'access.refused'")
        assert 20 <= written <= 40  # twenty a minute, and a minute may end in between
    # The count of the others is written when the gateway stops, at the latest.
    engine = connect(running.settings.database_url)
    with Session(engine) as session:
        events = query(session, event="access.refused_more").rows
        assert sum(event.payload["count"] for event in events) == 120 - written
        assert verify(session).whole
    engine.dispose()
