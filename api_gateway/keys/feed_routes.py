"""The feed of an owner's answers that changed (Atom, RFC 4287), under links that can be ended.

A link holds a key whose one scope is `feed`: it opens nothing else, and is made, listed, ended and
audited as keys are. The feed holds no words of questions, which could be erased nowhere else.
"""

from datetime import timedelta
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from api_gateway.auth.access import Caller, InCaller, Scope, authenticate, needs, take_turn
from api_gateway.auth.origins import address
from api_gateway.pages.clocks import moment
from api_gateway.pages.forms import FormOrNothing
from api_gateway.pages.rendering import page, render
from api_gateway.pages.wording import RECALL
from api_gateway.problems import not_found, request_id_of
from api_gateway.state import Gateway, InGateway
from knowledge.operation.access import access_policy
from store.access import keys
from store.models import AccessKey, now
from store.recalls import log

router = APIRouter(include_in_schema=False)

PLACE = "/questions/feed"
MEDIA_TYPE = "application/atom+xml"
SHOWN = timedelta(days=30)
MOST = 100
"""Our choice, both: a reader of feeds comes back sooner."""


@router.get(PLACE, dependencies=[needs(Scope.ASK)])
def links_page(request: Request, gateway: InGateway, caller: InCaller) -> HTMLResponse:
    """The links of this owner that hold, and the button for a new one."""
    return _page(request, gateway, caller)


@router.post(PLACE, dependencies=[needs(Scope.ASK)])
def make_link(
    request: Request, _: FormOrNothing, gateway: InGateway, caller: InCaller
) -> HTMLResponse:
    """Make a link and show it, this once."""
    ends = now() + timedelta(days=access_policy().keys.feed_days)
    with gateway.store.unit_of_work(caller.actor("gateway"), request_id_of(request)) as work:
        made = keys.create(
            work, name="feed", owner=caller.owner, scopes=[Scope.FEED], expires_at=ends
        )
    return _page(request, gateway, caller, f"{_here(request)}/feeds/{made.secret}")


@router.post(f"{PLACE}/{{key_id}}/end", dependencies=[needs(Scope.ASK)])
def end_link(
    key_id: UUID, request: Request, _: FormOrNothing, gateway: InGateway, caller: InCaller
) -> Response:
    """End a link at once."""
    with gateway.store.unit_of_work(caller.actor("gateway"), request_id_of(request)) as work:
        if key_id not in {
            key.id for key in keys.listing(work.session, owner=caller.owner) if _is_link(key)
        }:
            raise not_found("link")
        keys.revoke(work, key_id)
    return RedirectResponse(PLACE, 303)


@router.get("/feeds/{key}")
def feed(
    key: Annotated[str, Path(max_length=100)], request: Request, gateway: InGateway
) -> Response:
    """What became of the answers of the link's owner, the newest first.

    Raises:
        Refused: 401 or 429; the link does not hold, or is asked for too often.
        Problem: 404; the key opens more than a feed, and belongs into no address.
    """
    caller = authenticate(gateway, key)
    if caller.scopes != {Scope.FEED}:
        raise not_found("feed")
    take_turn(gateway, caller)
    with gateway.store.reading() as session:
        found = log.feed(session, owner=caller.owner, since=now() - SHOWN, limit=1000).changes
    text = render(
        "questions/feed.xml",
        id=caller.key_id,
        here=_here(request),
        changes=[one for one in reversed(found) if one.state != "affected"][:MOST],
        states=RECALL,
        at=now(),
    )
    return Response(text, media_type=MEDIA_TYPE)


def _is_link(key: AccessKey) -> bool:
    return key.scopes == [Scope.FEED] and keys.state(key, now()) == "valid"


def _here(request: Request) -> str:
    return address(request.url.scheme, request.headers)


def _page(request: Request, gateway: Gateway, caller: Caller, link: str = "") -> HTMLResponse:
    with gateway.store.reading() as session:
        links = [
            {
                "id": key.id,
                "made": moment(key.created_at),
                "used": moment(key.last_used_at),
                "ends": moment(key.expires_at),
            }
            for key in keys.listing(session, owner=caller.owner)
            if _is_link(key)
        ]
    return page(request, "questions/feed.html", links=links, link=link, here=PLACE)
