"""More than can be done: who is refused, with what words, and who is not."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest
from sqlmodel import Session

from api_gateway.backpressure.load import FRESH_SECONDS
from messages import QUESTION_STAGES
from store.models import StageRun, now
from store.pipeline.backlog import backlog
from tests.integration.gateway.conftest import Running, serving
from tests.integration.gateway.keys.test_keys import problem

MOST = 4
SUBMISSIONS: dict[str, dict[str, Any]] = {
    "/v1/questions": {"question": "Does ctDNA predict recurrence?"},
    "/v1/verifications": {"text": "Aspirin lowers the risk."},
    "/v1/notes": {"text": "Chief complaint: cough."},
    "/v1/extractions": {"text": "Glucose 5.4 mmol/L"},
    "/v1/documents": {"source_type": "pubmed", "title": "A title", "text": "A sentence."},
}
FORMS: dict[str, tuple[str, dict[str, str]]] = {
    "/ask": ("/v1/questions", {"question": "Does zorbinib help?"}),
    "/verify": ("/v1/verifications", {"text": "Zorbinib lowers the risk."}),
    "/notes": ("/v1/notes", {"text": "Chief complaint: zorbinib."}),
    "/extractions": ("/v1/extractions", {"text": "Zorbinib 5.4 mmol/L"}),
}


@pytest.fixture
def small(new_database: Callable[[], str], settings_for: Any) -> Iterator[Running]:
    """A gateway where of each kind only `MOST` may wait. No worker runs."""
    with serving(settings_for(new_database(), backlog_max=MOST)) as running:
        yield running


@pytest.fixture
def gateway(new_database: Callable[[], str], settings_for: Any) -> Iterator[Running]:
    """A gateway with the limits that it has by default, over a database of this test alone."""
    with serving(settings_for(new_database())) as running:
        yield running


def fill(running: Running, path: str) -> list[httpx.Response]:
    """Submit until it is full."""
    answers = [running.client.post(path, json=SUBMISSIONS[path]) for _ in range(MOST)]
    assert [one.status_code for one in answers] == [202] * MOST
    return answers


def refused_so_far(running: Running, work: str) -> float:
    lines = running.client.get("/metrics").text.splitlines()
    name = f'attest_refused_by_load_total{{work="{work}"}} '
    return float(next(one for one in lines if one.startswith(name)).rpartition(" ")[2])


@pytest.mark.parametrize("path", SUBMISSIONS)
def test_a_full_queue_refuses_its_own_kind_of_work_and_no_other(small: Running, path: str) -> None:
    fill(small, path)
    rows = small.count("outbox")
    refused = small.client.post(path, json=SUBMISSIONS[path])
    body = problem(refused, 429, "overloaded")
    assert refused.headers["content-type"] == "application/problem+json"
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    work = path.rpartition("/")[2]
    assert f"{MOST} {work} wait already" in body["detail"]
    assert f"send it again in {refused.headers['retry-after']} seconds" in body["detail"]
    assert small.count("outbox") == rows, "nothing of it was kept"
    assert refused_so_far(small, work) == 1
    assert small.count("audit_event", "event LIKE 'access.%'") == 0
    for other, given in SUBMISSIONS.items():
        if other != path:
            assert small.client.post(other, json=given).status_code == 202, other


@pytest.mark.parametrize("path", SUBMISSIONS)
def test_what_was_accepted_is_answered_again_to_its_key_and_to_no_other(
    small: Running, path: str
) -> None:
    body, key = SUBMISSIONS[path], {"Idempotency-Key": "first"}
    first = small.client.post(path, json=body, headers=key)
    for _ in range(MOST - 1):
        assert small.client.post(path, json=body).status_code == 202
    again = small.client.post(path, json=body, headers=key)
    assert (again.status_code, again.json()["id"]) == (202, first.json()["id"])
    field = "question" if path == "/v1/questions" else "text"
    other = small.client.post(path, json={**body, field: "Another?"}, headers=key)
    problem(other, 422, "idempotency-key-reused")
    new = small.client.post(path, json=body, headers={"Idempotency-Key": "second"})
    problem(new, 429, "overloaded")
    assert small.client.get(f"{path}/{first.json()['id']}").status_code == 200


def test_there_is_room_again_as_soon_as_something_is_done(small: Running) -> None:
    fill(small, "/v1/questions")
    assert small.client.post("/v1/questions", json={"question": "q"}).status_code == 429
    small.execute("UPDATE outbox SET status = 'done' WHERE id = (SELECT id FROM outbox LIMIT 1)")
    time.sleep(FRESH_SECONDS + 2)
    assert small.client.post("/v1/questions", json={"question": "q"}).status_code == 202
    assert small.client.post("/v1/questions", json={"question": "q"}).status_code == 429


def test_many_at_once_do_not_slip_through_between_two_readings(small: Running) -> None:
    """What one gateway lets in it counts at once; only what its threads have under their hands
    while it reads anew can be missed."""

    def submit(_: int) -> int:
        return httpx.post(f"{small.url}/v1/questions", json={"question": "q"}).status_code

    with ThreadPoolExecutor(12) as pool:
        statuses = list(pool.map(submit, range(60)))
    assert set(statuses) == {202, 429}
    assert MOST <= statuses.count(202) <= MOST + 12


@pytest.mark.parametrize("path", FORMS)
def test_a_page_says_why_and_keeps_what_was_written(small: Running, path: str) -> None:
    interface, form = FORMS[path]
    fill(small, interface)
    page = small.client.post(path, data=form, headers={"Accept": "text/html"})
    assert page.status_code == 429
    assert page.headers["content-type"].startswith("text/html")
    assert 1 <= int(page.headers["retry-after"]) <= 60
    assert "wait already" in page.text
    assert f"send it again in {page.headers['retry-after']} seconds" in page.text
    assert "orbinib" in page.text, "what was written is still there"


def test_asking_again_from_a_page_is_refused_as_a_page(small: Running) -> None:
    first = fill(small, "/v1/questions")[0].json()["id"]
    page = small.client.post(f"/questions/{first}/again", headers={"Accept": "text/html"})
    assert page.status_code == 429
    assert "More is waiting than can be done in time" in page.text


# --- by speed -------------------------------------------------------------------------------------


def wait_since(running: Running, seconds: float, count: int = 20) -> None:
    """Let `count` questions wait for so long."""
    for _ in range(count):
        running.ask()
    running.execute(
        "UPDATE outbox SET created_at = now() - make_interval(secs => :s)", s=float(seconds)
    )
    time.sleep(2.1)  # the reading that let them in is over


def end(running: Running, stage: str, count: int, seconds_ago: float) -> None:
    """Let `count` pieces of work have ended at a stage."""
    at = now() - timedelta(seconds=seconds_ago)
    with Session(running.store.engine) as session:
        for _ in range(count):
            session.add(
                StageRun(
                    stage=stage,
                    subject=str(uuid4()),
                    input_hash="h",
                    status="done",
                    attempts=1,
                    token=0,
                    worker="test",
                    started_at=at,
                    finished_at=at,
                )
            )
        session.commit()


def test_a_question_that_would_wait_too_long_is_refused_and_a_document_is_not(
    gateway: Running,
) -> None:
    wait_since(gateway, 60)
    end(gateway, "audit", 10, seconds_ago=30)  # ten a minute: twenty wait for two
    refused = gateway.client.post("/v1/questions", json={"question": "q"})
    assert "would wait for about 12" in problem(refused, 429, "overloaded")["detail"]
    assert refused.headers["retry-after"] == "60"
    record = SUBMISSIONS["/v1/documents"]
    assert gateway.client.post("/v1/documents", json=record).status_code == 202


def test_as_many_that_are_done_fast_enough_are_let_in(gateway: Running) -> None:
    wait_since(gateway, 60)
    end(gateway, "audit", 60, seconds_ago=30)  # one a second
    assert gateway.client.post("/v1/questions", json={"question": "q"}).status_code == 202


def test_what_ended_before_or_elsewhere_says_nothing_of_the_speed(gateway: Running) -> None:
    wait_since(gateway, 60)
    end(gateway, "audit", 10, seconds_ago=200)
    end(gateway, "retrieve", 10, seconds_ago=10)
    assert gateway.client.post("/v1/questions", json={"question": "q"}).status_code == 202


def test_what_waits_for_its_time_does_not_count(gateway: Running) -> None:
    for _ in range(5):
        gateway.ask()
    stages = [stage.value for stage in QUESTION_STAGES]
    with gateway.store.reading() as session:
        assert backlog(session, stages, most=100, few=100).waiting == 5
        assert backlog(session, stages, most=3, few=100).waiting == 3
        assert backlog(session, ["ingest"], most=100, few=100).waiting == 0
    gateway.execute(
        "UPDATE outbox SET status = 'pending', not_before = now() + interval '1 minute' "
        "WHERE id IN (SELECT id FROM outbox LIMIT 2)"
    )
    gateway.execute(
        "UPDATE outbox SET status = 'pending' WHERE id = "
        "(SELECT id FROM outbox WHERE status = 'published' LIMIT 1)"
    )
    with gateway.store.reading() as session:
        assert backlog(session, stages, most=100, few=100).waiting == 3
