"""One key, one submission: whatever is submitted may be sent again after a time-out."""

import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from api_gateway.app import create_app
from store.models import ModelUsage, now
from store.operations import erasure
from store.questions import questions
from tests.integration.gateway.conftest import Running, working
from tests.integration.gateway.keys.test_keys import bearer, make_key, problem
from tests.integration.gateway.operation.test_backlog import SUBMISSIONS

OTHER: dict[str, dict[str, Any]] = {
    "/v1/questions": {"question": "Does ctDNA predict nothing?"},
    "/v1/verifications": {"text": "Aspirin raises the risk."},
    "/v1/notes": {"text": "Chief complaint: cough.", "title": "Visit"},
    "/v1/extractions": {"text": "Glucose 5.4 mmol/L", "profile": "clinical"},
    "/v1/documents": {"source_type": "pubmed", "title": "A title", "text": "Another sentence."},
}
TABLES = {
    "/v1/questions": "question",
    "/v1/verifications": "verification",
    "/v1/notes": "note",
    "/v1/extractions": "extraction",
    "/v1/documents": "ingest_item",
}
EACH = pytest.mark.parametrize("path", SUBMISSIONS)


def keyed(key: str | None = None) -> dict[str, str]:
    return {"Idempotency-Key": key or uuid4().hex}


@EACH
def test_the_same_key_and_request_give_the_first_submission_again(
    gateway: Running, path: str
) -> None:
    headers, promised = keyed(), gateway.count("outbox")
    first, second = (
        gateway.client.post(path, json=SUBMISSIONS[path], headers=headers) for _ in range(2)
    )
    assert (first.status_code, second.status_code) == (202, 202)
    assert first.json() == second.json()
    assert first.headers["location"] == second.headers["location"]
    subject = first.json()["id"]
    assert gateway.count("audit_event", "subject = :id", id=subject) == 1
    assert gateway.count("outbox") == promised + 1


@EACH
def test_without_a_key_each_submission_is_one_of_its_own(gateway: Running, path: str) -> None:
    ids = {gateway.client.post(path, json=SUBMISSIONS[path]).json()["id"] for _ in range(2)}
    assert len(ids) == 2


@EACH
def test_the_same_key_with_another_request_is_refused(gateway: Running, path: str) -> None:
    headers = keyed()
    assert gateway.client.post(path, json=SUBMISSIONS[path], headers=headers).status_code == 202
    kept = gateway.count(TABLES[path])
    again = gateway.client.post(path, json=OTHER[path], headers=headers)
    problem(again, 422, "idempotency-key-reused")
    assert gateway.count(TABLES[path]) == kept


@EACH
def test_concurrent_submissions_with_one_key_make_one(gateway: Running, path: str) -> None:
    headers, together, kept = keyed(), threading.Barrier(8), gateway.count(TABLES[path])

    def post(_: int) -> httpx.Response:
        together.wait()
        return gateway.client.post(path, json=SUBMISSIONS[path], headers=headers)

    with ThreadPoolExecutor(8) as pool:
        responses = list(pool.map(post, range(8)))
    assert {response.status_code for response in responses} == {202}
    assert len({response.json()["id"] for response in responses}) == 1
    assert gateway.count(TABLES[path]) == kept + 1


@EACH
@pytest.mark.parametrize("key", ["", "a" * 256, "two words"])
def test_a_key_that_cannot_be_one_is_refused_and_not_ignored(
    gateway: Running, path: str, key: str
) -> None:
    response = gateway.client.post(path, json=SUBMISSIONS[path], headers={"Idempotency-Key": key})
    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == "header.idempotency-key"


def test_a_key_stands_for_one_submission_of_each_kind(gateway: Running) -> None:
    headers = keyed()
    answers = [
        gateway.client.post(path, json=body, headers=headers) for path, body in SUBMISSIONS.items()
    ]
    assert {one.status_code for one in answers} == {202}
    assert len({one.json()["id"] for one in answers}) == len(SUBMISSIONS)


@EACH
def test_a_key_is_its_owners(locked: Running, path: str) -> None:
    headers = keyed()
    mine, theirs = make_key(locked, owner="ward-1"), make_key(locked, owner="ward-2")
    ids = [
        locked.client.post(
            path, json=SUBMISSIONS[path], headers={**headers, **bearer(issued)}
        ).json()["id"]
        for issued in (mine, theirs, mine)
    ]
    assert ids[0] != ids[1]
    assert ids[0] == ids[2]


@pytest.mark.parametrize(
    ("path", "option", "one", "two"),
    [
        ("/v1/documents", "source_type", "pubmed", "guideline"),
        ("/v1/documents", "title", "A title", "Another title"),
        ("/v1/extractions", "profile", "batch", "clinical"),
        ("/v1/extractions", "document_type", "lab-report", "radiology"),
    ],
)
def test_an_upload_is_known_by_its_bytes_and_its_options(
    gateway: Running, path: str, option: str, one: str, two: str
) -> None:
    headers = keyed()

    def upload(content: bytes, value: str) -> httpx.Response:
        return gateway.client.post(
            path, files={"file": ("a.txt", content)}, data={option: value}, headers=headers
        )

    first = upload(b"Glucose 5.4 mmol/L", one)
    assert first.status_code == 202, first.text
    assert upload(b"Glucose 5.4 mmol/L", one).json()["id"] == first.json()["id"]
    problem(upload(b"Glucose 5.5 mmol/L", one), 422, "idempotency-key-reused")
    problem(upload(b"Glucose 5.4 mmol/L", two), 422, "idempotency-key-reused")


