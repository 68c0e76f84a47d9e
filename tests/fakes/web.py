"""Loopback HTTP servers that behave as the real sources do (WIRE section 10), faults included.

    clock = Clock(datetime(2026, 1, 1, tzinfo=UTC))
    with FakeWeb(PubMed(clock), ClinicalTrials(clock)) as web:
        settings = settings.model_copy(update={"source_mirrors": web.mirrors})
        web.fault = lambda request: Reply(503, b"maintenance") if ... else None

A service is a class with `origin` (the real one that it stands for) and `answer(request)`. Several
services of one origin are not needed: one class a source.
"""

import contextlib
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Protocol, Self
from urllib.parse import parse_qsl, unquote, urlsplit


class Clock:
    """The time in a test: stands still until it is moved. Calling it gives the moment."""

    def __init__(self, start: datetime) -> None:
        self._now = start

    def __call__(self) -> datetime:
        return self._now

    def advance(self, *, seconds: float = 0, minutes: float = 0, hours: float = 0) -> None:
        """Move forward (a negative step is a clock that was set back)."""
        self._now += timedelta(seconds=seconds, minutes=minutes, hours=hours)

    def sleep(self, seconds: float) -> None:
        """What `time.sleep` is in a test: the time passes at once."""
        self.advance(seconds=seconds)


@dataclass(frozen=True)
class Request:
    """A request as a service sees it. `path` is decoded and begins with a slash."""

    method: str
    origin: str
    path: str
    raw_path: str
    params: Mapping[str, str]
    """The last value of each name, of the query string and of a posted form."""
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes


@dataclass(frozen=True)
class Reply:
    """What is sent back. `cut` sends only so many bytes of the body, then drops the connection."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None


DROPPED = Reply(0, b"")
"""As a fault: the connection is closed without an answer."""


class Service(Protocol):
    """One source."""

    origin: str

    def answer(self, request: Request) -> Reply: ...


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up is no news; anything else is a fault of the fake."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class FakeWeb:
    """A server on loopback for all `services`; `requests` holds what was asked, in order."""

    def __init__(self, *services: Service) -> None:
        self.services = {service.origin: service for service in services}
        self.fault: Callable[[Request], Reply | None] = lambda request: None
        self.requests: list[Request] = []
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True

    @property
    def base(self) -> str:
        """Where the server listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def mirrors(self) -> dict[str, str]:
        """For `Settings.source_mirrors`: origin → its place on this server."""
        return {
            origin: f"{self.base}/{origin.removeprefix('https://')}" for origin in self.services
        }

    def __enter__(self) -> Self:
        threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        ).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _reply(self, request: Request) -> Reply:
        self.requests.append(request)
        service = self.services.get(request.origin)
        if service is None:
            return Reply(502, b"the fake web has no such origin")
        return self.fault(request) or service.answer(request)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        web = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                self._serve()

            def do_POST(self) -> None:
                self._serve()

            def log_message(self, format: str, *args: Any) -> None:
                """Quiet."""

            def _serve(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                parts = urlsplit(self.path)
                host, _, rest = parts.path.removeprefix("/").partition("/")
                form = body.decode() if self.command == "POST" else ""
                pairs = parse_qsl(parts.query, keep_blank_values=True)
                with contextlib.suppress(UnicodeDecodeError, ValueError):
                    pairs += parse_qsl(form, keep_blank_values=True)
                request = Request(
                    self.command,
                    f"https://{host}",
                    unquote(f"/{rest}"),
                    f"/{rest}",
                    dict(pairs),
                    {name.lower(): value for name, value in self.headers.items()},
                    body,
                )
                self._send(web._reply(request))

            def _send(self, reply: Reply) -> None:
                if reply is DROPPED:
                    self.close_connection = True
                    return
                self.send_response_only(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(reply.body)))
                self.end_headers()
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    self.wfile.write(reply.body if reply.cut is None else reply.body[: reply.cut])
                if reply.cut is not None:
                    self.close_connection = True

        return Handler
