"""`Prefer: wait=N` with POST /v1/questions: the answer comes with the submission (RFC 7240)."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import httpx
import pytest
from sqlalchemy.exc import OperationalError

from api_gateway.questions import routes as routes
from api_gateway.state import Gateway
from tests.integration.gateway.conftest import Running, serving

ANSWER = {"abstained": False, "claims": [], "provenance": {"stage_timings_ms": {}}}


def ask(gateway: Running, text: str, *prefer: str, **headers: str) -> httpx.Response:
    """Ask with these lines of the header `Prefer`."""
    lines = [("Prefer", one) for one in prefer] + list(headers.items())
    return httpx.post(
        f"{gateway.url}/v1/questions", json={"question": text}, headers=lines, timeout=90
    )


def accepted(gateway: Running, text: str) -> str:
    """The id of the question with these words, once it is there."""
    deadline = time.monotonic() + 60
    while not gateway.count("question", "text = :text", text=text):
        assert time.monotonic() < deadline, "it was not accepted"
        time.sleep(0.01)
    return str(gateway.scalar("SELECT id FROM question WHERE text = :text", text=text))


def parts(gateway: Running) -> Gateway:
    """The parts of the gateway that serves."""
    found: Gateway = gateway.server.config.app.state.gateway  # type: ignore[union-attr]
    return found


@contextmanager
def asking(gateway: Running, text: str, *prefer: str) -> Iterator[Future[httpx.Response]]:
    """Ask beside the block."""
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(ask, gateway, text, *prefer)


def test_who_would_rather_wait_is_answered_with_the_question_itself(gateway: Running) -> None:
    with asking(gateway, "Will it wait?", "wait=60") as waiting:
        question_id = accepted(gateway, "Will it wait?")
        gateway.answer(question_id, ANSWER)
        response = waiting.result(45)
    assert response.status_code == 200
    assert response.headers["location"] == f"/v1/questions/{question_id}"
    assert response.headers["preference-applied"] == "wait=60"
    got = gateway.client.get(response.headers["location"])
    assert response.json() == got.json()
    assert response.json()["status"] == "answered"
    assert response.headers["etag"] == got.headers["etag"]


def test_an_answer_that_comes_while_the_question_is_accepted_is_not_missed(
    gateway: Running,
) -> None:
    for number in range(25):
        text = f"At once, {number}?"
        with asking(gateway, text, "wait=60") as waiting:
            gateway.answer(accepted(gateway, text), ANSWER)
            assert waiting.result(45).json()["status"] == "answered"


def test_a_question_that_is_given_up_is_finished_too(gateway: Running) -> None:
    with asking(gateway, "Will it fail?", "wait=60") as waiting:
        gateway.fail(accepted(gateway, "Will it fail?"), "gone")
        response = waiting.result(45)
    assert (response.status_code, response.json()["status"]) == (200, "failed")


def test_an_answer_that_is_not_sealed_is_not_waited_for_in_vain_and_not_shown(
    gateway: Running,
) -> None:
    with asking(gateway, "Is it sealed?", "wait=1") as waiting:
        gateway.answer(accepted(gateway, "Is it sealed?"), ANSWER, sealed=False)
        response = waiting.result(45)
    assert response.status_code == 202
    assert "answer" not in response.json()


@pytest.mark.parametrize("wait", ["0", "1"])
def test_who_would_not_wait_long_enough_is_told_that_it_was_accepted(
    gateway: Running, wait: str
) -> None:
    response = ask(gateway, f"Is {wait} s enough?", f"wait={wait}")
    assert response.status_code == 202
    assert set(response.json()) == {"id", "status", "poll_after_ms"}
    assert response.headers["location"] == f"/v1/questions/{response.json()['id']}"
    assert response.headers["preference-applied"] == f"wait={wait}"


@pytest.mark.parametrize(
    "prefer",
    [
        (),
        ("",),
        ("wait",),
        ("wait=",),
        ("wait=soon",),
        ("wait=-1",),
        ("wait=1.5",),
        ("wait=\xb2",),
        ("respond-async",),
        ("wait=later, wait=60",),
        ('note="x, wait=60"',),
    ],
)
def test_what_is_no_such_preference_is_as_if_it_was_not_said(
    gateway: Running, prefer: tuple[str, ...]
) -> None:
    lines = [(b"Prefer", one.encode("latin-1")) for one in prefer]
    response = gateway.client.post(
        "/v1/questions", json={"question": "Without?"}, headers=lines, timeout=30
    )
    assert response.status_code == 202
    assert "preference-applied" not in response.headers


@pytest.mark.parametrize(
    ("prefer", "applied"),
    [
        (("wait=3600",), "wait=60"),
        (("wait=" + "9" * 5000,), "wait=60"),
        (("respond-async, WAIT = 60; strictly",), "wait=60"),
        (("handling=lenient", "wait=60"), "wait=60"),
        (("wait=060, wait=1",), "wait=60"),
    ],
)
def test_the_preference_is_found_among_others_and_never_exceeds_a_minute(
    gateway: Running, prefer: tuple[str, ...], applied: str
) -> None:
    text = f"Among {len(prefer[0])} others of {len(prefer)}?"
    with asking(gateway, text, *prefer) as waiting:
        gateway.answer(accepted(gateway, text), ANSWER)
        response = waiting.result(45)
    assert (response.status_code, response.headers["preference-applied"]) == (200, applied)


def test_the_same_key_gives_the_first_question_again_finished_or_not(gateway: Running) -> None:
    key = uuid4().hex
    first = ask(gateway, "Once only?", "wait=0", **{"Idempotency-Key": key})
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(ask, gateway, "Once only?", "wait=60", **{"Idempotency-Key": key})
        deadline = time.monotonic() + 60
        subject = first.json()["id"]
        while subject not in parts(gateway).notices._waiting:
            assert time.monotonic() < deadline, "it does not wait"
            time.sleep(0.01)
        gateway.answer(subject, ANSWER)
        second = waiting.result(45)
    third = ask(gateway, "Once only?", "wait=60", **{"Idempotency-Key": key})
    assert [one.status_code for one in (first, second, third)] == [202, 200, 200]
    assert {one.json()["id"] for one in (first, second, third)} == {subject}
    assert second.content == third.content
    assert gateway.count("question", "idempotency_key = :key", key=key) == 1


def test_many_who_wait_hold_no_thread_of_the_gateway(gateway: Running) -> None:
    texts = [f"One of many, {number}?" for number in range(40)]
    with ThreadPoolExecutor(40) as crowd:
        waiting = [crowd.submit(ask, gateway, text, "wait=60") for text in texts]
        ids = [accepted(gateway, text) for text in texts]
        assert gateway.ask("Still taking questions?")
        for one in ids:
            gateway.answer(one, ANSWER)
        assert {one.result(45).status_code for one in waiting} == {200}
    assert parts(gateway).notices.waiters == 0


def test_what_was_accepted_is_said_to_be_where_the_database_goes_away_meanwhile(
    gateway: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise OperationalError("SELECT", {}, Exception("away"))

    monkeypatch.setattr(routes, "snapshot", away)
    response = ask(gateway, "Is it kept?", "wait=0")
    assert response.status_code == 202
    assert response.json()["id"] == accepted(gateway, "Is it kept?")


def test_who_waits_is_let_go_when_the_gateway_stops(new_database: Any, settings_for: Any) -> None:
    with ThreadPoolExecutor(1) as pool:
        with serving(settings_for(new_database())) as own:
            waiting = pool.submit(ask, own, "Anybody there?", "wait=60")
            accepted(own, "Anybody there?")
            threading.Event().wait(0.2)
        assert waiting.result(45).status_code == 202
