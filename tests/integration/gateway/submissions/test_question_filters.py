"""Questions with filters, from the request through a worker process to the answer."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.integration.gateway.conftest import Running, serving
from tests.servers import TRIAL, TRIAL_QUESTION, Fleet, wait_until

REGISTERED = {**TRIAL, "url": "https://example.org/trials/2"}
PUBLISHED = {
    "source_type": "pubmed",
    "title": "Example report of a ctDNA-guided trial in colon cancer",
    "text": (
        "## Methods\n\nThis made-up report is on another ctDNA-guided trial in stage II colon "
        "cancer. The primary endpoint of this ctDNA-guided trial was overall survival at 3 years "
        "in colon cancer.\n"
    ),
    "source_key": "test-report",
    "url": "https://example.org/reports/1",
    "published_at": "2019-03-01T00:00:00Z",
}
"""Made-up records: no real trial, no real figure."""


@pytest.fixture(scope="module")
def answering(
    new_database: Callable[[], str], settings_for: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    """A gateway and a worker process over both records."""
    settings = settings_for(new_database(), encoder="hash")
    log: Path = tmp_path_factory.mktemp("worker") / "worker.log"
    fleet = Fleet(settings.model_copy(update={"port": 1}), log)
    with serving(settings) as running:
        try:
            fleet.worker()
            for record in (REGISTERED, PUBLISHED):
                assert running.client.post("/v1/documents", json=record).status_code == 202
            wait_until(lambda: running.count("outbox", "status <> 'done'") == 0, 60, "indexed")
            assert running.count("version_tags") == 2
            yield running
        finally:
            fleet.stop()


def answer(running: Running, **filters: Any) -> dict[str, Any]:
    """The answer to the question about the primary endpoint, filtered."""
    options = {"filters": filters} if filters else {}
    question_id = running.ask(TRIAL_QUESTION, **options)
    shown = running.client.get(f"/v1/questions/{question_id}", params={"wait": 30}).json()
    assert shown["status"] == "answered", shown
    assert shown["filters"] == (filters or None)
    found: dict[str, Any] = shown["answer"]
    return found


def cited(answered: dict[str, Any]) -> set[str]:
    """The titles of the sources that claims cite."""
    titles = {one["evidence_id"]: one["title"] for one in answered["evidence"]}
    return {titles[at["evidence_id"]] for one in answered["claims"] for at in one["citations"]}


def test_without_filters_both_records_are_evidence(answering: Running) -> None:
    assert cited(answer(answering)) == {REGISTERED["title"], PUBLISHED["title"]}


@pytest.mark.parametrize(
    ("filters", "record"),
    [
        ({"source_types": ["pubmed"]}, PUBLISHED),
        ({"source_types": ["clinicaltrials", "label"]}, REGISTERED),
        ({"published_from": "2022-06-04", "published_to": "2022-06-04"}, REGISTERED),
        ({"published_to": "2022-06-03T23:59:59Z"}, PUBLISHED),
        ({"diseases": ["lung_cancer", "colorectal_cancer"], "source_types": ["pubmed"]}, PUBLISHED),
    ],
)
def test_an_answer_stands_on_what_passes_the_filters_alone(
    answering: Running, filters: dict[str, Any], record: dict[str, Any]
) -> None:
    answered = answer(answering, **filters)
    assert cited(answered) == {record["title"]}
    assert {one["title"] for one in answered["evidence"]} == {record["title"]}


@pytest.mark.parametrize(
    "filters",
    [
        {"diseases": ["lung_cancer"]},
        {"source_types": ["guideline"]},
        {"published_from": "2022-06-05"},
        {"source_types": ["pubmed"], "published_from": "2020-01-01"},
    ],
)
def test_a_question_whose_filters_nothing_passes_abstains(
    answering: Running, filters: dict[str, Any]
) -> None:
    answered = answer(answering, **filters)
    assert (answered["abstained"], answered["abstain_reason"]) == (True, "no_evidence")
    assert answered["claims"] == []


def test_filters_are_kept_as_given_and_shown_before_there_is_an_answer(gateway: Running) -> None:
    filters = {"diseases": ["lung_cancer"], "published_from": "2020-01-01"}
    question_id = gateway.ask(filters=filters)
    options = gateway.scalar("SELECT options FROM question WHERE id = :id", id=question_id)
    assert options == {"filters": filters}
    assert gateway.client.get(f"/v1/questions/{question_id}").json()["filters"] == filters


def test_a_tag_that_the_vocabulary_has_lost_is_still_shown(gateway: Running) -> None:
    question_id = gateway.ask(filters={"diseases": ["lung_cancer"]})
    gateway.execute(
        "UPDATE question SET options = CAST(:options AS jsonb) WHERE id = :id",
        options='{"filters": {"diseases": ["a_former_tag"]}}',
        id=question_id,
    )
    shown = gateway.client.get(f"/v1/questions/{question_id}")
    assert (shown.status_code, shown.json()["filters"]) == (200, {"diseases": ["a_former_tag"]})


def test_filters_belong_to_the_request_that_an_idempotency_key_stands_for(
    gateway: Running,
) -> None:
    headers = {"Idempotency-Key": uuid4().hex}

    def post(**filters: Any) -> Any:
        body = {"question": "Once?", **({"filters": filters} if filters else {})}
        return gateway.client.post("/v1/questions", json=body, headers=headers)

    first = post(source_types=["pubmed"], published_from="2020-01-01")
    again = post(published_from="2020-01-01", source_types=["pubmed"])
    assert (first.status_code, again.json()) == (202, first.json())
    for other in ({}, {"source_types": ["pubmed"]}, {"source_types": ["label"]}):
        refused = post(**other)
        assert refused.status_code == 422
        assert refused.json()["type"] == "urn:attest:problem:idempotency-key-reused"


def test_a_tag_that_does_not_exist_is_a_problem_that_names_the_field_and_the_tags(
    gateway: Running,
) -> None:
    body = {"question": "Why?", "filters": {"diseases": ["lung_cancer", "lungs"]}}
    refused = gateway.client.post("/v1/questions", json=body)
    problem = refused.json()
    assert (refused.status_code, problem["type"]) == (422, "urn:attest:problem:invalid-request")
    [error] = problem["errors"]
    assert error["field"] == "body.filters.diseases.1"
    assert "'lung_cancer'" in error["message"]
    assert "'lungs'" not in refused.text
