"""The pages of the library: what is held, what is followed, and ways to begin."""

from collections.abc import Mapping
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import ValidationError
from sqlmodel import col, select

from api_gateway.auth.access import Caller, InCaller, Scope, needs
from api_gateway.library.schemas import MAX_WORDS_CHARS, DocumentsIn, SearchIn, of_years
from api_gateway.library.view import (
    choices,
    found_line,
    held_line,
    pack_views,
    page_address,
    suggested,
    watch_view,
)
from api_gateway.pages.forms import Form, FormOrNothing, fitting, refused_form
from api_gateway.pages.rendering import page
from api_gateway.pages.wording import plainly
from api_gateway.problems import Problem, from_validation, invalid, not_found, request_id_of
from api_gateway.sources.routes import refresh_source
from api_gateway.sources.schemas import RefreshIn
from api_gateway.sources.watch_routes import list_watches, stop_watch
from api_gateway.state import Gateway, InGateway
from clinical_text.packs import differences
from knowledge.feeds.packs import pack_named
from knowledge.feeds.sources import connector_policies
from knowledge.scenarios import scenarios
from store.documents import browse, library
from store.index.partitions import without
from store.models import Refresh, Watch, now
from store.sources import packs, refresh_requests

router = APIRouter(prefix="/library", include_in_schema=False)

PAGE = 25
WATCHES = f"{router.prefix}/watches"
Words = Annotated[str, Query(max_length=MAX_WORDS_CHARS)]
_FIELDS = ("q", "kind", "source", "disease", "state", "since", "until")


@router.get("", dependencies=[needs(Scope.READ, Scope.DOCUMENTS)])
def library_page(
    request: Request, gateway: InGateway, caller: InCaller, cursor: str | None = None
) -> Response:
    """What is held, by filter or by words."""
    if Scope.READ not in caller.scopes:
        return RedirectResponse("/evidence", 303)
    given = {name: request.query_params.get(name, "").strip() for name in _FIELDS}
    try:
        asked = _asked(given, cursor)
    except ValidationError as error:
        return _library(request, gateway, given, None, from_validation(error.errors()))
    except ValueError:
        problem = invalid("query.since, query.until", "write a year as 2024")
        return _library(request, gateway, given, None, problem)
    return _library(request, gateway, given, asked)


def _asked(given: Mapping[str, str], cursor: str | None) -> DocumentsIn | SearchIn:
    """Raises ValueError, ValidationError: the fields do not fit."""
    narrowed: dict[str, Any] = {
        "source_type": given["kind"] or None,
        "disease": given["disease"] or None,
        **of_years(given["since"], given["until"]),
    }
    if given["q"]:
        return SearchIn.model_validate({**narrowed, "q": given["q"], "limit": PAGE})
    more = {"source": given["source"] or None, "state": given["state"] or "current"}
    return DocumentsIn.model_validate({**narrowed, **more, "cursor": cursor, "limit": PAGE})


def _library(
    request: Request,
    gateway: Gateway,
    given: Mapping[str, str],
    asked: DocumentsIn | SearchIn | None,
    problem: Problem | None = None,
) -> HTMLResponse:
    lines, next_cursor = [], None
    with gateway.store.reading() as session:
        if isinstance(asked, SearchIn):
            found = library.search(
                session, asked.q, gateway.segments, only=asked.only, limit=asked.limit
            )
            lines = [found_line(one) for one in found]
        elif asked is not None:
            rows, next_cursor = library.listing(
                session, asked.wanted, cursor=asked.cursor, limit=asked.limit
            )
            lines = [held_line(one) for one in rows]
        counted = library.facets(session)
        empty = browse.holds_nothing(session)
        away = without(session)
    return page(
        request,
        "library/library.html",
        status=problem.status_code if problem else 200,
        given=given,
        error="; ".join(plainly(one.message) for one in problem.errors) if problem else "",
        choices=choices(counted),
        total=sum(many for _, many in counted["kinds"]),
        states=("current", "superseded", "retracted"),
        lines=lines,
        without=", ".join(away),
        empty=empty,
        newest=page_address(given, "") if isinstance(asked, DocumentsIn) and asked.cursor else "",
        older=page_address(given, next_cursor),
    )


