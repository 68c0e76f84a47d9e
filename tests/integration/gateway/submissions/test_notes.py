"""POST and GET /v1/notes over real servers."""

from uuid import UUID

import pytest

from api_gateway.problems import GIVEN_UP
from messages import Stage, SummarizeV1, parse
from store.texts.notes import NOTES
from tests.integration.gateway.conftest import Running

CAUSE = "KeyError at workers.summarize.plan:88"
PATH = "/v1/notes"


def submit(gateway: Running, text: str = "HPI\nShe coughs.", **more: object) -> str:
    response = gateway.client.post(PATH, json={"text": text, **more})
    assert response.status_code == 202, response.text
    return str(response.headers["location"])


def test_a_note_is_accepted_promised_and_answered_once_it_is_summarized(gateway: Running) -> None:
    location = submit(gateway, title="A visit")
    note_id = location.rpartition("/")[2]
    payload = gateway.scalar(
        "SELECT payload FROM outbox WHERE payload->>'note_id' = :id", id=note_id
    )
    message = parse(Stage.SUMMARIZE, payload)
    assert isinstance(message, SummarizeV1)
    waiting = gateway.client.get(location)
    assert (waiting.json()["status"], waiting.headers["retry-after"]) == ("queued", "1")
    with gateway.store.unit_of_work("test") as work:
        NOTES.done(work, message.note_id, {"summary": {}})
    found = gateway.client.get(location, params={"wait": 5}).json()
    assert (found["status"], found["result"]) == ("done", {"summary": {}})
    assert found["title"] == "A visit"


def test_invariant_11_the_audit_log_has_the_hash_of_a_note_and_none_of_its_words(
    gateway: Running,
) -> None:
    location = submit(gateway, "Mrs. Xyzzy coughs.", title="Xyzzy")
    subject = location.rpartition("/")[2]
    assert gateway.count("audit_event", "subject = :subject", subject=subject) == 1
    assert gateway.count("audit_event", "payload::text ~ 'Xyzzy'") == 0


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "text"),
        ({"text": "  \n"}, "text"),
        ({"text": "x" * 200_001}, "text"),
        ({"text": "a\x00b"}, "text"),
        ({"text": "She coughs.", "title": "x" * 301}, "title"),
        ({"text": "She coughs.", "patient": "x"}, "body.?"),
    ],
)
def test_what_cannot_be_summarized_is_refused_with_its_field(
    gateway: Running, body: dict[str, object], field: str
) -> None:
    response = gateway.client.post(PATH, json=body)
    assert response.status_code == 422
    assert field in response.text


def test_a_note_that_is_not_there_is_not_found(gateway: Running) -> None:
    missing = f"{PATH}/00000000-0000-4000-8000-000000000000"
    assert gateway.client.get(missing).status_code == 404


def test_a_summary_that_died_says_so_and_a_summary_that_is_done_stays(gateway: Running) -> None:
    location = submit(gateway)
    key = UUID(location.rpartition("/")[2])
    with gateway.store.unit_of_work("test") as work:
        NOTES.failed(work, key, CAUSE)
    found = gateway.client.get(location).json()
    assert (found["status"], found["result"]) == ("failed", None)
    assert found["error"]["detail"] == GIVEN_UP
    page = gateway.client.get(f"/notes/{key}").text
    assert GIVEN_UP in page
    assert CAUSE not in page  # it is for operators
    with gateway.store.unit_of_work("test") as work:
        NOTES.done(work, key, {"summary": {}})
    with gateway.store.unit_of_work("test") as work:
        NOTES.failed(work, key, "too late")
    assert gateway.client.get(location).json()["status"] == "done"
