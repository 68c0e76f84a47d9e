"""Documents and sources over real servers."""

import io
import json
import time
import zipfile
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from api_gateway.problems import GIVEN_UP
from messages import Stage, parse
from store.documents import publication_status
from store.documents.records import Notice, SourceRecord
from tests.integration.gateway.conftest import Running, working

PDF = b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n"
RECORD = {
    "source_type": "pubmed",
    "title": "A trial",
    "text": "Background.\r\nIt ran.",
    "identifiers": {"pmid": "35657320"},
    "published_at": "2022-06-04T00:00:00Z",
}
ABSENT = "00000000-0000-4000-8000-000000000000"


def _zip_bomb() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb", b"\x00" * 10_000_000)
    return packed.getvalue()


def _upload(
    gateway: Running, name: str, content: bytes, kind: str | None = None, **fields: str
) -> httpx.Response:
    file = (name, content, kind) if kind else (name, content)
    return gateway.client.post("/v1/documents", files={"file": file}, data=fields)


def _item(gateway: Running, response: httpx.Response) -> Any:
    assert response.status_code == 202, response.text
    assert response.headers["location"] == f"/v1/documents/{response.json()['id']}"
    with gateway.store.engine.connect() as connection:
        found = connection.exec_driver_sql(
            "SELECT * FROM ingest_item WHERE id = %s", (UUID(response.json()["id"]),)
        )
        return found.one()


@pytest.mark.requirement("DC-3")
@pytest.mark.parametrize(
    ("name", "content", "kind", "kept_as"),
    [
        ("a.txt", "Größe 5 µg".encode(), "text/plain", "text/plain"),
        ("a.txt", b"words", None, "text/plain"),
        ("no-suffix", b"words", "text/plain; charset=utf-8", "text/plain"),
        ("a.MD", b"# Title\nwords", "application/octet-stream", "text/markdown"),
        ("a.html", b"<p>words</p>", "text/html", "text/html"),
        ("a.pdf", PDF, "application/pdf", "application/pdf"),
        ("a.pdf", b"\n\njunk" + PDF, None, "application/pdf"),
        ("a.json", b'{"title": "t", "text": "x"}', "application/json", "application/json"),
        ("a.jsonl", b'{"title": "t"}\n{"title": "u"}\n', None, "application/x-ndjson"),
    ],
)
def test_a_file_is_kept_as_it_came_and_promised_to_ingest(
    gateway: Running, name: str, content: bytes, kind: str | None, kept_as: str
) -> None:
    response = _upload(gateway, name, content, kind, source_type="guideline")
    item = _item(gateway, response)
    assert bytes(item.content) == content
    assert (item.filename, item.media_type, item.source_type) == (name, kept_as, "guideline")
    payload = gateway.scalar(
        "SELECT payload FROM outbox WHERE payload->>'item_id' = :id", id=str(item.id)
    )
    message = parse(Stage.INGEST, payload)
    assert message.payload()["content_hash"] == item.content_hash
    events = gateway.client.get("/v1/audit", params={"subject": str(item.id)}).json()["events"]
    assert [event["event"] for event in events] == ["document.submitted"]
    assert set(events[0]["payload"]) == {"content_hash", "bytes"}


@pytest.mark.parametrize(
    ("name", "content", "status"),
    [
        ("a.pdf", b"this is no PDF", 422),
        ("a.pdf", _zip_bomb(), 415),
        ("a.txt", _zip_bomb(), 415),
        ("a.docx", _zip_bomb(), 415),
        ("a.txt", PDF, 415),
        ("a.txt", b"\x1f\x8b\x08", 415),
        ("a.exe", b"words", 415),
        ("no-suffix", b"words", 415),
        ("a.txt", b"", 422),
        ("a.pdf", b"", 422),
        ("a.txt", b" \n\t", 422),
        ("a.txt", b"a\x00b", 422),
        ("a.md", b"a\x00b", 422),
        ("a.html", b"caf\xe9", 422),
        ("a.txt", "words".encode("utf-16"), 422),
        ("a.json", b"{", 422),
        ("a.json", b"[" * 100_000, 422),
        ("a.json", b"5", 422),
        ("a.jsonl", b"nonsense\n{}", 422),
    ],
)
def test_a_file_that_is_not_what_it_claims_is_refused_and_nothing_is_kept(
    gateway: Running, name: str, content: bytes, status: int
) -> None:
    before = gateway.count("ingest_item")
    response = _upload(gateway, name, content)
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    assert gateway.count("ingest_item") == before