@router.get("/watches", dependencies=[needs(Scope.READ)])
def watches_page(request: Request, gateway: InGateway, caller: InCaller) -> HTMLResponse:
    """What is followed, how far it is, and what else could be."""
    return _watches(request, gateway, caller)


def _watches(
    request: Request,
    gateway: Gateway,
    caller: Caller,
    given: Mapping[str, str] | None = None,
    problem: Problem | None = None,
) -> HTMLResponse:
    bodies = [one.model_dump() for one in list_watches(gateway, caller, every=True).watches]
    with gateway.store.reading() as session:
        states = packs.work_states(session, scenarios(), now(), differences)
        last = [body["refresh_id"] for body in bodies if body["refresh_id"]]
        found = session.exec(select(Refresh).where(col(Refresh.id).in_(last))) if last else ()
        runs = {run.id: run for run in found}
        views = [watch_view(body, runs.get(body["refresh_id"])) for body in bodies]
    return page(
        request,
        "library/watches.html",
        status=problem.status_code if problem else 200,
        watches=[one for one in views if one.active or one.awaited],
        stopped=[one for one in views if not (one.active or one.awaited)],
        sources=[(name, one.name) for name, one in connector_policies().items()],
        given={"source": "", "query": "", **(given or {})},
        error="; ".join(one.message for one in problem.errors) or problem.detail if problem else "",
        suggestions=suggested((one["source"], one["query"]) for one in bodies if one["active"]),
        packs=pack_views(states),
    )


@router.post("/watches", dependencies=[needs(Scope.OPERATE)])
def follow(request: Request, form: Form, gateway: InGateway, caller: InCaller) -> Response:
    """Follow a query and fetch what it brings at once."""
    source, query = form.get("source", ""), form.get("query", "")
    try:
        body = fitting(RefreshIn, query=query)
        refresh_source(source, request, Response(), gateway, caller, body)
    except Problem as problem:
        given = {"source": source, "query": query}
        return refused_form(_watches(request, gateway, caller, given, problem), problem)
    return RedirectResponse(WATCHES, 303)


@router.post("/watches/{watch_id}/stop", dependencies=[needs(Scope.OPERATE)])
def stop(
    request: Request, watch_id: UUID, _: FormOrNothing, gateway: InGateway, caller: InCaller
) -> Response:
    """Follow it no longer."""
    stop_watch(watch_id, request, gateway, caller)
    return RedirectResponse(WATCHES, 303)


@router.post("/watches/{watch_id}/follow", dependencies=[needs(Scope.OPERATE)])
def follow_again(
    request: Request, watch_id: UUID, _: FormOrNothing, gateway: InGateway, caller: InCaller
) -> Response:
    """Follow again what was stopped."""
    with gateway.store.unit_of_work(caller.actor("gateway"), request_id_of(request)) as work:
        watch = work.session.get(Watch, watch_id)
        if watch is None:
            raise not_found("watch")
        refresh_requests.refresh_query(work, watch.source, watch.query, now())
    return RedirectResponse(WATCHES, 303)


@router.post("/packs", dependencies=[needs(Scope.OPERATE)])
def fill_pack(request: Request, form: Form, gateway: InGateway, caller: InCaller) -> Response:
    """Fetch the works of a pack from the sources that have them, and follow them."""
    try:
        pack = pack_named(form.get("pack", ""))
    except LookupError:
        raise not_found("pack") from None
    with gateway.store.unit_of_work(caller.actor("gateway"), request_id_of(request)) as work:
        packs.fill(work, pack, now())
    return RedirectResponse(WATCHES, 303)
