"""Methods that no route names: HEAD wherever there is GET, and OPTIONS (RFC 9110, 9.3)."""

from collections.abc import Iterable, MutableMapping
from typing import Any

from fastapi import FastAPI
from fastapi.routing import RouteContext, iter_route_contexts
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send


def routes_at(app: FastAPI, path: str) -> list[RouteContext]:
    """The routes of a path, whatever their methods."""
    return [one for one in iter_route_contexts(app.routes) if one.path_regex.match(path)]


def allow(routes: Iterable[RouteContext]) -> str:
    """The `Allow` header of a path that has these routes."""
    methods = {method for route in routes for method in route.methods or ()} | {"OPTIONS"}
    return ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))


class Methods:
    """Answers OPTIONS, and HEAD as GET without the body.

    It stands around the gate, so that HEAD needs the key and the scope that GET needs, and inside
    the envelope, which counts and audits the request under its own method.
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
            answer = Response(status_code=204, headers={"Allow": allow(routes)})
            await answer(scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _head(self, scope: Scope, receive: Receive, send: Send) -> None:
        # A copy: the server and who stands further out must go on to see a HEAD.
        asked = {**scope, "method": "GET", "query_string": _unwaiting(scope["query_string"])}

        async def send_head(message: Message) -> None:
            if message["type"] == "http.response.start":
                _name(scope, asked)
                await send(message)
                # It ends here, which tells an event stream that nobody listens.
                await send({"type": "http.response.body", "body": b""})

        try:
            await self._app(asked, receive, send_head)
        finally:
            _name(scope, asked)


def _unwaiting(query: bytes) -> bytes:
    """The query without `wait`: a long poll is for its body."""
    return b"&".join(one for one in query.split(b"&") if one.partition(b"=")[0] != b"wait")


def _name(scope: MutableMapping[str, Any], asked: Scope) -> None:
    """Take over the route that was found, for the log."""
    if "route" in asked:
        scope["route"] = asked["route"]