def test_a_file_name_keeps_no_path(gateway: Running) -> None:
    item = _item(gateway, _upload(gateway, "../../etc/report.txt", b"words"))
    assert item.filename == "report.txt"


def test_a_plain_text_with_a_title_becomes_a_record(gateway: Running) -> None:
    response = _upload(gateway, "a.txt", b"Some words.", title=" A title ", source_type="guideline")
    record = SourceRecord.model_validate_json(bytes(_item(gateway, response).content))
    assert (record.title, record.text) == ("A title", "Some words.")
    assert record.source_type == "guideline"
    assert _upload(gateway, "a.pdf", PDF, title="A title").status_code == 422


@pytest.mark.parametrize(
    ("files", "fields", "field"),
    [
        ([], {"source_type": "pubmed"}, "form.file"),
        (["a.txt", "b.txt"], {}, "form.file"),
        (["a.txt"], {"source_type": "rumor"}, "form.source_type"),
        (["a.txt"], {"nonsense": "x"}, "form.?"),
        (["a.txt"], {"title": "t" * 1001}, "form.title"),
    ],
)
def test_a_form_that_does_not_fit_is_a_422_naming_the_field(
    gateway: Running, files: list[str], fields: dict[str, str], field: str
) -> None:
    parts: list[Any] = [("file", (name, b"words", "text/plain")) for name in files]
    parts += [(name, (None, value)) for name, value in fields.items()]
    response = gateway.client.post("/v1/documents", files=parts)
    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == field


def test_a_broken_form_is_a_400(gateway: Running) -> None:
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    for body in (b"--x\r\nnonsense", b"nonsense", b"--x\r\nContent-Disposition: form-data"):
        response = gateway.client.post("/v1/documents", content=body, headers=headers)
        assert response.status_code in (400, 422)
        assert response.headers["content-type"] == "application/problem+json"
    headers = {"Content-Type": "multipart/form-data"}
    assert gateway.client.post("/v1/documents", content=b"x", headers=headers).status_code == 400


def test_a_record_is_kept_as_json(gateway: Running) -> None:
    item = _item(gateway, gateway.client.post("/v1/documents", json=RECORD))
    record = SourceRecord.model_validate_json(bytes(item.content))
    assert record == SourceRecord.model_validate(RECORD)
    assert item.media_type == "application/json"
    assert record.model_fields_set == set(RECORD)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"title": ""}, "body.title"),
        ({"text": " "}, "body.text"),
        ({"text": "a\x00b"}, "body.text"),
        ({"source_type": "rumor"}, "body.source_type"),
        ({"PATIENT": 1}, "body.?"),
        ({"identifiers": {"pmid": "PATIENT"}}, "body.identifiers.pmid"),
        ({"published_at": "2022-06-04T00:00:00"}, "body.published_at"),
        ({"url": "javascript:alert(1)"}, "body.url"),
    ],
)
def test_a_record_that_does_not_fit_is_a_422_naming_the_field(
    gateway: Running, change: dict[str, Any], field: str
) -> None:
    response = gateway.client.post("/v1/documents", json=RECORD | change)
    assert response.status_code == 422
    assert [error["field"] for error in response.json()["errors"]] == [field]
    assert "PATIENT" not in response.text


def test_a_nul_anywhere_in_a_record_is_refused(gateway: Running) -> None:
    for change in ({"publisher": "a\x00b"}, {"authors": ["a\x00b"]}):
        response = gateway.client.post("/v1/documents", json=RECORD | change)
        assert response.status_code == 422


