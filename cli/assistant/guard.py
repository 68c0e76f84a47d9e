"""Guards the tools over HTTP: limits origins, body sizes, waiting times and concurrent calls.

The SDK refuses foreign hosts. But it accepts pages of every other port of this machine, waits
forever for a slow body, reads 4 MB of small JSON values one after the other, opens an event stream
that never sends anything, and has no limit on calls. Here a body is read and measured first, and
the tools get it whole.
"""

from collections.abc import Awaitable, Callable
from uuid import uuid4

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api_gateway.backpressure.bodies import Body, BodyLimit, InFlight
from api_gateway.problems import Problem

MOST_BODY_BYTES = 2 * 1024**2
"""Our choice: a text to verify has up to 100,000 characters, each up to 12 bytes when escaped
(RFC 8259, section 7)."""
BODY_SECONDS = 30.0
"""Our choice: the time limit for a body to arrive."""
MOST_AT_ONCE = 100
"""Our choice: the number of concurrent calls; a call waits up to a minute for its answer."""
MOST_COMING_BYTES = 64 * 1024**2
"""Our choice: the total of all bodies that are still arriving."""
RETRY_SECONDS = 5


class Guarded:
    """`app` behind these limits.

    Args:
        most: concurrent requests; a request whose body is still arriving does not count, or slow
            callers would keep out all others.
        body_seconds: the time limit for a body to arrive.
        most_bytes: the total of all bodies that are still arriving.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        most: int = MOST_AT_ONCE,
        body_seconds: float = BODY_SECONDS,
        most_bytes: int = MOST_COMING_BYTES,
    ) -> None:
        self._app = app
        self._most = most
        self._body_seconds = body_seconds
        self._most_bytes = most_bytes
        self._in_flight = InFlight(most_bytes)
        self._under_way = self._coming_bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            _admit(scope)
            body = await self._body(scope, receive)
            if body is not None:  # None: the client has gone away
                await self._serve(scope, _again(body, receive), send)
        except Problem as problem:
            await problem.response(uuid4())(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request to the app. Raises Problem: too many requests are in progress."""
        if self._under_way >= self._most:
            raise _Busy(f"{self._most} calls are under way, which is as many as are served")
        self._under_way += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._under_way -= 1

    async def _body(self, scope: Scope, receive: Receive) -> bytes | None:
        """Return the body, measured while it arrives; see `_whole`."""
        scope.setdefault("state", {})
        arriving = Body(
            scope,
            receive,
            places={("POST", scope["path"]): BodyLimit(MOST_BODY_BYTES)},
            largest=MOST_BODY_BYTES,
            seconds=self._body_seconds,
            in_flight=self._in_flight,
        )
        try:
            return await self._whole(arriving.receive)
        finally:
            arriving.release()

    async def _whole(self, receive: Receive) -> bytes | None:
        """Return the body; None if the client went away before its end.

        Raises:
            Problem: it is too large, too complex or too slow, or all bodies together are too large.
        """
        body = bytearray()
        try:
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    return None
                part = message.get("body", b"")
                if self._coming_bytes + len(part) > self._most_bytes:
                    raise _Busy("more is being sent than can be held")
                self._coming_bytes += len(part)
                body += part
                if not message.get("more_body", False):
                    return bytes(body)
        finally:
            self._coming_bytes -= len(body)


class _Busy(Problem):
    def __init__(self, detail: str) -> None:
        super().__init__(503, detail, headers={"Retry-After": str(RETRY_SECONDS)})


def _admit(scope: Scope) -> None:
    """Refuse requests that no assistant sends.

    Raises:
        Problem: 403, the request comes from a web page of another origin; 405, it is no POST.
    """
    headers = Headers(scope=scope)
    origin = headers.get("origin")
    if origin is not None and origin != f"{scope['scheme']}://{headers.get('host')}":
        raise Problem(403, "pages of another origin cannot use the tools")
    if scope["method"] != "POST":
        # The server sends nothing on a stream of its own, and there are no sessions to end.
        raise Problem(405, "send a call with POST", headers={"Allow": "POST"})


def _again(body: bytes, receive: Receive) -> Callable[[], Awaitable[Message]]:
    """Return a `receive` that first delivers the body that was read."""
    given = False

    async def receive_again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again
