"""The page of jobs: which stage worked on what, when, and how it ended."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from api_gateway.auth.access import Scope, needs
from api_gateway.operations.view import JOB
from api_gateway.pages.rendering import page
from api_gateway.state import InGateway
from messages import Stage
from store.pipeline import jobs

router = APIRouter(include_in_schema=False, dependencies=[needs(Scope.OPERATE)])

PAGE = 50


@router.get("/operate/jobs")
def jobs_page(
    request: Request,
    gateway: InGateway,
    stage: Annotated[str, Query(max_length=40)] = "",
    status: Annotated[str, Query(max_length=40)] = "",
    subject: Annotated[str, Query(max_length=200)] = "",
    cursor: Annotated[str | None, Query(max_length=500)] = None,
) -> HTMLResponse:
    """Jobs, the newest first."""
    given = {"stage": stage, "status": status, "subject": subject.strip().replace("\0", "")}
    wanted = {name: value or None for name, value in given.items()}
    with gateway.store.reading() as session:
        found = jobs.listing(session, **wanted, cursor=cursor, limit=PAGE)
        session.expunge_all()
    return page(
        request,
        "operate/jobs.html",
        lines=found.rows,
        given=given,
        stages=[one.value for one in Stage],
        states=JOB,
        cursor=cursor,
        next_cursor=found.next_cursor,
    )
