"""The gate: middleware that admits a caller before the body of the request is read."""

from collections.abc import Iterable, Mapping, Sequence

from fastapi import FastAPI
from fastapi.routing import RouteContext, iter_route_contexts
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as Connection

from api_gateway.auth.access import Scope, admitted, named, repeats, require, scopes_of
from api_gateway.auth.browser_sessions import is_page, token_of
from api_gateway.auth.refusals import Refused
from api_gateway.state import Gateway


def guarded_routes(app: FastAPI) -> Iterable[tuple[RouteContext, tuple[Scope, ...]]]:
    """The routes that name scopes, in the order in which they are matched."""
    for route in iter_route_contexts(app.routes):
        scopes = scopes_of(route)
        if scopes:
            yield route, scopes


_Guarded = tuple[str, RouteContext, tuple[Scope, ...], bool]
"""The prefix of a route's paths, the route, its scopes, and whether it remembers callers."""


def _by_method(app: FastAPI) -> Mapping[str, Sequence[_Guarded]]:
    guarded: dict[str, list[_Guarded]] = {}
    for route, scopes in guarded_routes(app):
        begins = (route.path_format or "").partition("{")[0]
        entry = (begins, route, scopes, bool(named(route, "remembers")))
        for method in route.methods or ():
            guarded.setdefault(method, []).append(entry)
    return guarded


class Gate:
    """Admits or refuses a caller before the body of the request is read."""

    def __init__(self, app: ASGIApp, *, gateway: Gateway) -> None:
        self._app = app
        self._gateway = gateway
        self._guarded: Mapping[str, Sequence[_Guarded]] | None = None

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._admit(scope)
        await self._app(scope, receive, send)

    async def _admit(self, scope: Connection) -> None:
        """Raises Refused: 401, 403 or 429."""
        if self._guarded is None:
            self._guarded = _by_method(scope["app"])
        path = scope["path"]
        for begins, route, scopes, remembers in self._guarded.get(scope["method"], ()):
            if path.startswith(begins) and route.path_regex.match(path):
                scope["route"] = route.original_route  # names it in the log if it is refused here
                caller = scope["state"].get("caller")  # set by an outer layer, if it admits callers
                if caller is None:
                    headers = Headers(scope=scope)
                    token = token_of(scope["method"], path, headers)
                    try:
                        caller = await admitted(
                            self._gateway,
                            headers.get("authorization"),
                            token,
                            repeats(self._gateway, route, headers),
                            remembers=remembers,
                        )
                    except Refused as refused:
                        stranger = refused.status_code == 401 and "authorization" not in headers
                        scope["state"]["sign_in"] = stranger and is_page(path)
                        raise
                    scope["state"]["caller"] = caller
                require(caller, scopes)
                return
