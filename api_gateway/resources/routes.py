"""The API routes of a resource: submit it, and get it now or once it has ended."""

from collections.abc import Callable
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from api_gateway.auth.access import Caller, InCaller, Scope, needs, needs_own, within_budget
from api_gateway.backpressure.admission import room_for
from api_gateway.http.idempotency import IdempotencyKey
from api_gateway.http.waiting import settled
from api_gateway.problems import documented
from api_gateway.resources.resource import Api, Given, Row
from api_gateway.schemas import MAX_WAIT_SECONDS, POLL_AFTER_MS, Accepted
from api_gateway.state import Gateway, InGateway

RETRY_AFTER_SECONDS = 1


def api_router(api: Api[Row, Given]) -> APIRouter:
    """The routes under `/v1`, as `/v1/notes` for notes; they are erased in `erasure_routes`."""
    resource, kind = api.resource, api.resource.kind
    router = APIRouter(prefix=f"/v1/{kind}s", tags=[f"{kind}s"])
    summary, description = api.submitting
    budget = [within_budget] if api.asks_models else []

    @router.post(
        "",
        name=f"submit_{kind}",
        status_code=202,
        summary=summary,
        description=description,
        response_description="Accepted; `Location` says where to look",
        dependencies=[needs(Scope.ASK), *budget, room_for(resource.work)],
        responses=documented(400, 403, 413, 415, 422, 429, 503),
        openapi_extra=dict(api.openapi) or None,
    )
    def submit(
        given: Annotated[Any, Depends(api.given)],
        request: Request,
        response: Response,
        caller: InCaller,
        idempotency_key: IdempotencyKey = None,
    ) -> Accepted:
        row = resource.accepted(request, caller, given, idempotency_key)
        response.headers["Location"] = f"{router.prefix}/{row.id}"
        return Accepted.model_validate(
            {"id": row.id, "status": row.status, "poll_after_ms": POLL_AFTER_MS}
        )

    summary, description = api.getting

    @router.get(
        f"/{{{kind}_id}}",
        name=f"get_{kind}",
        summary=summary,
        description=description,
        response_model=api.out_model,
        dependencies=[needs_own],
        responses=documented(404, 410, 422, 503),
    )
    async def get(
        row_id: Annotated[UUID, Path(alias=f"{kind}_id")],
        response: Response,
        gateway: InGateway,
        caller: InCaller,
        is_news: Annotated[Callable[[Any], bool], Depends(api.news)],
        wait: Annotated[
            float,
            Query(ge=0, le=MAX_WAIT_SECONDS, allow_inf_nan=False, description="seconds, up to 60"),
        ] = 0,
    ) -> Any:
        current = await settled(
            gateway,
            caller,
            row_id,
            lambda: run_in_threadpool(_read, api, gateway, caller, row_id),
            lambda state: state.status not in resource.unfinished or is_news(state),
            wait,
        )
        if current.status in resource.unfinished:
            response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
        return current

    return router


def _read(api: Api[Row, Given], gateway: Gateway, caller: Caller, row_id: UUID) -> Any:
    """The row as it is now, as its owner sees it.

    Raises:
        Problem: there is no such row of this caller, or its words were erased.
    """
    with gateway.store.reading() as session:
        return api.out(session, api.resource.readable(session, caller, row_id))
