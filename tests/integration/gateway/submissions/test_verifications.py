"""POST and GET /v1/verifications over real servers."""

from uuid import UUID

import pytest

from api_gateway.problems import GIVEN_UP
from messages import Stage, parse
from store.texts.verifications import VERIFICATIONS
from tests.integration.gateway.conftest import Running, working

CAUSE = "KeyError at workers.summarize.plan:88"
PATH = "/v1/verifications"


def submit(
    gateway: Running, text: str = "It lowers blood pressure in adults.", **more: object
) -> str:
    response = gateway.client.post(PATH, json={"text": text, **more})
    assert response.status_code == 202, response.text
    return str(response.headers["location"])


def test_a_text_is_accepted_promised_and_answered_once_it_is_checked(gateway: Running) -> None:
    location = submit(gateway)
    verification_id = location.rpartition("/")[2]
    payload = gateway.scalar(
        "SELECT payload FROM outbox WHERE payload->>'verification_id' = :id", id=verification_id
    )
    message = parse(Stage.CHECK, payload)
    waiting = gateway.client.get(location)
    assert (waiting.json()["status"], waiting.headers["retry-after"]) == ("queued", "1")
    with gateway.store.unit_of_work("test") as work:
        VERIFICATIONS.done(work, message.verification_id, {"summary": {}})  # type: ignore[attr-defined]
    found = gateway.client.get(location, params={"wait": 5}).json()
    assert (found["status"], found["result"]) == ("done", {"summary": {}})


def test_invariant_11_the_audit_log_has_the_hash_of_a_text_and_none_of_its_words(
    gateway: Running,
) -> None:
    location = submit(
        gateway, "Mrs. Xyzzy takes it.", documents=[{"text": "Xyzzy was not studied."}]
    )
    subject = location.rpartition("/")[2]
    assert gateway.count("audit_event", "subject = :subject", subject=subject) == 1
    assert gateway.count("audit_event", "payload::text ~ 'Xyzzy'") == 0


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "text"),
        ({"text": "   "}, "text"),
        ({"text": "x" * 100_001}, "text"),
        ({"text": "It works.", "documents": [{"text": ""}]}, "documents"),
        ({"text": "It works.", "documents": [{"text": "x"}] * 51}, "documents"),
        (
            {"text": "It works.", "documents": [{"text": "x", "identifiers": {"isbn": "1"}}]},
            "identifiers.?",
        ),
        ({"text": "It works.", "corpus": "x"}, "body.?"),
    ],
)
def test_what_cannot_be_checked_is_refused_with_its_field(
    gateway: Running, body: dict[str, object], field: str
) -> None:
    response = gateway.client.post(PATH, json=body)
    assert response.status_code == 422
    assert field in response.text


def test_a_blank_text_and_a_moment_without_a_zone_are_refused_in_plain_words(
    gateway: Running,
) -> None:
    blank = gateway.client.post(PATH, json={"text": " "}).json()["errors"]
    assert blank == [{"field": "body.text", "message": "holds no words"}]
    day = gateway.client.get("/v1/questions", params={"since": "2026-01-31"}).json()["errors"]
    (told,) = day
    assert told["message"] == "needs a time and its zone, as in 2026-01-31T00:00:00Z"


def test_a_verification_that_is_not_there_is_not_found(gateway: Running) -> None:
    missing = f"{PATH}/00000000-0000-4000-8000-000000000000"
    assert gateway.client.get(missing).status_code == 404


def test_a_check_that_died_says_so_and_shows_nothing(gateway: Running) -> None:
    location = submit(gateway)
    with gateway.store.unit_of_work("test") as work:
        key = UUID(location.rpartition("/")[2])
        VERIFICATIONS.failed(work, key, CAUSE)
    found = gateway.client.get(location).json()
    assert (found["status"], found["result"]) == ("failed", None)
    assert found["error"]["detail"] == GIVEN_UP
    page = gateway.client.get(f"/verify/{key}").text
    assert GIVEN_UP in page
    assert CAUSE not in page  # it is for operators


def test_a_text_that_the_check_refused_is_told_why_and_what_to_do(gateway: Running) -> None:
    sent = gateway.client.post(PATH, json={"text": "It works in adults. " * 500})
    location = sent.raise_for_status().headers["location"]
    with working(gateway):
        found = gateway.client.get(location, params={"wait": 30}).json()
    assert (found["status"], found["error"]["status"]) == ("failed", 422)
    said = "the text has 500 sentences; at most 400 are checked at once"
    assert found["error"]["detail"] == f"{said}: send less at once"
    page = gateway.client.get(f"/verify/{found['id']}").text
    assert said in page
    assert GIVEN_UP not in page
