"""What is refused at the door, and how: always a problem, never an echo, nothing written."""

import http.client
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import httpx
import pytest

from tests.integration.gateway.conftest import Running

SECRET = "PATIENT-XYZZY-" * 20


def _problem(response: httpx.Response, status: int, kind: str) -> dict[str, Any]:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    body: dict[str, Any] = response.json()
    assert body["type"] == f"urn:attest:problem:{kind}"
    assert body["status"] == status
    assert body["request_id"] == response.headers["x-request-id"]
    assert {"title", "detail", "instance"} <= set(body)
    assert "XYZZY" not in response.text
    return body


@pytest.fixture
def untouched(gateway: Running) -> Iterator[None]:
    """Nothing may have been written by the end of the test, but who was refused."""
    tables = ("question", "ingest_item", "outbox")
    other = "event NOT LIKE 'access.refused%'"
    before = [gateway.count(table) for table in tables], gateway.count("audit_event", other)
    yield
    after = [gateway.count(table) for table in tables], gateway.count("audit_event", other)
    assert after == before


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "body.question"),
        ({"question": ""}, "body.question"),
        ({"question": " \n\t "}, "body.question"),
        ({"question": "a\x00b"}, "body.question"),
        ({"question": "\ud800"}, "body.question"),
        ({"question": None}, "body.question"),
        ({"question": 5}, "body.question"),
        ({"question": ["a"]}, "body.question"),
        ({"question": SECRET * 20}, "body.question"),
        ({"question": "q", SECRET: 1}, "body.?"),
        ({"question": "q", "max_references": 0}, "body.max_references"),
        ({"question": "q", "max_references": 11}, "body.max_references"),
        ({"question": "q", "max_references": "3"}, "body.max_references"),
        ({"question": "q", "max_references": True}, "body.max_references"),
        ({"question": "q", "max_references": 2.5}, "body.max_references"),
        ({"question": "q", "as_of": "yesterday"}, "body.as_of"),
        ({"question": "q", "as_of": 0}, "body.as_of"),
        ({"question": "q", "as_of": "2020"}, "body.as_of"),
        ({"question": "q", "as_of": "2999-01-01"}, "body.as_of"),
        ({"question": "q", "as_of": "2999-01-01T00:00:00Z"}, "body.as_of"),
        ({"question": "q", "filters": {}}, "body.filters"),
        ({"question": "q", "filters": {"focus": [SECRET]}}, "body.filters.?"),
        ({"question": "q", "filters": {"diseases": []}}, "body.filters.diseases"),
        ({"question": "q", "filters": {"diseases": [SECRET]}}, "body.filters.diseases.0"),
        ({"question": "q", "filters": {"published_from": SECRET}}, "body.filters.published_from"),
        ({"question": "q", "patient_context": "p" * 4001}, "body.patient_context"),
        ({"question": "q", "patient_context": "a\x00b"}, "body.patient_context"),
        ([], "body"),
        ("question", "body"),
        (None, "body"),
    ],
)
def test_a_question_that_does_not_fit_is_a_422_naming_the_field(
    gateway: Running, body: object, field: str
) -> None:
    response = gateway.client.post(
        "/v1/questions", content=json.dumps(body), headers={"Content-Type": "application/json"}
    )
    problem = _problem(response, 422, "invalid-request")
    assert all(error["field"].startswith(field) for error in problem["errors"])
    assert all(set(error) == {"field", "message"} for error in problem["errors"])


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b'{"question": "a\x00b"}',
        b'{"question": "\xff\xfe"}',
        b"[" * 20_000,
        b"nonsense",
    ],
)
def test_a_body_that_is_no_json_in_utf8_is_a_400(gateway: Running, body: bytes) -> None:
    response = gateway.client.post(
        "/v1/questions", content=body, headers={"Content-Type": "application/json"}
    )
    _problem(response, 400, "malformed-request")


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", None])
def test_a_question_in_another_content_type_is_a_415(gateway: Running, kind: str | None) -> None:
    headers = {"Content-Type": kind} if kind else {}
    response = gateway.client.post("/v1/questions", content=b'{"question": "q"}', headers=headers)
    _problem(response, 415, "unsupported-media-type")


@pytest.mark.usefixtures("untouched")
def test_a_question_of_one_megabyte_is_a_413(gateway: Running) -> None:
    response = gateway.client.post("/v1/questions", json={"question": SECRET * 4000})
    _problem(response, 413, "too-large")


@pytest.mark.usefixtures("untouched")
def test_a_body_without_a_length_is_measured_while_it_comes(gateway: Running) -> None:
    def pieces() -> Iterator[bytes]:
        yield b'{"question": "'
        for _ in range(300):
            yield b"q" * 1000
        yield b'"}'

    response = gateway.client.post(
        "/v1/questions", content=pieces(), headers={"Content-Type": "application/json"}
    )
    _problem(response, 413, "too-large")
    gateway.client.get("/healthz").raise_for_status()  # the connection is usable afterwards


