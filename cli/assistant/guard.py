"""What stands before the tools over HTTP: who may send, how much, for how long, how many at once.

The SDK refuses foreign hosts, but lets in pages of every other port of this machine, waits for a
slow body for ever, reads 4 MB of small JSON values one after the other, opens an event stream on
which nothing will ever come, and counts nobody. Here a body is read and measured first, and the
tools get it whole.
"""

from collections.abc import Awaitable, Callable
from uuid import uuid4

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api_gateway.backpressure.bodies import Body, BodyLimit, InFlight
from api_gateway.problems import Problem

MOST_BODY_BYTES = 2 * 1024**2
"""Ours: a text to verify has up to 100,000 characters, of up to 12 bytes each where it is escaped
(RFC 8259, section 7)."""
BODY_SECONDS = 30.0
"""Ours: within which a body must have arrived."""
MOST_AT_ONCE = 100
"""Ours: calls under way; one that waits for its answer takes up to a minute."""
MOST_COMING_BYTES = 64 * 1024**2
"""Ours: of all bodies that are still coming, together."""
RETRY_SECONDS = 5


class Guarded:
    """`app` behind these limits.

    Args:
        most: requests under way at a time; whose body has not come whole is not among them, or
            slow callers would keep out all others.
        body_seconds: within which a body must have arrived.
        most_bytes: of all bodies that are still coming, together.
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
            if body is not None:  # else the client has gone away
                await self._serve(scope, _again(body, receive), send)
        except Problem as problem:
            await problem.response(uuid4())(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Raises Problem: too many are under way."""
        if self._under_way >= self._most:
            raise _Busy(f"{self._most} calls are under way, which is as many as are served")
        self._under_way += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._under_way -= 1

    async def _body(self, scope: Scope, receive: Receive) -> bytes | None:
        """The body, measured while it comes; see `_whole`."""
        scope.setdefault("state", {})
        coming = Body(
            scope,
            receive,
            places={("POST", scope["path"]): BodyLimit(MOST_BODY_BYTES)},
            largest=MOST_BODY_BYTES,
            seconds=self._body_seconds,
            in_flight=self._in_flight,
        )
        try:
            return await self._whole(coming.receive)
        finally:
            coming.release()

    async def _whole(self, receive: Receive) -> bytes | None:
        """The body; None if the client went away before its end.

        Raises:
            Problem: it is too large, too full or too slow, or too much is coming from all together.
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
    """Refuse what no assistant sends.

    Raises:
        Problem: 403, a web page of another origin is behind it; 405, nothing is sent.
    """
    headers = Headers(scope=scope)
    origin = headers.get("origin")
    if origin is not None and origin != f"{scope['scheme']}://{headers.get('host')}":
        raise Problem(403, "pages of another origin cannot use the tools")
    if scope["method"] != "POST":
        # Nothing is ever sent on a stream of its own, and there are no sessions to end.
        raise Problem(405, "send a call with POST", headers={"Allow": "POST"})


def _again(body: bytes, receive: Receive) -> Callable[[], Awaitable[Message]]:
    """`receive` as if the body came now."""
    given = False

    async def receive_again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again
