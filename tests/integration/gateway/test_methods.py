"""HEAD wherever there is GET, OPTIONS, and an `Allow` that names every method of a path."""

import socket
import time
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import pytest

from tests.integration.gateway.conftest import Running
from tests.integration.gateway.keys.test_keys import bearer, make_key

VARYING = {"date", "x-request-id", "vary"}
"""Headers that differ from one answer to the next, or hang on how long the body is (RFC 9110,
9.3.2)."""
FORM = "form=3f0c4e0a-52a5-4a7e-9a51-0b1f4f2d7c11"
"""Without it a page with a form leads to a new one."""
PAGES = [f"{path}?{FORM}" for path in ("/", "/evidence", "/extractions", "/notes", "/verify")]
PAGES += ["/questions", "/signin", "/operate"]
OTHERS = ["/healthz", "/readyz", "/openapi.json", "/v1/questions", "/v1/sources", "/v1/audit"]


def _heads(running: Running, path: str, headers: dict[str, str] | None = None) -> Any:
    """What HEAD answers, which is what GET answers, without its body."""
    headers = {"Accept-Encoding": "identity", **(headers or {})}
    got = running.client.get(path, headers=headers)
    head = running.client.head(path, headers=headers)
    assert head.content == b""
    assert head.status_code == got.status_code
    assert _steady(head.headers) == _steady(got.headers)
    return head


def _steady(headers: Any) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name not in VARYING}


@pytest.mark.parametrize("path", [*PAGES, *OTHERS, "/static/css/attest.css"])
def test_head_answers_as_get_does_without_the_body(gateway: Running, path: str) -> None:
    head = _heads(gateway, path)
    assert head.status_code == 200
    assert int(head.headers["content-length"]) > 0


def test_where_a_get_is_compressed_a_head_states_no_length(gateway: Running) -> None:
    gzip = {"Accept-Encoding": "gzip"}
    assert gateway.client.get("/questions", headers=gzip).headers["content-encoding"] == "gzip"
    assert "content-length" not in gateway.client.head("/questions", headers=gzip).headers


def test_nothing_of_the_body_goes_out_for_a_head(gateway: Running) -> None:
    host, port = urlsplit(gateway.url).hostname, urlsplit(gateway.url).port
    for accept in ("text/html", "application/json"):
        for path in ("/", "/nothing", "/v1/nothing", "/questions/x"):
            with socket.create_connection((host, port), timeout=10) as connection:
                lines = [
                    f"HEAD {path} HTTP/1.1",
                    f"Host: {host}:{port}",
                    f"Accept: {accept}",
                    "Connection: close",
                ]
                connection.sendall("\r\n".join([*lines, "", ""]).encode())
                answer = b"".join(iter(lambda: connection.recv(65536), b""))
            head, _, body = answer.partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 ")
            assert body == b""


@pytest.mark.parametrize("path", ["/v1/questions/", "/questions/", "/verify/"])
def test_a_slash_too_many_is_a_404_and_no_redirect_out_of_tls(gateway: Running, path: str) -> None:
    # The gateway does not know that a proxy speaks TLS for it: it would redirect to http://, and a
    # client would send its key and a question once more, to be read by anybody on the way.
    for method in ("GET", "POST"):
        response = gateway.client.request(method, path, headers={"X-Forwarded-Proto": "https"})
        assert response.status_code == 404
        assert "location" not in response.headers


def test_head_of_what_is_not_there_is_the_same_404(gateway: Running) -> None:
    for path in ("/nothing", "/v1/nothing", f"/v1/questions/{uuid4()}", "/v1/questions/x"):
        assert _heads(gateway, path).status_code == 404


def test_head_of_what_can_only_be_sent_is_a_405(gateway: Running) -> None:
    head = gateway.client.head("/ask")
    assert (head.status_code, head.headers["allow"]) == (405, "OPTIONS, POST")


def test_head_needs_the_key_and_the_scope_that_get_needs(locked: Running) -> None:
    asking, reading = bearer(make_key(locked, "ask")), bearer(make_key(locked, "read"))
    assert _heads(locked, "/v1/questions").status_code == 401
    assert _heads(locked, "/v1/questions", asking).status_code == 403
    assert _heads(locked, "/v1/questions", reading).status_code == 200
    assert _heads(locked, "/questions", {"Accept": "text/html"}).status_code == 303


def test_a_refused_head_is_one_event_under_its_own_name(locked: Running) -> None:
    where = "event = 'access.refused' AND payload ->> 'route' = 'HEAD /v1/dead-letters'"
    locked.client.head("/v1/dead-letters", headers=bearer(make_key(locked, "ask")))
    assert locked.count("audit_event", where) == 1


def test_head_is_counted_under_its_own_name(gateway: Running) -> None:
    gateway.client.head("/v1/stages")
    told = gateway.client.get("/metrics").text
    assert 'attest_http_requests_total{method="HEAD",route="/v1/stages",status="200"} 1.0' in told


def test_head_does_not_wait(gateway: Running) -> None:
    path = f"/v1/questions/{gateway.ask()}"
    head = gateway.client.head(f"{path}?wait=20", timeout=10)
    assert head.headers["etag"] == gateway.client.get(path).headers["etag"]
    assert (
        gateway.client.head(path, headers={"If-None-Match": head.headers["etag"]}).status_code
        == 304
    )


def test_head_of_an_event_stream_ends_and_leaves_nobody_listening(gateway: Running) -> None:
    question = gateway.ask()
    notices = gateway.server.config.app.state.gateway.notices  # type: ignore[union-attr]
    head = gateway.client.head(f"/v1/questions/{question}/events", timeout=10)
    assert head.status_code == 200
    assert head.headers["content-type"].startswith("text/event-stream")
    assert gateway.client.get("/healthz").status_code == 200, "the connection goes on"
    deadline = time.monotonic() + 60
    while notices.waiters:
        assert time.monotonic() < deadline, "somebody still listens"
        time.sleep(0.02)


def test_the_document_names_no_head_and_no_options(gateway: Running) -> None:
    paths = gateway.client.get("/openapi.json").json()["paths"]
    assert not {"head", "options"} & {method for one in paths.values() for method in one}


ALLOWED = [
    ("/v1/questions", "GET, HEAD, OPTIONS, POST"),
    (f"/v1/questions/{UUID(int=9)}", "DELETE, GET, HEAD, OPTIONS"),
    ("/extractions", "GET, HEAD, OPTIONS, POST"),
    ("/ask", "OPTIONS, POST"),
    ("/healthz", "GET, HEAD, OPTIONS"),
    ("/openapi.json", "GET, HEAD, OPTIONS"),
]


@pytest.mark.parametrize(("path", "allowed"), ALLOWED)
def test_a_405_names_every_method_of_the_path(gateway: Running, path: str, allowed: str) -> None:
    response = gateway.client.put(path)
    assert response.status_code == 405
    assert response.json()["type"] == "urn:attest:problem:method-not-allowed"
    assert response.headers["allow"] == allowed


@pytest.mark.parametrize(("path", "allowed"), ALLOWED)
def test_options_names_the_methods_and_lets_no_other_origin_in(
    locked: Running, path: str, allowed: str
) -> None:
    asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    response = locked.client.options(path, headers=asked)
    assert (response.status_code, response.content) == (204, b"")
    assert response.headers["allow"] == allowed
    assert not [name for name in response.headers if name.startswith("access-control-")]
    assert response.headers["x-content-type-options"] == "nosniff"


def test_options_of_what_is_not_there_is_a_404(gateway: Running) -> None:
    assert gateway.client.options("/v1/nothing").status_code == 404