@pytest.mark.parametrize(
    "full",
    [
        b"{" + b", ".join(b'"k%d": 1' % n for n in range(50_000)) + b"}",
        b'{"documents": [' + b"[]," * 100_001 + b"[]]}",
        b'{"documents": [' + b"1," * 100_001 + b"1]}",
        b"{" + b", ".join(b'"k%d\\\\": 1' % n for n in range(50_000)) + b"}",
    ],
    ids=["names", "lists", "numbers", "names that end in a backslash"],
)
@pytest.mark.parametrize(
    "path",
    [
        *("/v1/documents", "/v1/verifications", "/v1/extractions", "/v1/notes"),
        f"/v1/reviews/{UUID(int=7)}/correct",
    ],
)
def test_json_of_very_many_pieces_is_a_413_before_it_is_read(
    gateway: Running, path: str, full: bytes
) -> None:
    """To read it, and to list what does not fit, would keep everybody waiting for many seconds."""
    headers = {"Content-Type": "application/json"}
    response = gateway.client.post(path, content=full, headers=headers)
    assert "names and strings" in _problem(response, 413, "too-large")["detail"]


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    "path",
    [
        *("/v1/stages/anchor/pause", "/v1/dead-letters/replay", "/v1/sources/ema/refresh"),
        *(f"/v1/reviews/{UUID(int=7)}/accept", "/v1/nothing", "/operate/stages/anchor/pause"),
    ],
)
def test_who_has_little_to_say_may_send_little(gateway: Running, path: str) -> None:
    """Whatever no route of its own allows to be larger is small, buttons of pages too."""
    headers = {"Content-Type": "application/json"}
    response = gateway.client.post(path, content=b'{"a":"' + b"x" * 65_536 + b'"}', headers=headers)
    assert response.status_code in {404, 413, 415}, response.text


@pytest.mark.usefixtures("untouched")
def test_json_that_is_nested_too_deeply_is_a_400_that_says_how_deep_it_may_be(
    gateway: Running,
) -> None:
    full = b'{"facts":' + b"[" * 64 + b"]" * 64 + b"}"
    headers = {"Content-Type": "application/json"}
    response = gateway.client.post("/v1/documents", content=full, headers=headers)
    assert "64 deep" in _problem(response, 400, "malformed-request")["detail"]


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize("path", ["/v1/documents", "/v1/extractions", "/notes", "/evidence"])
@pytest.mark.parametrize("charset", ["punycode", "utf-7", "idna", "latin-1"])
def test_a_form_is_read_in_utf8_and_in_nothing_else(
    gateway: Running, path: str, charset: str
) -> None:
    """Python knows encodings whose decoding is quadratic: one field would stop everybody."""
    kind = {"Content-Type": f"multipart/form-data; boundary=x; charset={charset}"}
    part = b'--x\r\nContent-Disposition: form-data; name="title"\r\n\r\nabc-\r\n--x--\r\n'
    response = gateway.client.post(path, content=part, headers=kind)
    assert response.status_code == 415
    assert "UTF-8" in response.text


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ([("file", ("a.txt", b"a"))] * 3, "up to 2 files"),
        ([("title", (None, b"a"))] * 11, "10 fields"),
        ([("title", (None, b"a" * 8193))], "up to 8192 bytes"),
    ],
    ids=["files", "fields", "a large field"],
)
@pytest.mark.parametrize("path", ["/v1/documents", "/v1/extractions"])
def test_a_form_of_too_many_or_too_large_parts_is_a_413_that_says_what_may_be_sent(
    gateway: Running, path: str, parts: Any, said: str
) -> None:
    response = gateway.client.post(path, files=parts)
    assert said in _problem(response, 413, "too-large")["detail"]


def test_json_of_another_name_is_measured_too(gateway: Running) -> None:
    full = b"[" + b"[]," * 100_001 + b"[]]"
    headers = {"Content-Type": "Application/Vnd.x+JSON; charset=utf-8"}
    response = gateway.client.post("/v1/notes", content=full, headers=headers)
    _problem(response, 413, "too-large")


def test_a_long_text_full_of_quotations_and_commas_is_no_body_of_many_pieces(
    gateway: Running,
) -> None:
    text = 'He said "yes", she said "no" [1, 2]. ' * 2_600
    for path in ("/v1/verifications", "/v1/notes"):
        response = gateway.client.post(path, json={"text": text})
        assert response.status_code == 202, response.text
    record = {"source_type": "guideline", "title": "t", "text": text * 9}
    assert gateway.client.post("/v1/documents", json=record).status_code == 202


@pytest.mark.usefixtures("untouched")
def test_the_name_of_a_field_that_there_is_not_is_not_repeated(gateway: Running) -> None:
    response = gateway.client.post("/v1/questions", json={"question": "q", "n" * 5000: 1})
    [error] = _problem(response, 422, "invalid-request")["errors"]
    assert error["field"] == "body.?"
    assert len(response.content) < 1000


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "PUT"])
def test_an_unknown_path_is_a_404_problem(gateway: Running, method: str) -> None:
    _problem(gateway.client.request(method, f"/v1/{SECRET}"), 404, "not-found")