@pytest.mark.parametrize("body", [b"{", b"\xff", b'{"title": "\xff"}', b"[" * 100_000, b""])
def test_a_record_that_is_no_json_is_a_400(gateway: Running, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    response = gateway.client.post("/v1/documents", content=body, headers=headers)
    assert response.status_code == 400


@pytest.mark.parametrize("kind", ["text/plain", "application/pdf", ""])
def test_a_document_in_another_content_type_is_a_415(gateway: Running, kind: str) -> None:
    headers = {"Content-Type": kind}
    response = gateway.client.post("/v1/documents", content=b"words", headers=headers)
    assert response.status_code == 415


def test_a_submission_says_what_became_of_it(gateway: Running) -> None:
    item_id = gateway.client.post("/v1/documents", json=RECORD).json()["id"]
    body = gateway.client.get(f"/v1/documents/{item_id}").json()
    assert (body["kind"], body["status"], body["outcome"]) == ("submission", "pending", None)
    assert "content" not in body
    outcome = {"documents": [{"document_id": str(uuid4()), "n": 1}]}
    gateway.execute(
        "UPDATE ingest_item SET status = 'done', content = NULL, finished_at = now(), "
        "outcome = CAST(:outcome AS jsonb) WHERE id = :id",
        id=item_id,
        outcome=json.dumps(outcome),
    )
    body = gateway.client.get(f"/v1/documents/{item_id}").json()
    assert (body["status"], body["outcome"]) == ("done", outcome)


def test_a_file_that_cannot_be_read_says_why(gateway: Running) -> None:
    subject = _upload(gateway, "a.html", b"<script>words</script>").json()["id"]
    with working(gateway):
        found = _settled(gateway, subject)
    assert found["status"] == "failed"
    assert "no text" in found["error"]


def test_a_document_whose_reading_died_says_what_happened_and_what_to_do(
    gateway: Running,
) -> None:
    """The raw cause is the operators'; whoever uploaded it can do nothing about it."""
    subject = _upload(gateway, "a.txt", b"Some words.").json()["id"]
    gateway.execute("UPDATE ingest_item SET content_hash = 'broken' WHERE id = :id", id=subject)
    with working(gateway):
        assert _settled(gateway, subject)["status"] == "failed"
    cause = gateway.scalar("SELECT error FROM ingest_item WHERE id = :id", id=subject)
    assert "its hash differs" in cause
    told = gateway.client.get(f"/v1/documents/{subject}").json()["error"]
    assert told.startswith(GIVEN_UP)
    assert subject in told
    assert "hash" not in told
    letter = gateway.scalar("SELECT id FROM dead_letter WHERE subject = :id", id=subject)
    assert gateway.client.post(f"/v1/dead-letters/{letter}/replay").status_code == 202
    again = gateway.client.get(f"/v1/documents/{subject}").json()
    assert (again["status"], again["error"]) == ("pending", None)


def _settled(gateway: Running, subject: str) -> Any:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = gateway.client.get(f"/v1/documents/{subject}").json()
        if found["status"] != "pending":
            return found
        time.sleep(0.05)
    raise AssertionError("it was not read in time")


def test_a_file_of_lines_tells_which_of_them_are_no_records(gateway: Running) -> None:
    content = b'{"title": "One", "text": "First."}\n{"title": "Two"}\n'
    subject = _upload(gateway, "a.jsonl", content).json()["id"]
    with working(gateway):
        found = _settled(gateway, subject)
    assert (found["status"], found["error"]) == ("done", None)
    assert len(found["outcome"]["documents"]) == 1
    [problem] = found["outcome"]["problems"]
    assert problem == {"line": 2, "reason": "line 2: field 'text' is missing"}


def test_a_document_shows_its_current_version_and_both_clocks(gateway: Running) -> None:
    checked = datetime.now(UTC) - timedelta(hours=169)
    document_id = gateway.put_document(
        "old words",
        "new words 𝔘",
        published_at=datetime(2022, 6, 4, tzinfo=UTC),
        fetched_at=checked,
    )
    body = gateway.client.get(f"/v1/documents/{document_id}").json()
    assert (body["kind"], body["versions"]) == ("document", 2)
    assert (body["version"]["n"], body["version"]["status"]) == (2, "current")
    assert body["version"]["chars"] == len("new words 𝔘")
    assert "text" not in body["version"]
    freshness = body["freshness"]
    assert datetime.fromisoformat(freshness["checked_at"]) == checked
    assert freshness["published_at"] == "2022-06-04T00:00:00Z"
    assert (freshness["sla_hours"], freshness["stale"]) == (168.0, True)


def test_a_document_shows_what_became_of_the_work_and_who_was_asked(gateway: Running) -> None:
    document_id = gateway.put_document("words")
    shown = gateway.client.get(f"/v1/documents/{document_id}").json()["standing"]
    assert shown == {"state": "none", "notices": [], "asked": []}
    at = datetime(2026, 3, 2, tzinfo=UTC)
    with gateway.store.unit_of_work("test") as work:
        concern = Notice(kind="expression_of_concern", notice_id="doi:10.5555/notice")
        publication_status.put_notices(work, "crossref", {document_id: [concern]}, at)
        publication_status.asked(work.session, "crossref", {document_id: True}, at)
        publication_status.asked(work.session, "openalex", {document_id: False}, at)
    shown = gateway.client.get(f"/v1/documents/{document_id}").json()["standing"]
    assert shown["state"] == "expression_of_concern"
    assert [(one["source"], one["notice_id"]) for one in shown["notices"]] == [
        ("crossref", "doi:10.5555/notice")
    ]
    assert [(one["source"], one["known"]) for one in shown["asked"]] == [
        ("crossref", True),
        ("openalex", False),
    ]
    assert {one["asked_at"] for one in shown["asked"]} == {"2026-03-02T00:00:00Z"}
    with gateway.store.unit_of_work("test") as work:
        publication_status.put_notices(
            work, "pubmed", {document_id: [Notice(kind="retraction")]}, at
        )
        publication_status.settle(work, [document_id])
    body = gateway.client.get(f"/v1/documents/{document_id}").json()
    assert (body["standing"]["state"], body["version"]["status"]) == ("retracted", "retracted")
    assert body["standing"]["notices"][1]["notice_id"] is None


def test_the_versions_of_a_document_come_newest_first(gateway: Running) -> None:
    document_id = gateway.put_document("one", "two", "three")
    body = gateway.client.get(f"/v1/documents/{document_id}/versions").json()
    assert [version["n"] for version in body["versions"]] == [3, 2, 1]
    assert [version["status"] for version in body["versions"]] == [
        "current",
        "superseded",
        "superseded",
    ]


def test_a_span_of_a_version_is_exactly_its_code_points(gateway: Running) -> None:
    text = "Größe 5 µg\n\u200b🧬é ≥ 2  Ende "
    document_id = gateway.put_document(text, "another version")
    path = f"/v1/documents/{document_id}/versions/1/text"
    whole = gateway.client.get(path)
    assert whole.headers["content-type"] == "text/plain; charset=utf-8"
    assert whole.content.decode() == text
    for start in range(len(text)):
        for end in (start + 1, len(text)):
            span = gateway.client.get(path, params={"start": start, "end": end})
            assert span.content.decode() == text[start:end]
    assert gateway.client.get(path, params={"start": 3}).content.decode() == text[3:]
    assert gateway.client.get(path, params={"end": 3}).content.decode() == text[:3]


def test_a_text_is_named_by_its_content_hash(gateway: Running) -> None:
    document_id = gateway.put_document("words")
    path = f"/v1/documents/{document_id}/versions/1/text"
    etag = gateway.client.get(path).headers["etag"]
    versions = gateway.client.get(f"/v1/documents/{document_id}/versions").json()["versions"]
    assert etag == f'"{versions[0]["content_hash"]}"'
    for known in (etag, f'W/{etag}, "another"', "*"):
        again = gateway.client.get(path, headers={"If-None-Match": known})
        assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    "params", [{"start": 5}, {"end": 6}, {"start": 2, "end": 2}, {"start": 3, "end": 2}]
)
def test_a_span_outside_the_text_is_a_422_that_says_how_long_it_is(
    gateway: Running, params: dict[str, int]
) -> None:
    document_id = gateway.put_document("words")
    response = gateway.client.get(f"/v1/documents/{document_id}/versions/1/text", params=params)
    assert response.status_code == 422
    assert "5 code points" in response.text


