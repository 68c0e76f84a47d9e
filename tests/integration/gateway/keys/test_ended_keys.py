"""A key that was revoked or has expired shows nothing more, not even to whoever waits with it."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from uuid import uuid4

import httpx
import pytest

from api_gateway.auth.access import Caller
from api_gateway.auth.holding import Holding
from store.access import keys
from store.access.keys import Issued
from store.core.database import connect
from store.models import now
from store.sources import refreshes, watches
from tests.integration.gateway.conftest import Running
from tests.integration.gateway.keys.test_keys import bearer, make_key, problem, refusals
from tests.integration.gateway.keys.test_owners import BODIES
from tests.integration.gateway.keys.test_signin import sign_in
from tests.servers import wait_until

End = Callable[[Running, Issued], str]


def _revoke(running: Running, issued: Issued) -> str:
    with running.store.unit_of_work("cli") as work:
        keys.revoke(work, issued.key.id)
    return "revoked_key"


def _expire(running: Running, issued: Issued) -> str:
    running.execute(
        "UPDATE access_key SET expires_at = :at WHERE id = :id", at=now(), id=issued.key.id
    )
    return "revoked_key"  # by then the caller holds what the key said when it was let in


ENDS = pytest.mark.parametrize("end", [_revoke, _expire], ids=["revoked", "expired"])


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api_gateway.auth.holding.LOOK_SECONDS", 0.05)


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as running:
        yield running


def _submit(running: Running, issued: Issued, kind: str) -> str:
    path, body = BODIES[kind]
    found = running.client.post(path, json=body, headers=bearer(issued))
    return f"{path}/{found.raise_for_status().json()['id']}"


def _refresh(running: Running) -> str:
    with running.store.unit_of_work("test") as work:
        made = watches.follow(work, "ema", f"followed {uuid4()}", "user", now())
        return f"/v1/refreshes/{refreshes.request(work, made, 'user', now()).id}"


def _waits(running: Running) -> bool:
    return bool(running.server.config.app.state.gateway.notices.waiters)  # type: ignore[union-attr]


def _follow(url: str, headers: dict[str, str], begun: threading.Event) -> list[str]:
    """The lines of an event stream, once it has ended."""
    with httpx.stream("GET", url, headers=headers, timeout=60) as stream:
        assert stream.status_code == 200
        begun.set()
        return list(stream.iter_lines())


@ENDS
@pytest.mark.parametrize("kind", [*BODIES, "refresh"])
def test_a_long_poll_ends_with_its_key(
    locked: Running, pool: ThreadPoolExecutor, kind: str, end: End
) -> None:
    issued = make_key(locked)
    path = _refresh(locked) if kind == "refresh" else _submit(locked, issued, kind)
    polled: Future[httpx.Response] = pool.submit(
        httpx.get, f"{locked.url}{path}", params={"wait": 60}, headers=bearer(issued), timeout=90
    )
    wait_until(lambda: _waits(locked), seconds=20)
    reason = end(locked, issued)
    told = problem(polled.result(45), 401, "unauthenticated")
    assert told["detail"] == "the key is not known here, has expired or was revoked"
    assert refusals(locked, key_id=str(issued.key.id), reason=reason)


@ENDS
def test_an_event_stream_ends_with_its_key(
    locked: Running, pool: ThreadPoolExecutor, end: End
) -> None:
    issued, other = make_key(locked), make_key(locked)
    path = _submit(locked, issued, "question")
    begun = threading.Event()
    url = f"{locked.url}{path}/events"
    followed = pool.submit(_follow, url, bearer(issued), begun)
    others_begun = threading.Event()
    others = pool.submit(_follow, url, bearer(other), others_begun)
    assert begun.wait(60)
    assert others_begun.wait(60)
    end(locked, issued)
    assert not any("answered" in line or "failed" in line for line in followed.result(45))
    assert not others.done()
    end(locked, other)
    others.result(45)


def test_a_stream_of_a_browser_ends_when_it_signs_out(
    locked: Running, pool: ThreadPoolExecutor
) -> None:
    issued = make_key(locked)
    path = _submit(locked, issued, "question")
    with httpx.Client(base_url=locked.url, timeout=30) as browser:
        sign_in(browser, issued)
        cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
        begun = threading.Event()
        url = f"{locked.url}{path}/events"
        followed = pool.submit(_follow, url, {"Cookie": cookies}, begun)
        assert begun.wait(60)
        locked.execute("DELETE FROM page_session WHERE key_id = :id", id=issued.key.id)
        followed.result(45)


def test_a_question_that_was_accepted_is_said_to_be_so_though_its_key_ended(
    locked: Running, pool: ThreadPoolExecutor
) -> None:
    issued = make_key(locked)
    sent: Future[httpx.Response] = pool.submit(
        httpx.post,
        f"{locked.url}/v1/questions",
        json={"question": "Is it kept?"},
        headers={**bearer(issued), "Prefer": "wait=60"},
        timeout=90,
    )
    wait_until(lambda: _waits(locked), seconds=20)
    _revoke(locked, issued)
    found = sent.result(45)
    assert found.status_code == 202
    assert locked.count("question", "id = :id", id=found.json()["id"]) == 1


@pytest.mark.parametrize("left", [1, -1])
def test_while_the_database_is_away_a_key_only_expires(left: int) -> None:
    """Nobody can revoke one then."""
    caller = Caller("ward-1", uuid4(), frozenset(), expires_at=now() + timedelta(days=left))

    async def look() -> str | None:
        holding = Holding(connect("postgresql+psycopg://127.0.0.1:1/nothing"))
        with holding.waiting(caller, asyncio.Event()) as held:
            await holding.look()
            assert held.ended is held.woken.is_set()
            return held.reason

    assert asyncio.run(look()) == ("expired_key" if left < 0 else None)