def test_a_file_whose_text_was_read_meanwhile_is_still_known(gateway: Running) -> None:
    headers = keyed()

    def upload() -> httpx.Response:
        return gateway.client.post(
            "/v1/extractions", files={"file": ("a.txt", b"Glucose 5.4 mmol/L")}, headers=headers
        )

    subject = upload().json()["id"]
    with working(gateway):
        params = {"wait": 20}
        done = gateway.client.get(f"/v1/extractions/{subject}", params=params).json()
        assert done["status"] == "done"
    assert gateway.scalar("SELECT content IS NULL FROM extraction WHERE id = :id", id=subject)
    again = upload()
    assert (again.status_code, again.json()["id"]) == (202, subject)
    assert again.json()["status"] == "done", "where it stands, as for questions"


@pytest.mark.parametrize("kind", ["note", "verification", "extraction"])
def test_erasure_takes_the_key_along(gateway: Running, kind: Any) -> None:
    path, headers = f"/v1/{kind}s", keyed()
    subject = gateway.client.post(path, json=SUBMISSIONS[path], headers=headers).json()["id"]
    gateway.execute(
        f"UPDATE {kind} SET status = 'failed', error = 'x', finished_at = now() WHERE id = :id",
        id=subject,
    )
    with gateway.store.unit_of_work("test") as work:
        assert erasure.erase(work, kind, UUID(subject), "requested")
    assert gateway.count(kind, "idempotency_key = :key", key=headers["Idempotency-Key"]) == 0
    new = gateway.client.post(path, json=OTHER[path], headers=headers)
    assert new.status_code == 202
    assert new.json()["id"] != subject


def test_what_makes_something_new_says_that_it_takes_a_key(gateway: Running) -> None:
    """Of a replay, a refresh or recheck under way or a decision the second one changes nothing by
    itself; a reader's last judgment counts, a subject is followed once, and a link is stored
    nowhere."""
    spec = create_app(gateway.settings).openapi()
    by_itself = {
        "/v1/sources/{name}/refresh",
        "/v1/dead-letters/{letter_id}/replay",
        "/v1/rechecks",
        "/v1/questions/{question_id}/judgments",
        "/v1/questions/{question_id}/shares",
        "/v1/watches",
    }
    for path, methods in spec["paths"].items():
        accepts = {"201", "202"} & methods.get("post", {}).get("responses", {}).keys()
        if accepts and path not in by_itself:
            named = {one["name"].lower() for one in methods["post"].get("parameters", ())}
            assert "idempotency-key" in named, path


@EACH
@pytest.mark.parametrize(
    "spent", [{"rate_per_minute": 1}, {"requests_a_day": 1}, {"usd_a_day": Decimal("0.10")}]
)
def test_a_repetition_is_answered_from_its_row_though_the_key_may_ask_no_more(
    locked: Running, path: str, spent: dict[str, Any]
) -> None:
    owner = uuid4().hex
    auth = bearer(make_key(locked, "ask", "documents", owner=owner, limits=spent))
    mine = keyed() | auth
    first = locked.client.post(path, json=SUBMISSIONS[path], headers=mine)
    assert first.status_code == 202, first.text
    if "usd_a_day" in spent:
        if path in ("/v1/documents", "/v1/verifications"):  # no language model reads them
            pytest.skip("costs no dollars")
        _spend(locked, owner)
    again = locked.client.post(path, json=SUBMISSIONS[path], headers=mine)
    assert (again.status_code, again.json()) == (202, first.json())
    assert locked.client.post(path, json=SUBMISSIONS[path], headers=auth).status_code == 429
    other = locked.client.post(path, json=SUBMISSIONS[path], headers=keyed() | auth)
    assert other.status_code == 429, "a key that stands for nothing lets nothing through"
    changed = locked.client.post(path, json=OTHER[path], headers=mine)
    problem(changed, 422, "idempotency-key-reused")
    one = "owner = :owner AND idempotency_key IS NOT NULL"
    assert locked.count(TABLES[path], one, owner=owner) == 1


def _spend(locked: Running, owner: str) -> None:
    """A dollar of language models, for a question of this owner."""
    with locked.store.unit_of_work("test") as work:
        question = questions.submit(work, "What did it cost?", {})
        spent = ModelUsage(
            at=now(),
            subject=str(question.id),
            purpose="draft",
            model="m",
            outcome="proposed",
            cost_usd=Decimal(1),
        )
        work.session.add(spent)
    locked.execute("UPDATE question SET owner = :o WHERE id = :id", o=owner, id=question.id)


def test_another_owners_key_and_another_kinds_key_let_nothing_through(locked: Running) -> None:
    first = make_key(locked, "ask", limits={"rate_per_minute": 1})
    headers = keyed() | bearer(first)
    body = SUBMISSIONS["/v1/questions"]
    assert locked.client.post("/v1/questions", json=body, headers=headers).status_code == 202
    note = locked.client.post("/v1/notes", json=SUBMISSIONS["/v1/notes"], headers=headers)
    assert note.status_code == 429
    stranger = make_key(locked, "ask", owner="somebody-else", limits={"rate_per_minute": 1})
    theirs = headers | bearer(stranger)
    assert locked.client.get("/v1/questions", headers=theirs).status_code in (200, 403)
    assert locked.client.post("/v1/questions", json=body, headers=theirs).status_code == 429
