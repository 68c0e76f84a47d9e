"""The API routes of sources: their freshness, refreshes, and findings about their records."""

from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from api_gateway.auth.access import Caller, InCaller, Scope, needs
from api_gateway.http.waiting import settled
from api_gateway.problems import Problem, documented, invalid, not_found, request_id_of
from api_gateway.schemas import MAX_WAIT_SECONDS
from api_gateway.sources.schemas import (
    FindingOut,
    FindingPage,
    HeldOut,
    RefreshesPromised,
    RefreshIn,
    RefreshOut,
    RefreshPromised,
    SourceList,
    SourceOut,
)
from api_gateway.state import Gateway, InGateway
from knowledge.feeds.queries import QueryRefused, plain_query
from knowledge.feeds.sources import connector_policies
from store.core.unit_of_work import UnitOfWork
from store.documents import browse, finding_log
from store.documents.findings import Kind as FindingKind
from store.models import Refresh, Watch, now
from store.sources import refresh_requests, refreshes, source_report

router = APIRouter(prefix="/v1", tags=["sources"])

RETRY_AFTER_SECONDS = 1


@router.get(
    "/sources",
    summary="List sources with their freshness",
    description="`sources`: each source that is followed or brought something, with its age "
    "against the SLA, how it stands, its last success and error, its next run, and what it "
    "brought; `all=true` lists the others too. `held`: each kind of source of which something is "
    "held, uploads included, and when the longest unchecked document was looked at.",
    dependencies=[needs(Scope.READ)],
    responses=documented(422, 503),
)
def list_sources(
    gateway: InGateway,
    caller: InCaller,
    every: Annotated[
        bool, Query(alias="all", description="also sources that were never followed")
    ] = False,
) -> SourceList:
    """All sources that are followed or held."""
    with gateway.store.reading() as session:
        reports = source_report.report(session, now())
        held = browse.sources(session)
    return SourceList(
        sources=[
            source_out(caller, source_report.body(report))
            for report in reports
            if every or report.is_known
        ],
        held=[HeldOut.model_validate(source_report.held_body(state)) for state in held],
    )


def source_out(caller: Caller, body: dict[str, Any]) -> SourceOut:
    """A source as this caller may see it."""
    watches = [
        {
            **watch,
            "query": _query_for(caller, watch["query"], watch["origin"]),
            "last_error": _said_to(caller, watch["last_error"]),
        }
        for watch in body["watches"]
    ]
    errors = {name: _said_to(caller, body[name]) for name in ("reason", "last_error")}
    return SourceOut.model_validate({**body, **errors, "watches": watches})


def _query_for(caller: Caller, query: str, *made_by: str) -> str | None:
    """The query, or None if this caller may not read it. A query made from a question belongs to
    the question's owner, who is not known here, so only operators see it."""
    return None if "abstention" in made_by and Scope.OPERATE not in caller.scopes else query


def _said_to(caller: Caller, said: str | None) -> str | None:
    """A source's error text, for operators only: it may repeat a query made from a question."""
    return said if Scope.OPERATE in caller.scopes else None


@router.post(
    "/sources/{name}/refresh",
    status_code=202,
    summary="Refresh a source now",
    description="Without a body: all queries that are followed there. With `query`: that one, "
    "followed from now on, or asked once if `keep` is false. A refresh under way is given as it "
    "is and not doubled. A query that the source's connector refuses ends as a failed refresh.",
    response_description="Promised; `Location` says where to look, for the first of them",
    dependencies=[needs(Scope.OPERATE)],
    responses=documented(400, 403, 404, 413, 415, 422, 503),
)
def refresh_source(
    name: str,
    request: Request,
    response: Response,
    gateway: InGateway,
    caller: InCaller,
    body: RefreshIn | None = None,
) -> RefreshesPromised:
    """Promise the refreshes to the refresh stage."""
    require_known(name)
    query = _checked_query(name, body)
    try:
        with gateway.store.unit_of_work(caller.actor("gateway"), request_id_of(request)) as work:
            refreshed = _promise(work, name, query, keep=body is None or body.keep)
    except refresh_requests.NothingFollowed as error:
        raise invalid("body.query", str(error)) from error
    promised = [
        RefreshPromised(
            id=refresh.id,
            watch_id=refresh.watch_id,
            status=refresh.status,
            href=f"{router.prefix}/refreshes/{refresh.id}",
        )
        for refresh in refreshed
    ]
    response.headers["Location"] = promised[0].href
    return RefreshesPromised(refreshes=promised)


