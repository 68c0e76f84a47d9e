"""The overview page of operators: sources, stages, dead letters and cost."""

from typing import Literal

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from sqlmodel import Session

from api_gateway.audit import page_routes as pages_operate_audit
from api_gateway.auth.access import Caller, InCaller, Scope, needs
from api_gateway.auth.limits import midnight_before
from api_gateway.dead_letters import page_routes as pages_operate_letters
from api_gateway.operations import job_page_routes as pages_operate_jobs
from api_gateway.operations import stage_routes
from api_gateway.operations.schemas import PauseIn
from api_gateway.operations.view import Tile, model_tile, source_line, stage_lines, tiles
from api_gateway.pages.charts import Theme, bar_chart, line_chart
from api_gateway.pages.clocks import moment
from api_gateway.pages.forms import Form, fitting, refused_form
from api_gateway.pages.rendering import page
from api_gateway.problems import Problem
from api_gateway.quality import page_routes as pages_operate_quality
from api_gateway.rechecks import page_routes as pages_operate_rechecks
from api_gateway.state import Gateway, InGateway
from messages import Stage
from store.models import now
from store.pipeline import circuits, queue_report
from store.reports import model_usage, pace
from store.sources import source_report

router = APIRouter(include_in_schema=False)

HOURS = 24


@router.get("/operate", dependencies=[needs(Scope.OPERATE, Scope.AUDIT, Scope.KEYS)])
def overview(request: Request, gateway: InGateway, caller: InCaller) -> Response:
    """How everything stands now; whoever may not see that is led to the page that is his."""
    if Scope.OPERATE not in caller.scopes:
        own = "audit" if Scope.AUDIT in caller.scopes else "keys"
        return RedirectResponse(f"/operate/{own}", 303)
    return _overview(request, gateway, caller)


@router.get("/operate/pace/{what}.svg", dependencies=[needs(Scope.OPERATE)])
def pace_chart(
    what: Literal["done", "seconds"], gateway: InGateway, theme: Theme = "light"
) -> Response:
    """What was done in each of the last hours, or how long answers took, as a drawing."""
    with gateway.store.reading() as session:
        hours = pace.by_hour(session, now(), HOURS)
    starts, dark = [hour.at.isoformat() for hour in hours], theme == "dark"
    if what == "done":
        return bar_chart("Jobs per hour", starts, [one.done for one in hours], dark=dark).response()
    slow = [None if one.seconds[1] is None else round(one.seconds[1], 1) for one in hours]
    return line_chart("Seconds to an answer", starts, slow, dark=dark).response()


@router.post("/operate/stages/{stage}/pause", dependencies=[needs(Scope.OPERATE)])
def pause_stage(
    stage: Stage, request: Request, form: Form, gateway: InGateway, caller: InCaller
) -> Response:
    """Stop a stage, for a reason, and lead back to its line."""
    try:
        given = fitting(PauseIn, reason=form.get("reason", "").strip())
    except Problem as problem:
        return refused_form(_overview(request, gateway, caller, stage, problem), problem)
    stage_routes.pause_stage(stage, given, request, gateway, caller)
    return RedirectResponse(f"/operate#stage-{stage.value}", 303)


@router.post("/operate/stages/{stage}/resume", dependencies=[needs(Scope.OPERATE)])
def resume_stage(stage: Stage, request: Request, gateway: InGateway, caller: InCaller) -> Response:
    """Start a stage, whoever stopped it, and lead back to its line."""
    stage_routes.resume_stage(stage, request, gateway, caller)
    return RedirectResponse(f"/operate#stage-{stage.value}", 303)


def _overview(
    request: Request,
    gateway: Gateway,
    caller: Caller,
    refused: Stage | None = None,
    problem: Problem | None = None,
) -> HTMLResponse:
    """The page; `refused` is the stage whose pause was refused because of `problem`."""
    at = now()
    with gateway.store.reading() as session:
        known = [report for report in source_report.report(session, at) if report.is_known]
        sources = [source_line(source_report.body(report)) for report in known]
        stages = stage_lines(circuits.states(session), queue_report.report(session))
        spent = model_usage.spent(session, since=midnight_before(at))
        hours = pace.by_hour(session, at, HOURS)
        chain = _chain_tile(session, caller)
    return page(
        request,
        "operate/overview.html",
        tiles=[*tiles(sources, stages, spent), model_tile(gateway.settings, spent), *chain],
        pace=[hour for hour in reversed(hours) if hour.done],
        sources=sources,
        stages=stages,
        at=moment(at),
        status=problem.status_code if problem else 200,
        refused=refused.value if refused else None,
        error="; ".join(error.message for error in problem.errors) if problem else None,
    )


def _chain_tile(session: Session, caller: Caller) -> list[Tile]:
    """The tile of the audit chain's newest events, for callers who may read it."""
    if Scope.AUDIT not in caller.scopes:
        return []
    chain, head = pages_operate_audit.newest_links(session)
    newest = pages_operate_audit.NEWEST
    detail = f"the newest {newest:,} were checked now" if head > newest else "all were checked now"
    if not head:
        detail = "nothing was written yet"
    return [Tile("Audit chain", f"{head:,}", detail, chain.badge, "/operate/audit")]


for part in (
    pages_operate_letters,
    pages_operate_audit,
    pages_operate_quality,
    pages_operate_jobs,
    pages_operate_rechecks,
):
    router.include_router(part.router)
