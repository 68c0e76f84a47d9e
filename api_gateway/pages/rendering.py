"""Rendering: makes responses of templates, with the frame and the security policy of a page."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import UUID

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse
from fastapi.routing import iter_route_contexts
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from api_gateway.auth.access import LOCAL, Caller, Scope, scopes_of
from api_gateway.auth.browser_sessions import FIELD, masked
from api_gateway.auth.requirement import keys_required
from api_gateway.documents.adding_view import SAMPLES
from api_gateway.documents.evidence_view import exact
from api_gateway.pages.clocks import dollars, milliseconds, moment, second
from api_gateway.problems import GIVEN_UP
from store.core.printable import printable

_HERE = Path(__file__).parent
STATIC = _HERE / "static"
MEDIA_TYPES: Mapping[str, str] = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
NAVIGATION = (
    ("Ask", "/"),
    ("History", "/questions"),
    ("Library", "/library"),
    ("Verify", "/verify"),
    ("Extractions", "/extractions"),
    ("Notes", "/notes"),
    ("Operate", "/operate"),
)
"""The navigation in order; pages that are not served are left out."""


@dataclass(frozen=True)
class StaticFile:
    """A static file of the pages; its address contains the hash of its content."""

    content: bytes
    media_type: str
    version: str


@cache
def static_files() -> Mapping[str, StaticFile]:
    """All static files by their path below `/static/`, read once."""
    files = {}
    for path in sorted(STATIC.rglob("*")):
        if path.suffix in MEDIA_TYPES:
            content = path.read_bytes()
            version = hashlib.sha256(content).hexdigest()[:12]
            name = path.relative_to(STATIC).as_posix()
            files[name] = StaticFile(content, MEDIA_TYPES[path.suffix], version)
    return files


def static_url(name: str) -> str:
    """The address of a static file.

    Raises:
        KeyError: there is no such file.
    """
    return f"/static/{name}?v={static_files()[name].version}"


def seen(value: Any) -> Any:
    """A template value without characters that act; carriage returns are harmless and are kept."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return "\r".join(printable(line, lines=True) for line in value.split("\r"))


def pretty(body: Any) -> str:
    """A JSON value for people."""
    return json.dumps(body, indent=1, ensure_ascii=False, sort_keys=True)


@cache
def _environment() -> Environment:
    """The templates. Every value is escaped. Values that do not go through `exact` (quotations,
    their source texts, and the fields of a form) also lose characters that act, so that a title
    cannot reorder a verdict beside it."""
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        finalize=seen,
    )
    environment.filters["exact"] = exact
    environment.filters["seen"] = seen
    environment.filters.update(moment=moment, second=second, took=milliseconds)
    environment.filters.update(dollars=dollars, pretty=pretty)
    # A browser silently cuts a longer paste, and counts UTF-16 units, up to two per character. With
    # this limit a cut text is too long by our count and is refused, not taken for complete.
    environment.filters["room"] = lambda characters: 2 * characters + 1
    environment.filters["megabytes"] = lambda count: f"{count / 1024**2:.3g} MB"
    environment.filters["inquery"] = lambda words: quote(str(words), safe="")
    environment.globals.update(static=static_url, given_up=GIVEN_UP, samples=SAMPLES.is_dir())
    macros = environment.get_template("macros.html").module
    for name in (
        "icon",
        "badge",
        "when",
        "clock",
        "quotation",
        "text",
        "paging",
        "sent_before",
        "heading",
    ):
        environment.globals[name] = getattr(macros, name)
    # Defaults for a page without a caller: nothing is hidden, and no form needs a token.
    environment.globals.update(may=frozenset(map(str, Scope)), csrf="", signed_in=False)
    return environment


NOBODY: Mapping[str, Any] = {"nav": (), "may": frozenset[str](), "csrf": "", "signed_in": False}
"""The frame of a page for somebody who is not known: it leads nowhere and changes nothing."""


def policy(image_origins: Iterable[str] = ()) -> str:
    """The content-security policy of a page: its own scripts and styles, nothing else.

    Args:
        image_origins: the origins of the figures that this page may show.
    """
    images = " ".join(["'self'", "data:", *image_origins])
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; "
        f"img-src {images}; connect-src 'self'; form-action 'self'; "
        "frame-ancestors 'none'; base-uri 'none'"
    )


def headers(image_origins: Iterable[str] = ()) -> dict[str, str]:
    """The headers of a page. The policy is `same-origin`, as under `no-referrer` a browser sends
    forms with `Origin: null`, which the gateway takes for another origin."""
    return {
        "Content-Security-Policy": policy(image_origins),
        "Referrer-Policy": "same-origin",
    }


def navigation(app: FastAPI) -> list[tuple[str, str, frozenset[str]]]:
    """The titles and addresses of the pages that this gateway serves, and the scopes of which any
    one is enough to see them."""
    pages: list[tuple[str, str, frozenset[str]]] | None = getattr(app.state, "navigation", None)
    if pages is None:
        served = {
            str(route.path): frozenset(map(str, scopes_of(route)))
            for route in iter_route_contexts(app.routes)
            if "GET" in (route.methods or ())
        }
        pages = [(title, path, served[path]) for title, path in NAVIGATION if path in served]
        app.state.navigation = pages
    return pages


def warm_up() -> None:
    """Read the files and compile all templates, so that the first request need not wait for it."""
    static_files()
    environment = _environment()
    for name in environment.list_templates(["html"]):
        environment.get_template(name)


def frame(app: FastAPI, path: str, caller: Caller | None) -> dict[str, Any]:
    """The values of a page's frame for this caller; None means that no caller is known."""
    gateway = getattr(app.state, "gateway", None)
    if caller is None and (gateway is None or not keys_required(gateway.settings)):
        caller = LOCAL
    scopes = frozenset(map(str, caller.scopes)) if caller is not None else frozenset[str]()
    return {
        "nav": [(title, to) for title, to, wanted in navigation(app) if wanted & scopes],
        "path": path,
        "may": scopes,
        "csrf": _csrf(caller.csrf) if caller is not None else "",
        "signed_in": caller is not None and caller.csrf is not None,
    }


def _csrf(token: str | None) -> Markup | str:
    """The hidden form field with the CSRF token; empty if no token is needed."""
    if token is None:
        return ""
    return Markup('<input type="hidden" name="{}" value="{}">').format(FIELD, masked(token))


def render(template: str, **values: Any) -> str:
    """The text of a template filled with `values`."""
    return _environment().get_template(template).render(**values)


def page(
    request: Request,
    template: str,
    *,
    status: int = 200,
    image_origins: Iterable[str] = (),
    **values: Any,
) -> HTMLResponse:
    """A page with its frame, for the caller of `request`."""
    caller = getattr(request.state, "caller", None)
    text = render(template, **{**frame(request.app, request.url.path, caller), **values})
    return HTMLResponse(text, status, headers=headers(image_origins))


def error_page(
    around: Mapping[str, Any], problem: Mapping[str, Any], request_id: UUID | str
) -> str:
    """The page of a problem (RFC 9457) in its frame, with the request id that the log uses."""
    return render("error.html", **around, problem=problem, request_id=str(request_id))