def require_known(name: str) -> None:
    """Raises Problem: there is no such source."""
    if name not in connector_policies():
        known = list(connector_policies())
        raise Problem(
            404, f"there is no such source: use one of {', '.join(known)}", extra={"sources": known}
        )


def _checked_query(name: str, body: RefreshIn | None) -> str | None:
    if body is None or body.query is None:
        if body is not None and not body.keep:
            raise invalid("body.keep", "`keep` says what to do with a `query`: give one")
        return None
    try:
        return plain_query(name, body.query)
    except QueryRefused as error:
        raise invalid("body.query", str(error)) from error


def _promise(work: UnitOfWork, name: str, query: str | None, *, keep: bool) -> list[Refresh]:
    if query is None:
        return refresh_requests.refresh_followed(work, name, now())
    return [refresh_requests.refresh_query(work, name, query, now(), keep=keep)]


@router.get(
    "/refreshes/{refresh_id}",
    summary="Get a refresh",
    description="With `wait`, answers as soon as the refresh is complete or failed, at the latest "
    "after so many seconds.",
    dependencies=[needs(Scope.READ)],
    responses=documented(404, 422, 503),
)
async def get_refresh(
    refresh_id: UUID,
    response: Response,
    gateway: InGateway,
    caller: InCaller,
    wait: Annotated[
        float,
        Query(ge=0, le=MAX_WAIT_SECONDS, allow_inf_nan=False, description="seconds, up to 60"),
    ] = 0,
) -> RefreshOut:
    """The refresh, now or once it has ended."""
    current = await settled(
        gateway,
        caller,
        refresh_id,
        lambda: run_in_threadpool(_read, gateway, caller, refresh_id),
        lambda refresh: refresh.status not in refreshes.ACTIVE,
        wait,
    )
    if current.status in refreshes.ACTIVE:
        response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return current


def _read(gateway: Gateway, caller: Caller, refresh_id: UUID) -> RefreshOut:
    """The refresh as it is now.

    Raises:
        Problem: there is no such refresh.
    """
    with gateway.store.reading() as session:
        refresh = session.get(Refresh, refresh_id)
        if refresh is None:
            raise not_found("refresh")
        watch = session.get_one(Watch, refresh.watch_id)
    return RefreshOut(
        source=watch.source,
        query=_query_for(caller, watch.query, watch.origin, refresh.reason),
        steps=refresh.step,
        error=_said_to(caller, refresh.error),
        retry_at=watch.retry_at if watch.active and refresh.status == "failed" else None,
        **refresh.model_dump(include=set(RefreshOut.model_fields) - {"error"}),
    )


@router.get(
    "/findings",
    summary="List what does not hold about records",
    description="Newest first; the open ones, unless asked otherwise. Identifiers that are "
    "malformed or in conflict are left out of references; an unreadable record is left out "
    "of what its refresh vouches for. Follow `next_cursor` for older ones.",
    dependencies=[needs(Scope.READ)],
    responses=documented(404, 422, 503),
)
def list_findings(
    gateway: InGateway,
    source: Annotated[str | None, Query(max_length=200)] = None,
    kind: Annotated[FindingKind | None, Query()] = None,
    status: Annotated[Literal["open", "resolved", "all"], Query()] = "open",
    cursor: Annotated[str | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> FindingPage:
    """A page of findings."""
    if source is not None:
        require_known(source)
    with gateway.store.reading() as session:
        page = finding_log.query(
            session, source=source, kind=kind, status=status, cursor=cursor, limit=limit
        )
        findings = [FindingOut.model_validate(finding) for finding in page.rows]
    return FindingPage(findings=findings, next_cursor=page.next_cursor)
