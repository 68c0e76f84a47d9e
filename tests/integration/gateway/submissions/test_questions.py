"""POST and GET /v1/questions over real servers."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest

from api_gateway.problems import GIVEN_UP
from messages import Stage, parse
from tests.integration.gateway.conftest import Running, serving

ANSWER = {
    "abstained": False,
    "claims": [{"claim_id": "c1", "text": "It does."}],
    "provenance": {"generator": "extractive", "stage_timings_ms": {}},
}


@pytest.mark.requirement("DC-3")
def test_a_submitted_question_is_accepted_and_promised(gateway: Running) -> None:
    response = gateway.client.post("/v1/questions", json={"question": "  Is ctDNA prognostic?  "})
    assert response.status_code == 202
    body = response.json()
    assert set(body) == {"id", "status", "poll_after_ms"}
    assert body["status"] == "queued"
    assert response.headers["location"] == f"/v1/questions/{body['id']}"
    payload = gateway.scalar(
        "SELECT payload FROM outbox WHERE payload->>'question_id' = :id", id=body["id"]
    )
    message = parse(Stage.RETRIEVE, payload)
    assert str(message.request_id) == response.headers["x-request-id"]
    got = gateway.client.get(response.headers["location"]).json()
    assert got["question"] == "Is ctDNA prognostic?"
    assert got["answer"] is None
    assert got["error"] is None


def test_an_accepted_question_leaves_hashes_and_no_words_in_the_audit_log(gateway: Running) -> None:
    question_id = gateway.ask("A very private question", patient_context="Mrs. Xyzzy, 61")
    event = gateway.client.get("/v1/audit", params={"subject": question_id}).json()["events"][0]
    assert event["event"] == "question.submitted"
    assert set(event["payload"]) == {"text_hash", "request_hash"}
    assert gateway.count("audit_event", "payload::text ~ 'private|Xyzzy'") == 0


def test_the_options_are_kept_as_they_were_given(gateway: Running) -> None:
    question_id = gateway.ask(
        as_of="2026-01-31", patient_context="62 y, stage III", max_references=7
    )
    options = gateway.scalar("SELECT options FROM question WHERE id = :id", id=question_id)
    assert options == {
        "as_of": "2026-01-31",
        "patient_context": "62 y, stage III",
        "max_references": 7,
    }


def test_a_question_may_have_exactly_4000_characters(gateway: Running) -> None:
    gateway.ask("q" * 4000)
    response = gateway.client.post("/v1/questions", json={"question": "q" * 4001})
    assert response.status_code == 422


def test_the_same_key_and_request_give_the_first_question_again(gateway: Running) -> None:
    headers = {"Idempotency-Key": uuid4().hex}
    first, second = (
        gateway.client.post("/v1/questions", json={"question": "Once only?"}, headers=headers)
        for _ in range(2)
    )
    assert (first.status_code, second.status_code) == (202, 202)
    assert first.json() == second.json()
    assert first.headers["location"] == second.headers["location"]
    question_id = first.json()["id"]
    assert gateway.count("audit_event", "subject = :id", id=question_id) == 1
    assert gateway.count("outbox", "payload->>'question_id' = :id", id=question_id) == 1


def test_the_same_key_with_another_request_is_refused(gateway: Running) -> None:
    headers = {"Idempotency-Key": uuid4().hex}
    gateway.client.post("/v1/questions", json={"question": "One?"}, headers=headers)
    for other in ({"question": "Two?"}, {"question": "One?", "max_references": 3}):
        response = gateway.client.post("/v1/questions", json=other, headers=headers)
        assert response.status_code == 422
        assert response.json()["type"] == "urn:attest:problem:idempotency-key-reused"


def test_concurrent_requests_with_one_key_make_one_question(gateway: Running) -> None:
    headers = {"Idempotency-Key": uuid4().hex}
    together = threading.Barrier(8)

    def post(_: int) -> Any:
        together.wait()
        return gateway.client.post("/v1/questions", json={"question": "Race?"}, headers=headers)

    with ThreadPoolExecutor(8) as pool:
        responses = list(pool.map(post, range(8)))
    assert {response.status_code for response in responses} == {202}
    assert len({response.json()["id"] for response in responses}) == 1
    key = headers["Idempotency-Key"]
    assert gateway.count("question", "idempotency_key = :key", key=key) == 1


@pytest.mark.parametrize("key", ["", "a" * 256, "two words", "caf\xe9"])
def test_a_key_that_is_not_1_to_255_visible_ascii_characters_is_refused(
    gateway: Running, key: str
) -> None:
    response = gateway.client.post(
        "/v1/questions",
        json={"question": "Key?"},
        headers=[(b"Idempotency-Key", key.encode("latin-1"))],
    )
    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == "header.idempotency-key"


def test_an_answered_question_shows_its_answer(gateway: Running) -> None:
    question_id = gateway.ask()
    for stage in (Stage.RETRIEVE, Stage.GENERATE, Stage.VERIFY, Stage.AUDIT):
        gateway.run_stage(question_id, stage)
    gateway.answer(question_id, ANSWER)
    response = gateway.client.get(f"/v1/questions/{question_id}")
    body = response.json()
    assert body["status"] == "answered"
    times = body["answer"]["provenance"].pop("stage_timings_ms")
    assert list(times) == ["retrieve", "generate", "verify", "audit"]
    recall = {"state": "current", "because": []}
    assert body["answer"] == {**ANSWER, "provenance": {"generator": "extractive"}, "recall": recall}
    assert body["finished_at"] is not None
    assert [timing["stage"] for timing in body["timings"]] == [
        "retrieve",
        "generate",
        "verify",
        "audit",
    ]
    assert all(timing["ms"] is not None for timing in body["timings"])
    assert "retry-after" not in response.headers


def test_an_answer_that_is_not_sealed_is_not_shown(gateway: Running) -> None:
    question_id = gateway.ask()
    gateway.answer(question_id, ANSWER, sealed=False)
    body = gateway.client.get(f"/v1/questions/{question_id}").json()
    assert (body["status"], body["answer"], body["finished_at"]) == ("running", None, None)


def test_a_failed_question_abstains_as_unchecked_and_says_what_follows(gateway: Running) -> None:
    question_id = gateway.ask()
    gateway.fail(question_id, "KeyError at workers.retrieve.pico:12")
    body = gateway.client.get(f"/v1/questions/{question_id}").json()
    assert body["status"] == "failed"
    assert body["answer"]["abstained"] is True
    assert body["answer"]["abstain_reason"] == "unchecked"
    assert body["answer"]["abstain_detail"].endswith(GIVEN_UP)
    assert body["answer"]["claims"] == []
    assert body["error"]["type"] == "urn:attest:problem:question-failed"
    assert body["error"]["detail"] == GIVEN_UP


def test_what_has_not_changed_is_not_sent_again(gateway: Running) -> None:
    question_id = gateway.ask()
    first = gateway.client.get(f"/v1/questions/{question_id}")
    assert first.headers["retry-after"] == "1"
    headers = {"If-None-Match": first.headers["etag"]}
    again = gateway.client.get(f"/v1/questions/{question_id}", headers=headers)
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    gateway.run_stage(question_id, Stage.RETRIEVE)
    changed = gateway.client.get(f"/v1/questions/{question_id}", headers=headers)
    assert changed.status_code == 200
    assert changed.headers["etag"] != first.headers["etag"]


@pytest.mark.parametrize("question_id", ["00000000-0000-4000-8000-000000000000", "no-uuid", "%F0"])
def test_an_unknown_question_is_a_404_problem(gateway: Running, question_id: str) -> None:
    for path in (f"/v1/questions/{question_id}", f"/v1/questions/{question_id}/events"):
        response = gateway.client.get(path)
        assert response.status_code == 404
        assert response.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("wait", ["-1", "61", "nan", "soon"])
def test_a_wait_outside_0_to_60_seconds_is_refused(gateway: Running, wait: str) -> None:
    question_id = gateway.ask()
    response = gateway.client.get(f"/v1/questions/{question_id}", params={"wait": wait})
    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == "query.wait"


def test_a_listing_pages_through_all_questions_once_newest_first(
    new_database: Any, settings_for: Any
) -> None:
    with serving(settings_for(new_database())) as own:
        asked = [own.ask(f"Question {number}?") for number in range(7)]
        # Rows of one moment must not fall between two pages either.
        own.execute("UPDATE question SET created_at = date_trunc('day', created_at)")
        seen, cursor = [], None
        while True:
            params = {"limit": 3} | ({"cursor": cursor} if cursor else {})
            page = own.client.get("/v1/questions", params=params).json()
            seen += [line["id"] for line in page["questions"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break
            own.ask("Asked between two pages?")
        assert set(asked) <= set(seen)
        assert len(seen) == len(set(seen))


def test_a_listing_filters_by_status_and_time(gateway: Running) -> None:
    failed, queued = gateway.ask("Failing?"), gateway.ask("Waiting?")
    gateway.fail(failed, "gone")
    lines = gateway.client.get("/v1/questions", params={"status": "failed"}).json()["questions"]
    assert failed in {line["id"] for line in lines}
    assert {line["status"] for line in lines} == {"failed"}
    since = gateway.client.get(f"/v1/questions/{queued}").json()["created_at"]
    lines = gateway.client.get("/v1/questions", params={"since": since}).json()["questions"]
    assert [line["id"] for line in lines] == [queued]
    future = gateway.client.get("/v1/questions", params={"since": "2999-01-01T00:00:00Z"}).json()
    assert future == {"questions": [], "next_cursor": None}


@pytest.mark.parametrize("cursor", ["x", "WyJhIl0", "W10", "!!!", "a" * 1001, "WyJhIiwgImIiXQ"])
def test_a_cursor_that_was_not_given_out_is_refused(gateway: Running, cursor: str) -> None:
    response = gateway.client.get("/v1/questions", params={"cursor": cursor})
    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == "query.cursor"
