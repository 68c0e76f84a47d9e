"""The auditors' routes over a real gateway: ranges of the chain, and the story of an answer."""

from collections.abc import Iterator
from typing import Any

import pytest

from messages import Stage
from tests.integration.gateway.conftest import Running, serving

pytestmark = pytest.mark.requirement("DC-6")


@pytest.fixture(scope="module")
def own(new_database: Any, settings_for: Any) -> Iterator[Running]:
    """A gateway whose chain has five events, one for each question."""
    with serving(settings_for(new_database())) as running:
        for _ in range(5):
            running.ask()
        yield running


def verify(own: Running, **params: Any) -> dict[str, Any]:
    """What the route says."""
    response = own.client.get("/v1/audit/verify", params=params)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def test_the_chain_is_verified_in_ranges_that_follow_each_other(own: Running) -> None:
    first = verify(own, until=2)
    assert (first["whole"], first["events"]) == (True, 2)
    second = verify(own, after=first["checked"])
    assert (second["whole"], second["events"]) == (True, 3)
    assert second["checked"] == verify(own)["checked"]


def test_a_link_that_the_table_does_not_hold_is_named(own: Running) -> None:
    for until in ({}, {"until": 2}):
        report = verify(own, after=f"2:{'ab' * 32}", **until)
        assert (report["whole"], report["first_bad_seq"]) == (False, 2)


@pytest.mark.parametrize(
    "params",
    [
        {"after": "x"},
        {"after": "1:zz"},
        {"until": "0"},
        {"until": str(2**63)},
        {"after": "3", "until": "2"},
    ],
)
def test_what_is_no_range_is_a_422(own: Running, params: dict[str, str]) -> None:
    assert own.client.get("/v1/audit/verify", params=params).status_code == 422


def test_the_trail_of_a_question_is_served_without_its_words(own: Running) -> None:
    question_id = own.ask("Does zebrafishoma recur?")
    own.run_stage(question_id, Stage.RETRIEVE)
    response = own.client.get(f"/v1/questions/{question_id}/trail")
    assert response.status_code == 200
    assert "zebrafishoma" not in response.text.lower()
    body = response.json()
    assert (body["question_id"], body["answer"], body["sources"]) == (question_id, None, [])
    (step,) = body["steps"]
    assert (step["event"], step["actor"], step["seconds"]) == ("question.submitted", "gateway", 0)
    assert step["words"].startswith("The question was accepted.")
    assert step["payload"]["text_hash"] == body["text_hash"]
    assert step["holds"] is True


@pytest.mark.parametrize("wanted", ["00000000-0000-4000-8000-000000000000", "no-id"])
def test_there_is_no_trail_of_a_question_that_is_not_there(own: Running, wanted: str) -> None:
    assert own.client.get(f"/v1/questions/{wanted}/trail").status_code == 404