def test_another_method_is_a_405_problem_that_names_the_allowed_ones(gateway: Running) -> None:
    for method, path in (("PUT", "/v1/questions"), ("DELETE", "/v1/audit"), ("POST", "/healthz")):
        response = gateway.client.request(method, path)
        _problem(response, 405, "method-not-allowed")
        assert response.headers["allow"]


@pytest.mark.parametrize("path", ["/v1/questions/%00", "/v1/audit?subject=a%00b"])
def test_a_nul_in_the_address_is_a_400(gateway: Running, path: str) -> None:
    _problem(gateway.client.get(path), 400, "malformed-request")


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1:1", "http://[x", "http://[::1"]
)
def test_a_page_of_another_origin_cannot_write(gateway: Running, origin: str) -> None:
    response = gateway.client.post(
        "/v1/questions", json={"question": "q"}, headers={"Origin": origin}
    )
    _problem(response, 403, "foreign-origin")
    assert "access-control-allow-origin" not in response.headers


def test_a_page_of_the_same_origin_can_write(gateway: Running) -> None:
    headers = {"Origin": gateway.url}
    response = gateway.client.post("/v1/questions", json={"question": "q"}, headers=headers)
    assert response.status_code == 202


@pytest.mark.parametrize(
    ("origin", "host", "proto", "allowed"),
    [
        ("http://localhost", "localhost", None, True),
        ("http://localhost:80", "localhost", None, True),
        ("http://LOCALHOST", "localhost:80", None, True),
        ("http://localhost:81", "localhost", None, False),
        ("https://localhost", "localhost", None, False),
        ("https://localhost", "localhost", "https", True),
        ("https://localhost:443", "localhost", "https, http", True),
        ("https://localhost:80", "localhost", "https", False),
        ("http://localhost", "localhost", "https", False),
        ("http://localhost:443", "localhost:443", "https", False),
        ("http://localhost", "localhost", "gopher", True),
        ("http://[::1]:8321", "[::1]:8321", None, True),
    ],
)
def test_scheme_host_and_port_of_an_origin_count_also_behind_a_proxy(
    gateway: Running, origin: str, host: str, proto: str | None, allowed: bool
) -> None:
    headers = {"Origin": origin, "Host": host, **({"X-Forwarded-Proto": proto} if proto else {})}
    response = gateway.client.post("/v1/questions", json={"question": "q"}, headers=headers)
    assert response.status_code == (202 if allowed else 403), response.text


def test_a_name_that_somebody_points_at_this_machine_is_refused(gateway: Running) -> None:
    for name in ("rebound.example:80", "[", "[x]", "localhost["):
        response = gateway.client.get("/v1/questions", headers={"Host": name})
        _problem(response, 403, "foreign-origin")
    for name in ("localhost", "localhost:80", "[::1]:80", "127.0.0.1"):
        assert gateway.client.get("/healthz", headers={"Host": name}).status_code == 200


def test_every_response_carries_the_request_id_and_the_security_headers(gateway: Running) -> None:
    given = "8b0b5b8a-52d5-4a0a-9d0f-0d1a6d9c6b8e"
    for path in ("/healthz", "/v1/questions", "/v1/nothing", "/metrics"):
        headers = gateway.client.get(path, headers={"X-Request-ID": given}).headers
        assert headers["x-request-id"] == given
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "server" not in headers
    other = gateway.client.get("/healthz", headers={"X-Request-ID": SECRET}).headers
    assert other["x-request-id"] not in {given, SECRET}


def test_an_announced_length_beyond_the_limit_is_refused_before_the_body_comes(
    gateway: Running,
) -> None:
    connection = http.client.HTTPConnection(urlsplit(gateway.url).netloc, timeout=20)
    connection.putrequest("POST", "/v1/documents")
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Content-Length", str(10**12))
    connection.endheaders()
    response = connection.getresponse()
    assert response.status == 413
    assert json.loads(response.read())["type"] == "urn:attest:problem:too-large"
    connection.close()


def test_an_error_of_ours_is_a_500_problem_that_tells_nothing(gateway: Running) -> None:
    document_id = gateway.put_document("words", source_type=SECRET)  # no policy for such a source
    response = gateway.client.get(f"/v1/documents/{document_id}")
    problem = _problem(response, 500, "internal-error")
    assert problem["detail"] == "the log has the cause under the request id"
    gateway.client.get("/healthz").raise_for_status()


def test_large_bodies_at_once_are_taken_or_refused_and_nothing_is_held_of_them_afterwards(
    gateway: Running,
) -> None:
    body = b'{"text":"' + b"word " * 500_000 + b'"}'

    def send(_: int) -> httpx.Response:
        headers = {"Content-Type": "application/json"}
        return httpx.post(f"{gateway.url}/v1/documents", content=body, headers=headers, timeout=60)

    with ThreadPoolExecutor(40) as pool:
        answers = list(pool.map(send, range(40)))
    told = {answer.status_code for answer in answers}
    assert told == {422, 429}, told  # a record has a title, too
    for answer in answers:
        if answer.status_code == 429:
            assert answer.headers["retry-after"] == "2"
            assert _problem(answer, 429, "overloaded")
    assert send(0).status_code == 422
