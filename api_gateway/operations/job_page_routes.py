"""The page of jobs: which stage worked on what, when, and how it ended."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from api_gateway.auth.access import Scope, needs
from api_gateway.operations.view import JOB
from api_gateway.pages.clocks import Moment, milliseconds, moment
from api_gateway.pages.rendering import page
from api_gateway.pages.wording import Badge, badge
from api_gateway.state import InGateway
from messages import Stage
from store.models import StageRun
from store.pipeline import jobs

router = APIRouter(include_in_schema=False, dependencies=[needs(Scope.OPERATE)])

PAGE = 50


@dataclass(frozen=True)
class JobLine:
    """A piece of work; `subject` is what it was about, `error` why it failed last."""

    stage: str
    subject: str
    badge: Badge
    started: Moment | None
    took: str
    attempts: int
    error: str


def job_line(run: StageRun) -> JobLine:
    """The view of a row of the ledger."""
    seconds = (run.finished_at - run.started_at).total_seconds() if run.finished_at else None
    return JobLine(
        stage=run.stage,
        subject=run.subject,
        badge=badge(JOB, run.status),
        started=moment(run.started_at),
        took=milliseconds(seconds * 1000) if seconds is not None else "",
        attempts=run.attempts,
        error=run.error or "",
    )


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
        lines = [job_line(run) for run in found.runs]
    return page(
        request,
        "operate_jobs.html",
        lines=lines,
        given=given,
        stages=[one.value for one in Stage],
        states=JOB,
        cursor=cursor,
        next_cursor=found.next_cursor,
    )
