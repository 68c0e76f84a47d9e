"""Methods that no route declares: HEAD wherever there is GET, and OPTIONS (RFC 9110, 9.3)."""

from collections.abc import Iterable, MutableMapping
from typing import Any

from fastapi import FastAPI
from fastapi.routing import RouteContext, iter_route_contexts
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send


def routes_at(app: FastAPI, path: str) -> list[RouteContext]:
    """The routes of a path, whatever their methods."""
    return [route for route in iter_route_contexts(app.routes) if route.path_regex.match(path)]


def allow(routes: Iterable[RouteContext]) -> str:
    """The `Allow` header of a path that has these routes."""
    methods = {method for route in routes for method in route.methods or ()} | {"OPTIONS"}
    return ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))


class Methods:
    """Middleware that answers OPTIONS, and HEAD like GET without the body.

    It wraps the gate, so that HEAD needs the same key and scope as GET, and is wrapped by the
    envelope, which counts and audits the request under its own method.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = scope["method"] if scope["type"] == "http" else None
        if method == "HEAD":
            await self._head(scope, receive, send)
            return
        if method == "OPTIONS" and (routes := routes_at(scope["app"], scope["path"])):
            scope["route"] = routes[0].original_route  # names it in the log
            response = Response(status_code=204, headers={"Allow": allow(routes)})
            await response(scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _head(self, scope: Scope, receive: Receive, send: Send) -> None:
        # A copy: the server and the outer middleware must still see a HEAD.
        get_scope = {**scope, "method": "GET", "query_string": _unwaiting(scope["query_string"])}

        async def send_head(message: Message) -> None:
            if message["type"] == "http.response.start":
                _name(scope, get_scope)
                if "gzip" in Headers(scope=scope).get("accept-encoding", ""):
                    del MutableHeaders(scope=message)["content-length"]  # a GET's would be less
                await send(message)
                # This ends the response, which tells an event stream that nobody listens.
                await send({"type": "http.response.body", "body": b""})

        try:
            await self._app(get_scope, receive, send_head)
        finally:
            _name(scope, get_scope)


def _unwaiting(query: bytes) -> bytes:
    """The query without `wait`, as a HEAD request has no use for a long poll."""
    return b"&".join(pair for pair in query.split(b"&") if pair.partition(b"=")[0] != b"wait")


def _name(scope: MutableMapping[str, Any], asked: Scope) -> None:
    """Copy the matched route from `asked` to `scope`, for the log."""
    if "route" in asked:
        scope["route"] = asked["route"]
