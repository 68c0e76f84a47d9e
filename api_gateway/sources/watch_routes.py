"""The API routes of watches: list what is followed, follow a query, stop following it."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from api_gateway.auth.access import InCaller, Scope, needs
from api_gateway.problems import documented, invalid, not_found, request_id_of
from api_gateway.sources.routes import require_known, source_out
from api_gateway.sources.schemas import FollowedOut, WatchIn, WatchList
from api_gateway.state import Gateway, InGateway
from knowledge.feeds.queries import QueryRefused, plain_query
from store.models import now
from store.sources import source_report, watches

router = APIRouter(prefix="/v1/watches", tags=["sources"])


@router.get(
    "",
    summary="List what is followed",
    description="Each query at each source, with its age and its latest refresh; `all` lists those "
    "that are no longer followed too.",
    dependencies=[needs(Scope.READ)],
    responses=documented(422, 503),
)
def list_watches(
    gateway: InGateway, caller: InCaller, every: Annotated[bool, Query(alias="all")] = False
) -> WatchList:
    """The queries, by source."""
    with gateway.store.reading() as session:
        reports = source_report.report(session, now())
    sources = [source_out(caller, source_report.body(report)) for report in reports]
    return WatchList(
        watches=[
            FollowedOut(source=source.name, title=source.title, **dict(watch))
            for source in sources
            for watch in source.watches
            if every or watch.active
        ]
    )


@router.post(
    "",
    status_code=201,
    summary="Follow a query",
    description="The scheduler begins its first refresh. One that was followed before is followed "
    "again. A query that the source's connector refuses ends as a failed refresh.",
    response_description="Followed; `Location` says where",
    dependencies=[needs(Scope.OPERATE)],
    responses=documented(400, 403, 404, 413, 415, 422, 503),
)
def add_watch(
    request: Request, response: Response, gateway: InGateway, caller: InCaller, body: WatchIn
) -> FollowedOut:
    """Follow it from now on."""
    require_known(body.source)
    try:
        query = plain_query(body.source, body.query)
    except QueryRefused as error:
        raise invalid("body.query", str(error)) from error
    with gateway.store.unit_of_work(caller.actor("gateway"), request_id_of(request)) as work:
        watch_id = watches.follow(work, body.source, query, "user", now()).id
    response.headers["Location"] = f"{router.prefix}/{watch_id}"
    return _shown(gateway, caller, watch_id)


@router.get(
    "/{watch_id}",
    summary="Get what is followed",
    dependencies=[needs(Scope.READ)],
    responses=documented(404, 422, 503),
)
def get_watch(watch_id: UUID, gateway: InGateway, caller: InCaller) -> FollowedOut:
    """One query."""
    return _shown(gateway, caller, watch_id)


@router.delete(
    "/{watch_id}",
    summary="Follow a query no longer",
    description="What it brought stays held, and grows stale. It can be followed again.",
    dependencies=[needs(Scope.OPERATE)],
    responses=documented(403, 404, 422, 503),
)
def stop_watch(
    watch_id: UUID, request: Request, gateway: InGateway, caller: InCaller
) -> FollowedOut:
    """Stop following it."""
    try:
        with gateway.store.unit_of_work(caller.actor("gateway"), request_id_of(request)) as work:
            watches.stop(work, watch_id, now())
    except LookupError:
        raise not_found("watch") from None
    return _shown(gateway, caller, watch_id)


def _shown(gateway: Gateway, caller: InCaller, watch_id: UUID) -> FollowedOut:
    for watch in list_watches(gateway, caller, every=True).watches:
        if watch.id == watch_id:
            return watch
    raise not_found("watch")
