"""/v1/extractions and /v1/reviews over real servers; the stage runs in this process."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from api_gateway.problems import GIVEN_UP
from messages import ExtractV1, Stage, parse
from store.extractions import extractions
from store.extractions.extractions import EXTRACTIONS
from tests.integration.gateway.conftest import Running
from tests.integration.gateway.keys.test_keys import bearer, make_key
from tests.unit.extract.made import REPORT
from workers.inline import InlineWorker

CAUSE = "KeyError at workers.summarize.plan:88"
PATH = "/v1/extractions"
POOR = (
    "GENOMIC REPORT of the laboratory for Mrs. Xyzzy. Mutations were looked for in BRCA1 and KRAS; "
    "variants, tumor mutational burden and microsatellite status are told in a letter."
)
"""A report about nobody that states nothing: a person should look at it."""


@pytest.fixture
def worker(gateway: Running) -> Iterator[InlineWorker]:
    """Runs the stage when it is told to."""
    running = InlineWorker(gateway.settings, gateway.store)
    yield running
    running.close()


def run(gateway: Running, worker: InlineWorker) -> None:
    """Do what the gateway has promised, and what follows from it."""
    gateway.execute(
        "UPDATE outbox SET status = 'pending', not_before = now() WHERE status = 'published'"
    )
    worker.run()


def submit(gateway: Running, text: str = REPORT, **more: object) -> str:
    response = gateway.client.post(PATH, json={"text": text, **more})
    assert response.status_code == 202, response.text
    return str(response.headers["location"])


def reviewed(gateway: Running, worker: InlineWorker) -> dict[str, Any]:
    """The review of a document that came out badly."""
    location = submit(gateway, POOR, document_type="genomics")
    run(gateway, worker)
    found = gateway.client.get(location).json()
    assert found["result"]["needs_review"]
    review: dict[str, Any] = found["review"]
    return review


@pytest.mark.requirement("MV-4")
def test_mv_4_a_document_is_accepted_followed_and_read(
    gateway: Running, worker: InlineWorker
) -> None:
    location = submit(gateway, title="A visit", profile="clinical")
    key = location.rpartition("/")[2]
    payload = gateway.scalar(
        "SELECT payload FROM outbox WHERE payload->>'extraction_id' = :id", id=key
    )
    assert isinstance(parse(Stage.EXTRACT, payload), ExtractV1)
    waiting = gateway.client.get(location)
    assert (waiting.json()["status"], waiting.headers["retry-after"]) == ("queued", "1")
    assert gateway.client.get(f"{location}/text").json()["text"] == REPORT
    run(gateway, worker)
    found = gateway.client.get(location, params={"wait": 5}).json()
    assert (found["status"], found["outcome"], found["title"]) == ("done", "extracted", "A visit")
    assert (found["profile"], found["document_type"]) == ("clinical", "pathology")
    (first, *_) = found["progress"]
    assert (first["type"], first["iteration"]) == ("pathology", 1)
    assert len(found["progress"]) == found["iterations"]
    grade = found["result"]["fields"]["grade"]
    assert REPORT[grade["start"] : grade["end"]] == "Nottingham grade 2"
    assert found["review"] is None
    listed = gateway.client.get(PATH, params={"status": "done"}).json()["extractions"]
    assert key in [one["id"] for one in listed]


@pytest.mark.requirement("MV-6.2")
def test_mv_6_2_a_pathology_report_as_a_file_reaches_0_95_with_histology_and_grade(
    gateway: Running, worker: InlineWorker
) -> None:
    """The integration test of the seed, with a text file in place of its PDF."""
    response = gateway.client.post(
        PATH,
        files={"file": ("report.txt", REPORT.encode(), "application/octet-stream")},
        data={"profile": "batch"},
    )
    assert response.status_code == 202, response.text
    run(gateway, worker)
    found = gateway.client.get(response.headers["location"]).json()
    (part,) = found["result"]["parts"]
    assert part["reliability_loop"]["final_score"] >= 0.95
    assert found["result"]["fields"]["histology"]["status"] == "found"
    assert found["result"]["fields"]["grade"]["status"] == "found"


@pytest.mark.requirement("MV-7.1")
def test_mv_7_1_a_document_that_cannot_be_read_says_so_and_what_to_do(
    gateway: Running, worker: InlineWorker
) -> None:
    location = submit(gateway, "~^}{ ¤¦ xq |\\ §¬ zzk " * 30)
    run(gateway, worker)
    found = gateway.client.get(location).json()
    assert (found["status"], found["outcome"]) == ("done", "unreadable")
    assert found["result"]["error"] == "Document quality too low for extraction"
    assert found["result"]["readability"]["issues"]
    assert found["result"]["suggestions"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "text"),
        ({"text": "  \n"}, "text"),
        ({"text": "x" * 300_001}, "text"),
        ({"text": "a\x00b"}, "text"),
        ({"text": "Grade 2.", "title": "x" * 301}, "title"),
        ({"text": "Grade 2.", "profile": "fast"}, "profile"),
        ({"text": "Grade 2.", "document_type": "poem"}, "document_type"),
        ({"text": "Grade 2.", "patient": "x"}, "body.?"),
    ],
)
def test_what_cannot_be_extracted_is_refused_with_its_field(
    gateway: Running, body: dict[str, object], field: str
) -> None:
    before = gateway.count("extraction")
    response = gateway.client.post(PATH, json=body)
    assert response.status_code == 422
    assert field in response.text
    assert gateway.count("extraction") == before


@pytest.mark.parametrize(
    ("name", "content", "status"),
    [
        ("a.docx", b"PK\x03\x04rest", 415),
        ("a.json", b'{"text": "x"}', 415),
        ("a.png", b"no picture", 422),
        ("a.pdf", b"no pdf", 422),
        ("a.txt", b"", 422),
        ("a.txt", b"\xff\xfeU\x00", 422),
    ],
)
def test_a_file_that_is_not_read_here_is_refused_at_once(
    gateway: Running, name: str, content: bytes, status: int
) -> None:
    response = gateway.client.post(PATH, files={"file": (name, content)})
    assert response.status_code == status, response.text


def test_two_files_an_unknown_field_and_no_json_are_refused(gateway: Running) -> None:
    two = [("file", ("a.txt", b"Grade 2.")), ("file", ("b.txt", b"Grade 2."))]
    assert gateway.client.post(PATH, files=two).status_code == 422
    one = {"file": ("a.txt", b"Grade 2.")}
    assert gateway.client.post(PATH, files=one, data={"patient": "x"}).status_code == 422
    assert gateway.client.post(PATH, files=one, data={"profile": "fast"}).status_code == 422
    headers = {"content-type": "application/json"}
    assert gateway.client.post(PATH, content=b"{", headers=headers).status_code == 400
    assert gateway.client.post(PATH, content=b"Grade 2.").status_code == 415


def test_invariant_11_the_audit_log_has_hashes_of_a_document_and_none_of_its_words(
    gateway: Running, worker: InlineWorker
) -> None:
    location = submit(gateway, POOR, title="Xyzzy")
    run(gateway, worker)
    subject = location.rpartition("/")[2]
    assert gateway.count("audit_event", "subject = :subject", subject=subject) >= 3
    assert gateway.count("audit_event", "payload::text ~ 'Xyzzy|BRCA1'") == 0


def test_an_extraction_that_is_not_there_and_somebody_else_s_are_not_found_alike(
    gateway: Running,
) -> None:
    missing = gateway.client.get(f"{PATH}/00000000-0000-4000-8000-000000000000")
    with gateway.store.unit_of_work("test") as work:
        other = extractions.submit(work, REPORT, owner="somebody").id
    theirs = gateway.client.get(f"{PATH}/{other}")
    assert missing.status_code == theirs.status_code == 404
    assert missing.json()["detail"] == theirs.json()["detail"]
    assert gateway.client.get(f"{PATH}/{other}/text").status_code == 404
    listed = gateway.client.get(PATH).json()["extractions"]
    assert str(other) not in [one["id"] for one in listed]


def test_an_extraction_that_died_says_so_and_one_that_is_done_stays(
    gateway: Running, worker: InlineWorker
) -> None:
    location = submit(gateway)
    key = UUID(location.rpartition("/")[2])
    with gateway.store.unit_of_work("test") as work:
        EXTRACTIONS.failed(work, key, CAUSE)
    found = gateway.client.get(location).json()
    assert (found["status"], found["result"]) == ("failed", None)
    assert found["error"]["detail"] == GIVEN_UP
    page = gateway.client.get(f"/extractions/{key}").text
    assert GIVEN_UP in page
    assert CAUSE not in page  # it is for operators
    run(gateway, worker)
    with gateway.store.unit_of_work("test") as work:
        EXTRACTIONS.failed(work, key, "too late")
    assert gateway.client.get(location).json()["status"] == "done"


def test_a_list_goes_page_by_page(gateway: Running) -> None:
    ids = [submit(gateway).rpartition("/")[2] for _ in range(3)]
    seen: list[str] = []
    cursor = None
    for _ in range(100):
        page = gateway.client.get(
            PATH, params={"limit": 2, **({"cursor": cursor} if cursor else {})}
        ).json()
        seen += [one["id"] for one in page["extractions"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert len(seen) == len(set(seen))
    assert [one for one in seen if one in ids] == ids[::-1]
    assert gateway.client.get(PATH, params={"cursor": "nonsense"}).status_code == 422


# --- reviews --------------------------------------------------------------------------------------


@pytest.mark.requirement("MV-9.3")
def test_mv_9_3_a_review_waits_is_accepted_once_and_the_audit_log_knows_who(
    gateway: Running, worker: InlineWorker
) -> None:
    review = reviewed(gateway, worker)
    path = f"/v1/reviews/{review['id']}"
    listed = gateway.client.get("/v1/reviews", params={"limit": 200}).json()["reviews"]
    assert review["id"] in [one["id"] for one in listed]
    assert "mutations" in gateway.client.get(path).json()["fields"]
    accepted = gateway.client.post(f"{path}/accept").json()
    assert (accepted["status"], accepted["decided_by"]) == ("accepted", "operator")
    again = gateway.client.post(f"{path}/accept")
    assert again.status_code == 409
    assert again.json()["type"] == "urn:attest:problem:already-decided"
    assert gateway.client.post(f"{path}/correct", json={"mutations": None}).status_code == 409
    assert (
        gateway.count(
            "audit_event",
            "subject = :id AND event = 'review.accepted' AND actor = 'operator'",
            id=review["id"],
        )
        == 1
    )
    listed = gateway.client.get("/v1/reviews", params={"limit": 200}).json()["reviews"]
    assert review["id"] not in [one["id"] for one in listed]


@pytest.mark.requirement("MV-9.3")
def test_mv_9_3_a_correction_quotes_the_document_and_the_audit_log_has_no_word_of_it(
    gateway: Running, worker: InlineWorker
) -> None:
    review = reviewed(gateway, worker)
    start = POOR.index("BRCA1")
    body = {
        "mutations": [{"value": "brca1", "start": start, "end": start + 5}],
        "tmb": None,
    }
    response = gateway.client.post(f"/v1/reviews/{review['id']}/correct", json=body)
    assert response.status_code == 200, response.text
    corrected = response.json()["corrected"]
    assert corrected["mutations"][0]["words"] == "BRCA1"
    assert corrected["tmb"] is None
    assert response.json()["status"] == "corrected"
    event = gateway.scalar(
        "SELECT payload FROM audit_event WHERE subject = :id AND event = 'review.corrected'",
        id=review["id"],
    )
    assert event["fields"] == ["mutations", "tmb"]
    assert "BRCA1" not in str(event)
    shown = gateway.client.get(f"{PATH}/{review['extraction_id']}").json()
    assert shown["review"]["status"] == "corrected"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"mutations": {"value": "BRCA2", "start": POOR.index("BRCA1"), "end": 70}},
        {"mutations": {"value": "BRCA1", "start": 0, "end": 5}},
        {"mutations": {"value": "BRCA1", "start": 5, "end": 5}},
        {"mutations": {"value": "BRCA1", "start": 0, "end": 10_000}},
        {"mutations": {"value": "BRCA1", "start": -1, "end": 100}},
        {"mutations": {"value": " ", "start": 0, "end": 100}},
        {"mutations": {"value": "BRCA1"}},
        {"shoe_size": None},
        {"Shoe Size": None},
    ],
)
def test_a_correction_that_the_document_does_not_bear_is_refused_and_changes_nothing(
    gateway: Running, worker: InlineWorker, body: dict[str, Any]
) -> None:
    review = reviewed(gateway, worker)
    path = f"/v1/reviews/{review['id']}"
    response = gateway.client.post(f"{path}/correct", json=body)
    assert response.status_code == 422, response.text
    assert "BRCA" not in response.text
    assert gateway.client.get(path).json()["status"] == "open"


def test_a_review_that_is_not_there_is_not_found(gateway: Running) -> None:
    path = "/v1/reviews/00000000-0000-4000-8000-000000000000"
    assert gateway.client.get(path).status_code == 404
    assert gateway.client.post(f"{path}/accept").status_code == 404
    assert gateway.client.post(f"{path}/correct", json={"a": None}).status_code == 404


def test_a_review_is_its_owner_s_alone(gateway: Running, worker: InlineWorker) -> None:
    mine = bearer(make_key(gateway, "ask", "read", owner="ward-1"))
    theirs = bearer(make_key(gateway, "ask", "read", owner="ward-2"))
    operator = make_key(gateway, "operate", owner="service")
    body = {"text": POOR, "document_type": "genomics"}
    location = gateway.client.post(PATH, json=body, headers=mine).headers["location"]
    run(gateway, worker)
    review = gateway.client.get(location, headers=mine).json()["review"]["id"]
    path = f"/v1/reviews/{review}"

    def listed(headers: dict[str, str]) -> list[str]:
        page = gateway.client.get("/v1/reviews", params={"limit": 200}, headers=headers).json()
        return [one["id"] for one in page["reviews"]]

    assert listed(mine) == [review]
    assert listed(theirs) == []
    assert gateway.client.get("/v1/reviews", headers=bearer(operator)).status_code == 403
    assert gateway.client.get(path, headers=theirs).status_code == 404
    assert gateway.client.post(f"{path}/accept", headers=theirs).status_code == 404
    correction = {"mutations": None}
    assert (
        gateway.client.post(f"{path}/correct", json=correction, headers=theirs).status_code == 404
    )
    reader = bearer(make_key(gateway, "read", owner="ward-1"))
    assert gateway.client.post(f"{path}/accept", headers=reader).status_code == 403
    assert gateway.client.get(location, headers=bearer(operator)).status_code == 403
    assert gateway.client.post(f"{path}/accept", headers=bearer(operator)).status_code == 403
    accepted = gateway.client.post(f"{path}/accept", headers=mine)
    assert accepted.json()["status"] == "accepted"


# --- metrics --------------------------------------------------------------------------------------


@pytest.mark.requirement("MV-8.1")
def test_mv_8_1_prometheus_reads_how_extractions_fare(
    gateway: Running, worker: InlineWorker
) -> None:
    submit(gateway)
    run(gateway, worker)
    text = gateway.client.get("/metrics").text
    for name in (
        'attest_extraction_documents_last_24h{outcome="extracted"}',
        'attest_extraction_score{of="mean"}',
        'attest_extraction_seconds{quantile="0.95"}',
        "attest_extraction_iterations",
        "attest_extraction_threshold_met_share",
        "attest_extraction_cost_usd_last_24h",
        "attest_extractions_unfinished",
        "attest_reviews_open",
    ):
        assert f"\n{name} " in text, name
