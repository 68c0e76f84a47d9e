"""What callers see of answers whose sources changed."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from store.models import Citation
from store.recalls import recalls
from store.recalls.recalls import Change
from tests.integration.gateway.conftest import Running

BODY: dict[str, Any] = {
    "claims": [],
    "references": [],
    "images": [],
    "recall": {"state": "current", "because": []},
    "provenance": {},
}
SPAN = {"claim_id": "c1", "version": 2, "start": 1, "end": 5, "quote_hash": "0" * 64}
FINDING = {"claim_id": "c1", "finding": "not_in_section"}


def answered(gateway: Running, document_id: UUID) -> UUID:
    """A question whose answer cites the document."""
    question_id = gateway.ask()
    gateway.answer(question_id, BODY)
    version_id = gateway.scalar(
        "SELECT id FROM document_version WHERE document_id = :id LIMIT 1", id=document_id
    )
    with gateway.store.unit_of_work("test") as work:
        work.session.add(
            Citation(
                question_id=UUID(question_id),
                claim_id="c1",
                version_id=version_id,
                start=0,
                end=4,
                quote_hash="0" * 64,
            )
        )
    return UUID(question_id)


def affect(gateway: Running, document_id: UUID) -> None:
    with gateway.store.unit_of_work("test") as work:
        change = Change(document_id, "superseded", {"version": 1, "new_version": 2})
        assert recalls.affect(work, [change]) > 0


def reaffirm(gateway: Running, question_id: UUID) -> None:
    with gateway.store.unit_of_work("test") as work:
        recalls.reaffirm(work, {question_id: [SPAN]})


def supersede(gateway: Running, question_id: UUID) -> UUID:
    with gateway.store.unit_of_work("test") as work:
        new = recalls.supersede(work, question_id, [FINDING], uuid4())
        assert new is not None
        return new


def recall_of(gateway: Running, question_id: UUID) -> dict[str, Any]:
    body: dict[str, Any] = gateway.client.get(f"/v1/questions/{question_id}").json()
    found: dict[str, Any] = body["answer"]["recall"]
    return found


@pytest.fixture
def document_id(gateway: Running) -> UUID:
    gateway.execute("DELETE FROM answer_recall")  # the database is that of the tests before, too
    return gateway.put_document("Some words.")


def test_an_answer_says_what_became_of_it_and_leads_to_its_successor_and_back(
    gateway: Running, document_id: UUID
) -> None:
    old = answered(gateway, document_id)
    first = gateway.client.get(f"/v1/questions/{old}")
    assert first.json()["answer"]["recall"]["state"] == "current"
    affect(gateway, document_id)
    told = recall_of(gateway, old)
    assert told["state"] == "affected"
    assert told["because"][0]["document_id"] == str(document_id)
    assert told["because"][0]["change"] == "superseded"
    reaffirm(gateway, old)
    told = recall_of(gateway, old)
    assert (told["state"], told["spans"]) == ("reaffirmed", [SPAN])
    affect(gateway, document_id)
    new = supersede(gateway, old)
    told = recall_of(gateway, old)
    assert (told["state"], told["superseded_by"]) == ("superseded", str(new))
    assert told["findings"] == [FINDING]
    gateway.answer(str(new), BODY)
    told = recall_of(gateway, new)
    assert (told["state"], told["supersedes"]) == ("current", str(old))


def test_a_change_of_the_recall_is_a_change_of_the_resource(
    gateway: Running, document_id: UUID
) -> None:
    old = answered(gateway, document_id)
    tag = gateway.client.get(f"/v1/questions/{old}").headers["ETag"]
    same = gateway.client.get(f"/v1/questions/{old}", headers={"If-None-Match": tag})
    affect(gateway, document_id)
    other = gateway.client.get(f"/v1/questions/{old}", headers={"If-None-Match": tag})
    assert (same.status_code, other.status_code) == (304, 200)


def test_questions_are_listed_by_what_became_of_their_answers(
    gateway: Running, document_id: UUID
) -> None:
    kept, fallen, waiting = (answered(gateway, document_id) for _ in range(3))
    untouched = answered(gateway, gateway.put_document("Other words."))
    affect(gateway, document_id)
    reaffirm(gateway, kept)
    new = supersede(gateway, fallen)
    expected = {"affected": waiting, "reaffirmed": kept, "superseded": fallen}
    for state, question_id in expected.items():
        page = gateway.client.get("/v1/questions", params={"recall": state}).json()
        assert [(one["id"], one["recall"]) for one in page["questions"]] == [
            (str(question_id), state)
        ]
    everything = gateway.client.get("/v1/questions").json()["questions"]
    states = {one["id"]: one["recall"] for one in everything}
    assert states[str(untouched)] == states[str(new)] == "current"
    assert gateway.client.get("/v1/questions", params={"recall": "gone"}).status_code == 422


def test_the_feed_is_followed_with_its_cursor(gateway: Running, document_id: UUID) -> None:
    since = {"since": datetime.now(UTC).isoformat()}
    empty = gateway.client.get("/v1/questions/recalls", params=since).json()
    assert empty == {"changes": [], "next_cursor": None, "more": False}
    old = answered(gateway, document_id)
    affect(gateway, document_id)
    first = gateway.client.get("/v1/questions/recalls", params=since).json()
    (change,) = first["changes"]
    assert (change["question_id"], change["state"]) == (str(old), "affected")
    assert change["because"][0]["new_version"] == 2
    new = supersede(gateway, old)
    cursor = {"cursor": first["next_cursor"]}
    (change,) = gateway.client.get("/v1/questions/recalls", params=cursor).json()["changes"]
    assert (change["state"], change["superseded_by"]) == ("superseded", str(new))
    assert change["findings"] == [FINDING]
    later = gateway.client.get("/v1/questions/recalls", params={"since": "2100-01-01T00:00:00Z"})
    assert later.json()["changes"] == []


@pytest.mark.parametrize("params", [{"cursor": "nonsense"}, {"limit": 0}, {"since": "yesterday"}])
def test_a_feed_that_cannot_be_followed_is_a_problem(
    gateway: Running, params: dict[str, Any]
) -> None:
    response = gateway.client.get("/v1/questions/recalls", params=params)
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"


def test_recalls_are_metrics(gateway: Running, document_id: UUID) -> None:
    kept, _ = answered(gateway, document_id), answered(gateway, document_id)
    affect(gateway, document_id)
    reaffirm(gateway, kept)
    text = gateway.client.get("/metrics").text
    assert 'attest_answers_recalled{state="affected"} 1.0' in text
    assert 'attest_answers_recalled{state="reaffirmed"} 1.0' in text
    assert 'attest_answers_recalled{state="superseded"} 0.0' in text
    assert "attest_oldest_affected_answer_age_seconds" in text
