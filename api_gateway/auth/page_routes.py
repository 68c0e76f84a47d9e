"""The pages to sign in with a key and to sign out."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from api_gateway.auth.access import authenticate, take_turn
from api_gateway.auth.browser_sessions import COOKIE, FIELD, cookie_of, csrf_of, destination, same
from api_gateway.auth.origins import asked_in
from api_gateway.auth.refusals import Refused
from api_gateway.backpressure.bodies import KIB, BodyLimit
from api_gateway.pages.forms import Form
from api_gateway.pages.rendering import frame, page
from api_gateway.problems import request_id_of
from api_gateway.state import InGateway
from knowledge.operation.access import access_policy
from store.access import sessions
from store.models import now

router = APIRouter(include_in_schema=False)

BODY_LIMITS = {
    ("POST", "/signin"): BodyLimit(16 * KIB),
    ("POST", "/signout"): BodyLimit(4 * KIB),
}
"""Enough for a form with a key and the address of a page of up to 2000 characters."""
MAX_KEY_CHARS = 200


@router.get("/signin")
def sign_in_page(
    request: Request, next: Annotated[str, Query()] = "", unsent: Annotated[str, Query()] = ""
) -> HTMLResponse:
    """Where a key is asked for; `next` is the page that was to be read, `unsent` that a form was
    sent when nobody was signed in any more."""
    return _form(request, next, unsent=bool(unsent))


def _form(
    request: Request, asked: str, problem: str = "", status: int = 200, *, unsent: bool = False
) -> HTMLResponse:
    return page(
        request,
        "signin.html",
        status=status,
        next=destination(asked, ""),
        problem=problem,
        unsent=unsent,
        most=MAX_KEY_CHARS,
    )


@router.post("/signin")
def sign_in(request: Request, form: Form, gateway: InGateway) -> Response:
    """Begin a session for whoever has a key that holds."""
    next_page = form.get("next", "")
    try:
        caller = authenticate(gateway, form.get("key", "").strip())
        take_turn(gateway, caller)
    except Refused as refused:
        request.state.problem = refused  # the middleware writes refusals to the audit
        return _form(request, next_page, refused.detail, refused.status_code)
    assert caller.key_id is not None
    request_id = request_id_of(request)
    with gateway.store.unit_of_work(caller.actor("gateway"), request_id) as work:
        before = cookie_of(request.headers)
        if before is not None:
            sessions.end(work, before)
        hours = access_policy().sessions.hours
        token, ends = sessions.begin(work, caller.key_id, hours=hours)
    shown = frame(request.app, "/", caller)["nav"]
    response = RedirectResponse(destination(next_page, shown[0][1] if shown else "/"), 303)
    response.set_cookie(
        COOKIE,
        token,
        max_age=max(0, int((ends - now()).total_seconds())),
        path="/",
        secure=_is_secure(request),
        httponly=True,
        samesite="strict",
    )
    return response


@router.post("/signout")
def sign_out(request: Request, form: Form, gateway: InGateway) -> Response:
    """End the session of this browser.

    Raises:
        Refused: the form is not one of this session.
    """
    token = cookie_of(request.headers)
    if token is not None:
        if not same(form.get(FIELD, ""), csrf_of(token)):
            raise Refused(
                403,
                "the form was not sent from a page of this sign-in: load the page again",
                reason="no_csrf_token",
            )
        with gateway.store.unit_of_work("gateway", request_id_of(request)) as work:
            sessions.end(work, token)
    response = RedirectResponse("/signin", 303)
    response.delete_cookie(
        COOKIE, path="/", secure=_is_secure(request), httponly=True, samesite="strict"
    )
    return response


def _is_secure(request: Request) -> bool:
    """Whether the browser used TLS, to the gateway itself or to a proxy in front of it."""
    return "https" in (request.url.scheme, asked_in(request.url.scheme, request.headers))
