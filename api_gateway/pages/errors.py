"""Problems as HTML pages for browsers; the JSON API keeps its own format."""

import json
from typing import Any
from urllib.parse import quote, urlsplit

from fastapi import FastAPI
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api_gateway.auth.browser_sessions import SAFE_METHODS, is_page
from api_gateway.pages.rendering import error_page, frame, headers
from api_gateway.problems import MEDIA_TYPE, NO_SUCH_ID, NO_SUCH_PATH

_FOR_PROGRAMS = frozenset({NO_SUCH_PATH, f"there is no such {NO_SUCH_ID}"})
"""Details of a 404 that only make sense to programs."""


class ErrorPages:
    """Middleware that turns a problem into a page if a browser requested a page.

    It wraps everything else, so that the code that raises a problem need not know about pages.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not asks_for_page(scope):
            await self._app(scope, receive, send)
            return
        await self._app(scope, receive, _Rewriting(scope, send).send)


def asks_for_page(scope: Scope) -> bool:
    """Whether a browser requested a page to show."""
    if scope["path"].startswith("/v1/"):
        return False
    return "text/html" in Headers(scope=scope).get("accept", "")


class _Rewriting:
    """An outgoing response; a problem is held back until it is complete."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope = scope
        self._send = send
        self._held: Message | None = None
        self._body = b""

    async def send(self, message: Message) -> None:
        """Send a part of the response, or a page in place of a problem."""
        if message["type"] == "http.response.start":
            kind = Headers(raw=message["headers"]).get("content-type", "")
            if kind.partition(";")[0] == MEDIA_TYPE:
                self._held = message
                return
        if self._held is None:
            await self._send(message)
            return
        self._body += message.get("body", b"")
        if not message.get("more_body"):
            await self._as_page(self._held, json.loads(self._body))

    async def _as_page(self, start: Message, problem: dict[str, Any]) -> None:
        app: FastAPI = self._scope["app"]
        state = self._scope.get("state", {})
        if state.get("sign_in"):
            await self._to_sign_in(start)
            return
        if problem.get("detail") in _FOR_PROGRAMS:
            problem = {**problem, "detail": "there is no page at this address"}
        around = frame(app, self._scope["path"], state.get("caller"))
        shown = error_page(around, problem, problem.get("request_id", "")).encode()
        changed = MutableHeaders(scope=start)
        for name, value in headers().items():
            changed[name] = value
        changed["Content-Type"] = "text/html; charset=utf-8"
        changed["Content-Length"] = str(len(shown))
        await self._send(start)
        body = b"" if self._scope["method"] == "HEAD" else shown
        await self._send({"type": "http.response.body", "body": body})

    async def _to_sign_in(self, start: Message) -> None:
        """Redirect to the sign-in page. From there the user gets back to the requested page, or to
        the page of a form that was sent; the sign-in page then says that it was not accepted."""
        if self._scope["method"] in SAFE_METHODS:
            query = self._scope["query_string"].decode("latin-1")
            address = self._scope["path"] + (f"?{query}" if query else "")
            back = f"?next={quote(address, safe='')}"
        else:
            address = _sent_from(Headers(scope=self._scope))
            back = "?unsent=yes" + (f"&next={quote(address, safe='')}" if address else "")
        start["status"] = 303
        changed = MutableHeaders(scope=start)
        del changed["WWW-Authenticate"], changed["Content-Type"]
        changed["Location"] = f"/signin{back}"
        changed["Content-Length"] = "0"
        await self._send(start)
        await self._send({"type": "http.response.body", "body": b""})


def _sent_from(headers: Headers) -> str:
    """Our page with the form that was sent, from the Referer; empty if it names none."""
    try:
        parts = urlsplit(headers.get("referer", ""))
    except ValueError:
        return ""
    if parts.netloc != headers.get("host") or not is_page(parts.path):
        return ""
    return parts.path + (f"?{parts.query}" if parts.query else "")
