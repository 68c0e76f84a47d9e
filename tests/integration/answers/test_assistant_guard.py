"""What stands before the tools for assistants over HTTP."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from cli.assistant.guard import MOST_BODY_BYTES, Guarded
from cli.assistant.logs import log_without_words

Parts = list[bytes]
JSON = (b"content-type", b"application/json")
HOST = (b"host", b"127.0.0.1:8322")


def scope_of(method: str = "POST", *headers: tuple[bytes, bytes]) -> dict[str, Any]:
    """A request as a server hands it on."""
    return {
        "type": "http",
        "method": method,
        "path": "/mcp",
        "scheme": "http",
        "headers": [HOST, JSON, *headers],
    }


def sending(*parts: bytes, then: Callable[[], Awaitable[None]] | None = None) -> Any:
    """`receive` that gives these parts of a body."""
    left = list(parts)

    async def receive() -> dict[str, Any]:
        if then is not None and not left:
            await then()
        part = left.pop(0) if left else b""
        return {"type": "http.request", "body": part, "more_body": bool(left) or then is not None}

    return receive


class Tools:
    """Stands for the tools: notes what reached them; may be made to wait."""

    def __init__(self) -> None:
        self.bodies: Parts = []
        self.go_on = asyncio.Event()
        self.go_on.set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.bodies.append((await receive())["body"])
        await self.go_on.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})


async def status_of(app: Guarded, scope: dict[str, Any], receive: Any) -> int:
    """How a request is answered."""
    told: list[int] = []

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            told.append(message["status"])

    await app(scope, receive, send)
    return told[0]


def answered(scope: dict[str, Any], receive: Any, **limits: Any) -> tuple[int, Parts]:
    """How a request is answered, and what reached the tools."""
    tools = Tools()
    return asyncio.run(status_of(Guarded(tools, **limits), scope, receive)), tools.bodies


def test_a_body_reaches_the_tools_whole() -> None:
    assert answered(scope_of(), sending(b'{"a"', b":1}")) == (200, [b'{"a":1}'])


@pytest.mark.parametrize(
    "origin",
    [
        b"https://example.org",
        b"null",
        b"http://127.0.0.1:3000",
        b"https://127.0.0.1:8322",
        b"http://localhost:8322",
    ],
)
def test_a_page_of_another_scheme_host_or_port_does_not_reach_the_tools(origin: bytes) -> None:
    assert answered(scope_of("POST", (b"origin", origin)), sending(b"{}")) == (403, [])


def test_a_page_of_the_very_same_origin_does() -> None:
    own = (b"origin", b"http://127.0.0.1:8322")
    assert answered(scope_of("POST", own), sending(b"{}")) == (200, [b"{}"])


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS"])
def test_nobody_waits_on_a_stream_on_which_nothing_is_sent(method: str) -> None:
    assert answered(scope_of(method), sending(b"")) == (405, [])


def test_what_is_too_large_or_of_too_many_pieces_is_not_read() -> None:
    assert answered(scope_of(), sending(b"a" * MOST_BODY_BYTES, b"a")) == (413, [])
    assert answered(scope_of(), sending(b'{"":0},' * 50_000)) == (413, [])


def test_a_body_that_does_not_come_is_not_waited_for() -> None:
    never = sending(b"{", then=asyncio.Event().wait)  # type: ignore[arg-type]
    assert answered(scope_of(), never, body_seconds=0.01) == (408, [])


def test_slow_callers_keep_nobody_out_and_calls_under_way_are_counted() -> None:
    async def run() -> None:
        tools, never = Tools(), asyncio.Event()
        app = Guarded(tools, most=2)
        slow = [
            asyncio.create_task(status_of(app, scope_of(), sending(b"{", then=never.wait)))  # type: ignore[arg-type]
            for _ in range(20)
        ]
        await asyncio.sleep(0)
        assert await status_of(app, scope_of(), sending(b"{}")) == 200
        tools.go_on.clear()
        waiting = [
            asyncio.create_task(status_of(app, scope_of(), sending(b"{}"))) for _ in range(2)
        ]
        await asyncio.sleep(0)
        assert await status_of(app, scope_of(), sending(b"{}")) == 503
        tools.go_on.set()
        assert [await one for one in waiting] == [200, 200]
        assert await status_of(app, scope_of(), sending(b"{}")) == 200
        for one in slow:
            one.cancel()
        await asyncio.gather(*slow, return_exceptions=True)

    asyncio.run(run())


def test_all_bodies_that_are_coming_have_one_limit_together() -> None:
    async def run() -> None:
        never = asyncio.Event()
        app = Guarded(Tools(), most_bytes=1000)
        slow = asyncio.create_task(status_of(app, scope_of(), sending(b"a" * 900, then=never.wait)))  # type: ignore[arg-type]
        await asyncio.sleep(0)
        assert await status_of(app, scope_of(), sending(b"a" * 200)) == 503
        slow.cancel()
        await asyncio.gather(slow, return_exceptions=True)
        assert await status_of(app, scope_of(), sending(b"a" * 200)) == 200

    asyncio.run(run())


def test_the_log_has_the_type_of_an_error_and_none_of_its_words(
    capsys: pytest.CaptureFixture[str],
) -> None:
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    security = logging.getLogger("mcp.server.transport_security")
    try:
        log_without_words()
        try:
            raise ValueError("Mrs Miller, born 1950")
        except ValueError:
            logging.getLogger("mcp.server").exception("could not read Mrs Miller")
        security.warning("Invalid Host header: \x9b31m.example")
    finally:
        root.handlers[:], root.level = before, level
        security.setLevel(logging.NOTSET)
    said = capsys.readouterr().err
    assert "ValueError in test_the_log" in said
    assert "Miller" not in said
    assert "Traceback" not in said
    assert "example" not in said
