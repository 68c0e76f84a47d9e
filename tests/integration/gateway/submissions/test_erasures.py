"""Erasing over HTTP: the words go, the routes say so, and what is under way is left alone."""

from typing import Any
from uuid import uuid4

import httpx
import pytest
import sqlalchemy as sa

from messages import Stage, parse
from store.pipeline import ledger
from store.texts.notes import NOTES
from store.texts.verifications import VERIFICATIONS
from tests.integration.gateway.conftest import Running

ANSWER = {"claims": [], "provenance": {"generator": "extractive"}, "summary": {"text": "words"}}
PATHS = {"question": "/v1/questions", "note": "/v1/notes", "verification": "/v1/verifications"}


def make(gateway: Running, kind: str, *, ended: bool = True) -> str:
    """A question, note or pasted text; its path."""
    if kind == "question":
        subject = gateway.ask("Is it so for Mrs. Xyzzy?")
        if ended:
            gateway.answer(subject, ANSWER)
    elif kind == "note":
        body: dict[str, Any] = {"text": "HPI\nXyzzy coughs.", "title": "Xyzzy"}
        subject = gateway.client.post(PATHS[kind], json=body).json()["id"]
        if ended:
            with gateway.store.unit_of_work("test") as work:
                NOTES.done(work, subject, {"summary": "Xyzzy coughs."})
    else:
        body = {"text": "Xyzzy was enrolled."}
        subject = gateway.client.post(PATHS[kind], json=body).json()["id"]
        if ended:
            with gateway.store.unit_of_work("test") as work:
                VERIFICATIONS.done(work, subject, {"claims": []})
    return f"{PATHS[kind]}/{subject}"


def problem(response: httpx.Response, status: int, kind: str) -> dict[str, Any]:
    assert response.status_code == status, response.text
    body: dict[str, Any] = response.json()
    assert body["type"] == f"urn:attest:problem:{kind}"
    assert "Xyzzy" not in response.text
    return body


@pytest.mark.requirement("OP-6.1")
@pytest.mark.parametrize("kind", list(PATHS))
def test_op_6_1_what_was_erased_is_a_410_that_says_so(gateway: Running, kind: str) -> None:
    path = make(gateway, kind)
    assert gateway.client.delete(path).status_code == 204
    said = problem(gateway.client.get(path), 410, "erased")
    assert said["erased_at"]
    assert gateway.count(kind, "text ILIKE '%xyzzy%' AND id = :id", id=path[-36:]) == 0


@pytest.mark.parametrize("kind", list(PATHS))
def test_the_page_of_what_was_erased_is_its_tombstone(gateway: Running, kind: str) -> None:
    path = make(gateway, kind)
    assert gateway.client.delete(path).status_code == 204
    subject = path.removeprefix("/v1").replace("/verifications/", "/verify/")
    told = gateway.client.get(subject, headers={"Accept": "text/html"})
    assert told.status_code == 410
    assert told.headers["content-type"].startswith("text/html")
    assert f"The words of this {kind} were erased." in told.text
    assert "They were erased on" in told.text
    assert "Xyzzy" not in told.text


def test_an_erased_question_is_a_line_of_the_history_without_words(gateway: Running) -> None:
    path = make(gateway, "question")
    assert gateway.client.delete(path).status_code == 204
    told = gateway.client.get("/questions", headers={"Accept": "text/html"})
    assert told.status_code == 200
    assert "A question whose words were erased" in told.text
    assert "Xyzzy" not in told.text


@pytest.mark.parametrize("kind", list(PATHS))
def test_what_is_being_worked_on_is_a_409_and_keeps_its_words(gateway: Running, kind: str) -> None:
    path = make(gateway, kind, ended=False)
    with gateway.store.at_once() as session:
        query = sa.text("SELECT id, stage, payload FROM outbox WHERE payload::text LIKE :subject")
        promise = session.execute(query, {"subject": f"%{path[-36:]}%"}).one()
        message = parse(Stage(promise.stage), promise.payload)
        ledger.claim(
            session,
            stage=promise.stage,
            subject=message.subject,
            input_hash=message.input_hash(),
            worker="w",
            outbox_id=promise.id,
            lease_seconds=60.0,
        )
    problem(gateway.client.delete(path), 409, "under-way")
    assert gateway.client.get(path).status_code == 200
    assert gateway.count(kind, "text ILIKE '%xyzzy%' AND id = :id", id=path[-36:]) == 1


@pytest.mark.parametrize("kind", list(PATHS))
def test_what_waits_for_a_worker_is_erased(gateway: Running, kind: str) -> None:
    path = make(gateway, kind, ended=False)
    assert gateway.client.delete(path).status_code == 204
    assert gateway.client.get(path).status_code == 410
    assert gateway.count(kind, "text ILIKE '%xyzzy%' AND id = :id", id=path[-36:]) == 0


@pytest.mark.parametrize("kind", list(PATHS))
def test_erasing_twice_is_a_204_twice_and_one_event(gateway: Running, kind: str) -> None:
    path = make(gateway, kind)
    assert [gateway.client.delete(path).status_code for _ in range(2)] == [204, 204]
    where = "event = :event AND subject = :id"
    assert gateway.count("audit_event", where, event=f"{kind}.erased", id=path[-36:]) == 1


@pytest.mark.parametrize("path", [*PATHS.values(), "/v1/extractions"])
def test_what_is_not_there_is_a_404(gateway: Running, path: str) -> None:
    problem(gateway.client.delete(f"{path}/{uuid4()}"), 404, "not-found")
    problem(gateway.client.delete(f"{path}/Xyzzy"), 404, "not-found")


def test_the_reason_is_a_name_and_never_words(gateway: Running) -> None:
    path = make(gateway, "note")
    problem(gateway.client.delete(path, params={"reason": "Xyzzy asked"}), 422, "invalid-request")
    problem(gateway.client.delete(path, params={"reason": "retention"}), 422, "invalid-request")
    done = gateway.client.delete(path, params={"reason": "patient-request"})
    assert done.status_code == 204
    reason = gateway.scalar(
        "SELECT payload ->> 'reason' FROM audit_event WHERE event = 'note.erased' "
        "AND subject = :id",
        id=path[-36:],
    )
    assert reason == "patient-request"


def test_lists_streams_and_trails_of_an_erased_question(gateway: Running) -> None:
    path = make(gateway, "question")
    gateway.client.delete(path)
    problem(gateway.client.get(f"{path}/events"), 410, "erased")
    listed = gateway.client.get("/v1/questions", params={"status": "erased"}).json()["questions"]
    line = next(one for one in listed if one["id"] == path[-36:])
    assert (line["status"], line["question"]) == ("erased", "")
    trail = gateway.client.get(f"{path}/trail").json()
    assert trail["status"] == "erased"
    assert trail["steps"][-1]["event"] == "question.erased"


def test_a_retry_with_the_key_of_an_erased_question_asks_anew(gateway: Running) -> None:
    def ask() -> str:
        response = gateway.client.post(
            "/v1/questions", json={"question": "Is it?"}, headers={"Idempotency-Key": "once-1"}
        )
        return str(response.json()["id"])

    first = ask()
    gateway.answer(first, ANSWER)
    assert ask() == first
    gateway.client.delete(f"/v1/questions/{first}")
    assert ask() != first
