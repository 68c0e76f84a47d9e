"""The outer middleware of every request: its id, limits, headers, and unexpected errors."""

import time
from collections.abc import Mapping
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import structlog
from fastapi.concurrency import run_in_threadpool
from sqlalchemy.exc import TimeoutError as PoolExhausted
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api_gateway.auth.origins import origin_of, own_origin
from api_gateway.auth.refusals import Refusals, Refused
from api_gateway.backpressure.bodies import Body, InFlight, Places
from api_gateway.http.host_names import is_loopback
from api_gateway.metrics.metrics import Metrics
from api_gateway.problems import Problem
from store.core.database import is_disk_full, passes_by_itself
from store.core.postgres_watchdog import is_silent
from workers.runtime.errors import describe

log = structlog.get_logger(__name__)

SECURITY_HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_SECURITY_HEADERS = [
    (name.lower().encode(), value.encode()) for name, value in SECURITY_HEADERS.items()
]
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_METHODS = _SAFE_METHODS | {"POST", "PUT", "PATCH", "DELETE"}
_QUIET_ROUTES = frozenset({"/healthz", "/readyz", "/metrics"})


class Envelope:
    """Gives each request an id, checks its body and origin, and answers unexpected errors.

    Args:
        max_body_bytes: the size of the largest body that any path accepts.
        body_limits: the limits of paths that accept more, or less, than the default.
        body_seconds: the time in which a body must arrive, counted from the request's headers.
        refusals: writes refused requests to the audit.
        local_only: refuse requests whose Host is no loopback name. Where no keys are required,
            this keeps out web pages that point a host name at 127.0.0.1 (DNS rebinding).
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        metrics: Metrics,
        max_body_bytes: int,
        body_limits: Places,
        body_seconds: float,
        refusals: Refusals,
        local_only: bool,
    ) -> None:
        self._app = app
        self._metrics = metrics
        self._max_body_bytes = max_body_bytes
        self._body_limits = body_limits
        self._body_seconds = body_seconds
        self._in_flight = InFlight(max_body_bytes)
        self._refusals = refusals
        self._local_only = local_only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _request_id(Headers(scope=scope))
        scope.setdefault("state", {})["request_id"] = request_id
        exchange = _Exchange(scope, send, request_id, self._metrics, self._refusals)
        body = Body(
            scope,
            receive,
            places=self._body_limits,
            largest=self._max_body_bytes,
            seconds=self._body_seconds,
            in_flight=self._in_flight,
        )
        with structlog.contextvars.bound_contextvars(request_id=str(request_id)):
            try:
                self._admit(scope)
                await self._app(scope, body.receive, exchange.send)
            except Exception as error:  # noqa: BLE001  every error is answered and logged here
                await exchange.fail(error, receive)
            finally:
                body.release()

    def _admit(self, scope: Scope) -> None:
        """Refuse requests that no honest client sends.

        Raises:
            Problem: the address has a NUL, the Host is not allowed, or a web page of another origin
                sent the request.
        """
        if "\x00" in scope["path"] or b"%00" in scope["query_string"]:
            raise Problem(400, "the address contains a NUL character")
        headers = Headers(scope=scope)
        if self._local_only and not is_loopback(_host_name(headers.get("host", ""))):
            raise Refused(
                403,
                "the gateway answers to loopback names only, see the Host header",
                reason="foreign_host",
            )
        if scope["method"] in _SAFE_METHODS:
            return
        origin = headers.get("origin")
        if origin is None:
            return
        own = own_origin(scope["scheme"], headers)
        if own is None or origin_of(origin) != own:
            raise Refused(
                403,
                "pages of another origin cannot write here: scheme, host and port have to be those "
                "of this address, which a proxy passes on in Host and X-Forwarded-Proto",
                reason="foreign_origin",
            )


class _Exchange:
    """The outgoing response of one request."""

    def __init__(
        self, scope: Scope, send: Send, request_id: UUID, metrics: Metrics, refusals: Refusals
    ) -> None:
        self._scope = scope
        self._send = send
        self._request_id = request_id
        self._metrics = metrics
        self._refusals = refusals
        self._began = time.perf_counter()
        self._started = False

    async def send(self, message: Message) -> None:
        """Send a part of the response; its first part gets the headers and is counted."""
        if message["type"] == "http.response.start":
            await self._note()
            self._started = True
            headers = MutableHeaders(scope=message)
            named = {name.lower() for name, _ in headers.raw}
            headers.raw.extend(header for header in _SECURITY_HEADERS if header[0] not in named)
            headers["X-Request-ID"] = str(self._request_id)
            self._count(message["status"])
        await self._send(message)

    async def _note(self) -> None:
        """Write a refusal to the audit before the response is sent."""
        problem = self._scope["state"].pop("problem", None)
        if isinstance(problem, Refused):
            route = f"{self._method} {self._route}"
            await run_in_threadpool(self._refusals.note, problem, route, self._request_id)

    @property
    def _method(self) -> str:
        method: str = self._scope["method"]
        return method if method in _METHODS else "other"

    @property
    def _route(self) -> str:
        """The template of the path, never the path itself."""
        return getattr(self._scope.get("route"), "path", "none")

    async def fail(self, error: Exception, receive: Receive) -> None:
        """Answer an error that no handler caught, if the response has not begun.

        Raises:
            RuntimeError: the response has begun and is broken off.
        """
        if self._started:
            log.error("response_aborted", cause=describe(error))
            # Only an error makes the server cut the connection; its own text might name values.
            raise RuntimeError("the response broke off, see the log") from None
        problem = _unforeseen(error, writes=self._method not in _SAFE_METHODS)
        if problem.status_code == 500 or is_disk_full(error):
            log.error("request_failed", cause=describe(error))
        self._scope["state"]["problem"] = problem
        await problem.response(self._request_id)(self._scope, receive, self.send)

    def _count(self, status: int) -> None:
        seconds = time.perf_counter() - self._began
        method, route = self._method, self._route
        self._metrics.answered(method, route, status, seconds)
        if route not in _QUIET_ROUTES:
            ms = round(seconds * 1000, 1)
            log.info("http_answered", method=method, route=route, status=status, ms=ms)


def _unforeseen(error: Exception, *, writes: bool = False) -> Problem:
    """Args: writes: the request changes data, which may be kept although the answer is lost."""
    if isinstance(error, Problem):
        return error
    if is_disk_full(error):
        detail = "the disk of the database is full: an operator must make room"
        return Problem(503, detail, headers={"Retry-After": "60"})
    if isinstance(error, PoolExhausted) or passes_by_itself(error):
        detail = "the database is away or busy: try again"
        if is_silent(error):
            detail = (
                "the database does not answer: try again; if it lasts, `attest status` says more"
            )
        if writes:
            detail += ". Whether this was kept is not known: with the same Idempotency-Key it is "
            detail += "done once, however often it is sent"
        return Problem(503, detail, headers={"Retry-After": "2"})
    return Problem(500, "the log has the cause under the request id")


def _request_id(headers: Headers) -> UUID:
    """The caller's X-Request-ID if it is a UUID, as rows and messages need; otherwise a new one."""
    try:
        return UUID(headers.get("x-request-id", ""))
    except ValueError:
        return uuid4()


def _host_name(host: str) -> str:
    """The name in a Host header without port and IPv6 brackets; empty if there is none."""
    try:
        return (urlsplit(f"//{host}").hostname or "") if host else ""
    except ValueError:  # an unclosed bracket, for example
        return ""
