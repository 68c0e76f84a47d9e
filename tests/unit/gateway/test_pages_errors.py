"""Problems become pages where a browser asks for one, whatever the status and whoever made it."""

import json
from typing import Any
from uuid import uuid4

import pytest
from fastapi import FastAPI
from starlette.types import Message, Receive, Scope, Send

from api_gateway.pages.errors import ErrorPages
from api_gateway.problems import NO_SUCH_ID, NO_SUCH_PATH, Problem, not_found
from tests.grid import grid

BROWSER = (b"accept", b"text/html,application/xhtml+xml,*/*;q=0.8")
PROGRAM = (b"accept", b"application/json")


def answered(
    problem: Problem, path: str, accept: tuple[bytes, bytes], method: str = "GET"
) -> tuple[Message, bytes]:
    """What comes back from an app that answers with `problem`: the start, and the body."""
    sent: list[Message] = []
    app = FastAPI()
    request_id = uuid4()

    async def inner(scope: Scope, receive: Receive, send: Send) -> None:
        await problem.response(request_id)(scope, receive, send)

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request"}

    scope: dict[str, Any] = {
        "type": "http",
        "method": method,
        "path": path,
        "headers": [accept],
        "app": app,
    }
    working = ErrorPages(inner)(scope, receive, send)
    with pytest.raises(StopIteration):  # nothing here waits, so it needs no loop, which has sockets
        working.send(None)  # type: ignore[attr-defined]
    start, *parts = sent
    body = b"".join(part.get("body", b"") for part in parts)
    assert (str(request_id).encode() in body) or method == "HEAD"
    return start, body


def header(start: Message, name: bytes) -> bytes | None:
    return next((value for key, value in start["headers"] if key.lower() == name), None)


@pytest.mark.parametrize("detail", [NO_SUCH_PATH, not_found(NO_SUCH_ID).detail])
def test_a_page_that_is_not_there_is_told_in_words_for_people(detail: str) -> None:
    _, shown = answered(Problem(404, detail), "/nothing", BROWSER)
    assert b"There is no page at this address" in shown
    _, told = answered(Problem(404, detail), "/nothing", PROGRAM)
    assert json.loads(told)["detail"] == detail


@grid("status", [401, 403, 404, 408, 410, 413, 422, 429, 500, 503])
def test_every_problem_is_a_page_for_a_browser(status: int) -> None:
    problem = Problem(status, "it <b>happened</b>", headers={"Retry-After": "2"})
    start, body = answered(problem, "/questions", BROWSER)
    assert start["status"] == status
    assert header(start, b"content-type") == b"text/html; charset=utf-8"
    assert header(start, b"content-length") == str(len(body)).encode()
    assert header(start, b"retry-after") == b"2"
    assert b"default-src 'none'" in (header(start, b"content-security-policy") or b"")
    assert b"It &lt;b&gt;happened&lt;/b&gt;" in body


def test_a_program_gets_the_problem_itself() -> None:
    start, body = answered(Problem(404, "nothing"), "/questions", PROGRAM)
    assert header(start, b"content-type") == b"application/problem+json"
    assert b'"status":404' in body


def test_the_json_interface_gives_problems_to_everybody() -> None:
    start, _ = answered(Problem(404, "nothing"), "/v1/questions/x", BROWSER)
    assert header(start, b"content-type") == b"application/problem+json"


def test_a_head_request_gets_no_body() -> None:
    start, body = answered(Problem(404, "nothing"), "/nothing", BROWSER, "HEAD")
    assert start["status"] == 404
    assert body == b""
