"""Long polls and event streams: woken by PostgreSQL, never lost, let go at the end."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from api_gateway.http import listen
from messages import Stage
from tests.integration.gateway.conftest import Running, serving

ANSWER = {"abstained": False, "claims": [], "provenance": {"stage_timings_ms": {}}}


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(16) as running:
        yield running


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


def _waiters(gateway: Running) -> int:
    return int(gateway.server.config.app.state.gateway.notices.waiters)  # type: ignore[union-attr]


def _poll(gateway: Running, question_id: str, wait: float = 60) -> httpx.Response:
    return httpx.get(f"{gateway.url}/v1/questions/{question_id}", params={"wait": wait}, timeout=90)


def _events(lines: Iterator[str]) -> list[tuple[str, dict[str, Any]]]:
    events, name = [], ""
    for line in lines:
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            events.append((name, json.loads(line.removeprefix("data: "))))
    return events


@pytest.mark.requirement("DC-3")
def test_a_long_poll_answers_when_the_question_is_answered(
    gateway: Running, pool: ThreadPoolExecutor
) -> None:
    question_id = gateway.ask()
    waiting = pool.submit(_poll, gateway, question_id)
    _until(lambda: _waiters(gateway) == 1)
    gateway.run_stage(question_id, Stage.RETRIEVE)  # a step is no reason to answer yet
    gateway.answer(question_id, ANSWER)
    response = waiting.result(45)
    assert response.json()["status"] == "answered"
    assert _waiters(gateway) == 0


def test_many_waiters_hold_no_thread_of_the_gateway(
    gateway: Running, pool: ThreadPoolExecutor
) -> None:
    question_id = gateway.ask()
    with ThreadPoolExecutor(60) as crowd:
        polls = [crowd.submit(_poll, gateway, question_id) for _ in range(60)]
        _until(lambda: _waiters(gateway) == 60)
        gateway.ask("Still taking questions?")
        gateway.answer(question_id, ANSWER)
        assert {poll.result(45).json()["status"] for poll in polls} == {"answered"}


def test_a_long_poll_of_an_unfinished_question_ends_with_its_present_state(
    gateway: Running,
) -> None:
    question_id = gateway.ask()
    response = _poll(gateway, question_id, 0.2)
    assert response.json()["status"] == "queued"
    assert response.headers["retry-after"] == "1"


def test_an_answer_that_comes_while_a_long_poll_begins_is_not_missed(
    gateway: Running, pool: ThreadPoolExecutor
) -> None:
    for _ in range(25):
        question_id = gateway.ask()
        waiting = pool.submit(_poll, gateway, question_id)
        gateway.answer(question_id, ANSWER)
        assert waiting.result(45).json()["status"] == "answered"


def test_a_stream_tells_each_stage_and_ends_with_the_answer(
    gateway: Running, pool: ThreadPoolExecutor
) -> None:
    question_id = gateway.ask()
    gateway.run_stage(question_id, Stage.RETRIEVE)

    def follow() -> list[tuple[str, dict[str, Any]]]:
        url = f"{gateway.url}/v1/questions/{question_id}/events"
        with httpx.stream("GET", url, timeout=30) as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            assert stream.headers["cache-control"] == "no-store"
            return _events(stream.iter_lines())

    following: Future[list[tuple[str, dict[str, Any]]]] = pool.submit(follow)
    _until(lambda: _waiters(gateway) == 1)
    gateway.run_stage(question_id, Stage.GENERATE)
    gateway.answer(question_id, ANSWER)
    events = following.result(45)
    assert [name for name, _ in events] == ["stage", "stage", "answered"]
    assert [event["stage"] for _, event in events[:2]] == ["retrieve", "generate"]
    assert set(events[0][1]) == {"stage", "status", "ms"}
    assert events[-1][1] == gateway.client.get(f"/v1/questions/{question_id}").json()


def test_a_stream_of_a_failed_question_ends_with_the_failure(gateway: Running) -> None:
    question_id = gateway.ask()
    gateway.fail(question_id, "gone")
    response = gateway.client.get(f"/v1/questions/{question_id}/events")
    [(name, event)] = _events(iter(response.text.splitlines()))
    assert name == "failed"
    assert event["answer"]["abstain_reason"] == "unchecked"


def test_a_stream_takes_any_last_event_id_and_stops_a_client_that_saw_the_end(
    gateway: Running,
) -> None:
    question_id = gateway.ask()
    gateway.run_stage(question_id, Stage.RETRIEVE)
    gateway.answer(question_id, ANSWER)
    url = f"/v1/questions/{question_id}/events"
    for known in ("retrieve.done.1", "what is this"):
        response = gateway.client.get(url, headers={"Last-Event-ID": known})
        assert len(_events(iter(response.text.splitlines()))) == 2
    assert gateway.client.get(url, headers={"Last-Event-ID": "end"}).status_code == 204


def test_waiters_survive_the_loss_of_the_listening_connection(
    gateway: Running, pool: ThreadPoolExecutor
) -> None:
    question_id = gateway.ask()
    waiting = pool.submit(_poll, gateway, question_id)
    _until(lambda: _waiters(gateway) == 1)
    # Answered without a notice, as if it was sent while the connection was broken.
    gateway.execute(
        "INSERT INTO answer VALUES (:id, '{\"provenance\": {}}', 'h', 'stale', now(), now())",
        id=question_id,
    )
    gateway.execute("UPDATE question SET status = 'answered' WHERE id = :id", id=question_id)
    assert not waiting.done()
    listening = "application_name = 'attest-listen' AND datname = current_database()"
    gateway.scalar(
        f"SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE {listening}"
    )
    assert waiting.result(45).json()["status"] == "answered"
    _until(lambda: gateway.count("pg_stat_activity", listening) == 1)


def test_no_notice_is_lost_to_the_sign_of_life_that_the_connection_is_asked_for(
    new_database: Any, settings_for: Any, monkeypatch: pytest.MonkeyPatch, pool: ThreadPoolExecutor
) -> None:
    monkeypatch.setattr(listen, "HEARTBEAT_SECONDS", 0.0005)
    with serving(settings_for(new_database())) as own:
        asked = [own.ask() for _ in range(40)]
        for first in range(0, 40, 8):
            group = asked[first : first + 8]
            waiting = [pool.submit(_poll, own, one) for one in group]
            _until(lambda: _waiters(own) == 8)
            for one in group:
                own.answer(one, ANSWER)
            assert {one.result(45).json()["status"] for one in waiting} == {"answered"}


def test_a_waiter_is_let_go_when_the_gateway_stops(
    new_database: Any, settings_for: Any, pool: ThreadPoolExecutor
) -> None:
    with serving(settings_for(new_database())) as own:
        question_id = own.ask()
        waiting = pool.submit(_poll, own, question_id)
        url = f"{own.url}/v1/questions/{question_id}/events"
        following = pool.submit(httpx.get, url, timeout=30)
        _until(lambda: _waiters(own) == 2)
    assert waiting.result(45).json()["status"] == "queued"
    assert following.result(45).status_code == 200


def test_a_gateway_process_ends_with_0_at_sigterm_and_lets_waiters_go(
    new_database: Any, settings_for: Any, pool: ThreadPoolExecutor
) -> None:
    settings = settings_for(new_database())
    port = _free_port()
    environment = {
        **os.environ,
        "ATTEST_DATABASE_URL": settings.database_url,
        "ATTEST_REDIS_URL": settings.redis_url,
        "ATTEST_PORT": str(port),
    }
    code = "from api_gateway.main import run_gateway; from store.core.settings import Settings; "
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", code + "run_gateway(Settings())"],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=90) as client:
            _until(lambda: _ready(client))
            question = {"question": "Is anybody there?", "patient_context": "Mrs. Xyzzy"}
            question_id = client.post("/v1/questions", json=question).json()["id"]
            waiting = pool.submit(client.get, f"/v1/questions/{question_id}?wait=60")
            threading.Event().wait(0.3)
            process.send_signal(signal.SIGTERM)
            assert waiting.result(45).json()["status"] == "queued"
        _, log = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0, log
    assert "Traceback" not in log
    assert "Xyzzy" not in log
    assert "anybody" not in log


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _ready(client: httpx.Client) -> bool:
    try:
        return client.get("/readyz").status_code == 200
    except httpx.TransportError:
        return False