def test_what_is_not_there_is_a_404(gateway: Running) -> None:
    document_id = gateway.put_document("words")
    for path in (
        ABSENT,
        "no-uuid",
        f"{ABSENT}/versions",
        f"{ABSENT}/versions/1/text",
        f"{document_id}/versions/2/text",
        f"{document_id}/versions/0/text",
        f"{document_id}/versions/99999999999999999999/text",
    ):
        assert gateway.client.get(f"/v1/documents/{path}").status_code == 404, path


def test_what_is_held_shows_its_freshness_against_the_sla(gateway: Running) -> None:
    moment = datetime.now(UTC)
    gateway.put_document("a", source_type="regulator", fetched_at=moment - timedelta(hours=23))
    gateway.put_document("b", "c", source_type="regulator", fetched_at=moment)
    gateway.put_document("d", source_type="news", fetched_at=moment - timedelta(hours=25))
    gateway.put_document("e", source_type="nccn", fetched_at=moment - timedelta(days=900))
    sources = {
        source["source_type"]: source for source in gateway.client.get("/v1/sources").json()["held"]
    }
    regulator = sources["regulator"]
    assert regulator["documents"] == 2
    assert (regulator["sla_hours"], regulator["stale"]) == (24.0, False)
    assert datetime.fromisoformat(regulator["latest_fetch_at"]) == moment
    assert datetime.fromisoformat(regulator["oldest_check_at"]) == moment - timedelta(hours=23)
    assert (sources["news"]["stale"], sources["news"]["tier"]) == (True, "news")
    assert (sources["nccn"]["stale"], sources["nccn"]["sla_hours"]) == (False, None)
    assert "payer" not in sources
