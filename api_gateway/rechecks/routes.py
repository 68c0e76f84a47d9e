"""The API routes of runs that verify held answers again."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from api_gateway.auth.access import InCaller, Scope, needs
from api_gateway.problems import Problem, documented, not_found, request_id_of
from api_gateway.rechecks.schemas import RecheckedList, RecheckedOut, RecheckIn, RecheckOut
from api_gateway.state import InGateway
from store.models import Recheck
from store.recalls import rechecks
from store.recalls.rechecks import AnotherRuns, Progress

router = APIRouter(prefix="/v1/rechecks", tags=["operators"], dependencies=[needs(Scope.OPERATE)])


@router.post(
    "",
    status_code=202,
    summary="Verify held answers again",
    description="Answers that an older gate let through go through the gate of today, with what a "
    "language model replied then read from the record. Without a body it is a dry run, which only "
    "tells; with `dry_run` false, what no longer stands is recalled as when a source changed. A "
    "run with the same options that is under way is given as it is; one with others is a 409.",
    response_description="Promised; `Location` says where to look",
    responses=documented(400, 403, 409, 413, 415, 422, 503),
)
def start_recheck(
    request: Request,
    response: Response,
    gateway: InGateway,
    caller: InCaller,
    body: RecheckIn | None = None,
) -> RecheckOut:
    """Promise the run to the recheck stage."""
    wanted = body or RecheckIn()
    try:
        with gateway.store.unit_of_work(caller.actor("gateway"), request_id_of(request)) as work:
            run = rechecks.start(
                work, dry_run=wanted.dry_run, everything=wanted.everything, ask=wanted.ask
            )
    except AnotherRuns as error:
        raise Problem(409, str(error), kind="under-way") from None
    response.headers["Location"] = f"{router.prefix}/{run.id}"
    return show_recheck(run.id, gateway)


@router.get(
    "/{recheck_id}",
    summary="Follow a run that verifies held answers again",
    description="How far it is, what it found by outcome, and the claims that change by the check "
    "that stops them.",
    responses=documented(404, 422, 503),
)
def show_recheck(recheck_id: UUID, gateway: InGateway) -> RecheckOut:
    """The run."""
    with gateway.store.reading() as session:
        run = rechecks.get(session, recheck_id)
        found = rechecks.progress(session, run) if run is not None else None
    if run is None or found is None:
        raise not_found("recheck")
    return recheck_out(run, found)


@router.get(
    "/{recheck_id}/answers",
    summary="List the answers that do not stand as they are",
    description="With each claim that changes, from which verdict to which, and by which check.",
    responses=documented(404, 422, 503),
)
def list_rechecked(
    recheck_id: UUID,
    gateway: InGateway,
    cursor: Annotated[str | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> RecheckedList:
    """A page of answers."""
    with gateway.store.reading() as session:
        if rechecks.get(session, recheck_id) is None:
            raise not_found("recheck")
        page = rechecks.changes(session, recheck_id, cursor=cursor, limit=limit)
    return RecheckedList(
        answers=[RecheckedOut.model_validate(one, from_attributes=True) for one in page.answers],
        next_cursor=page.next_cursor,
    )


def recheck_out(run: Recheck, found: Progress) -> RecheckOut:
    """A run as callers see it."""
    fields = set(RecheckOut.model_fields) & set(Recheck.model_fields)
    return RecheckOut.model_validate(
        {
            **run.model_dump(include=fields),
            **found.outcomes,
            "looked_at": found.done,
            "claims": found.claims,
            "checks": dict(found.checks),
        }
    )
