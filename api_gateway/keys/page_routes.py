"""The page of keys: make one, which is shown once, and revoke one."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from uuid import UUID

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from api_gateway.auth.access import InCaller, Scope, needs
from api_gateway.pages.clocks import moment
from api_gateway.pages.forms import Form, FormOrNothing, refused_form
from api_gateway.pages.rendering import page
from api_gateway.pages.wording import KEY, SCOPE
from api_gateway.problems import Problem, invalid, not_found, request_id_of
from api_gateway.state import Gateway, InGateway
from knowledge.operation.access import access_policy
from store.access import keys
from store.core.unit_of_work import UnitOfWork
from store.models import LOCAL_OWNER, now

router = APIRouter(
    prefix="/operate/keys", include_in_schema=False, dependencies=[needs(Scope.KEYS)]
)


@router.get("")
def keys_page(request: Request, gateway: InGateway) -> HTMLResponse:
    """All keys by owner, and the form for a new one."""
    return _page(request, gateway, {"owner": LOCAL_OWNER})


@router.post("")
def create(request: Request, form: Form, gateway: InGateway, caller: InCaller) -> HTMLResponse:
    """Make a key and show it, this once; no address and no page holds it later."""
    most, names = access_policy().keys.longest_days, ("name", "owner", "days")
    given = {name: form.get(name, "").strip() for name in names}
    try:
        with gateway.store.unit_of_work(caller.actor("gateway"), request_id_of(request)) as work:
            issued = _issued(work, given, [scope for scope in keys.SCOPES if form.get(scope)], most)
    except ValueError as error:
        problem = invalid("form", str(error))
        return refused_form(_page(request, gateway, form, problem=problem), problem)
    return _page(request, gateway, {"owner": LOCAL_OWNER}, secret=issued.secret)


def _issued(
    work: UnitOfWork, given: Mapping[str, str], scopes: Sequence[str], most_days: int
) -> keys.Issued:
    """A new key. One that is valid, of the same owner and name, was made by the same form.

    Raises:
        ValueError: something does not fit; says what.
    """
    days = given["days"] if given["days"].isascii() and given["days"].isdecimal() else "0"
    if not 1 <= int(days[:9]) <= most_days:
        raise ValueError(f"a key holds for 1 to {most_days} days")
    ends = now() + timedelta(days=int(days))
    made = keys.create(
        work, name=given["name"], owner=given["owner"], scopes=scopes, expires_at=ends
    )
    for key in keys.listing(work.session, owner=given["owner"]):
        if key.name == made.key.name and keys.state(key, now()) == "valid" and key != made.key:
            raise ValueError("this owner has a key of that name: revoke it, or name the new one")
    return made


@router.post("/{key_id}/revoke")
def revoke(
    key_id: UUID, request: Request, _: FormOrNothing, gateway: InGateway, caller: InCaller
) -> Response:
    """End a key at once, with the browsers that signed in with it."""
    try:
        with gateway.store.unit_of_work(caller.actor("gateway"), request_id_of(request)) as work:
            keys.revoke(work, key_id)
    except LookupError:
        raise not_found("key") from None
    return RedirectResponse(router.prefix, 303)


def _page(
    request: Request,
    gateway: Gateway,
    given: Mapping[str, str],
    *,
    secret: str = "",
    problem: Problem | None = None,
) -> HTMLResponse:
    at = now()
    with gateway.store.reading() as session:
        rows = [(key, keys.state(key, at)) for key in keys.listing(session)]
    lines = [
        {
            "key": key,
            "valid": state == "valid",
            "badge": KEY[state],
            "ends": moment(key.expires_at),
            "used": moment(key.last_used_at),
        }
        for key, state in rows
    ]
    return page(
        request,
        "operate/keys.html",
        status=problem.status_code if problem else 200,
        owners=sorted({key.owner for key, _ in rows}),
        lines=sorted(lines, key=lambda line: (not line["valid"], line["key"].owner)),
        given=given,
        scopes=SCOPE,
        policy=access_policy().keys,
        secret=secret,
        error=problem.errors[0].message if problem else "",
    )
