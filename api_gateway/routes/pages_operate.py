"""The first page of operators: sources, stages, dead letters and cost at a glance."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from sqlmodel import Session

from api_gateway.access import Caller, InCaller, Scope, needs
from api_gateway.limits import midnight_before
from api_gateway.pages.clocks import moment
from api_gateway.pages.operate import Tile, source_line, stage_lines, tiles
from api_gateway.pages.rendering import page
from api_gateway.routes import pages_operate_audit, pages_operate_letters, pages_operate_quality
from api_gateway.state import InGateway
from store import circuits, model_usage, queue_report, source_report
from store.models import now

router = APIRouter(include_in_schema=False)


@router.get("/operate", dependencies=[needs(Scope.OPERATE, Scope.AUDIT)])
def overview(request: Request, gateway: InGateway, caller: InCaller) -> Response:
    """How everything stands now; an auditor is led to the page that is his."""
    if Scope.OPERATE not in caller.scopes:
        return RedirectResponse("/operate/audit", 303)
    at = now()
    with gateway.store.reading() as session:
        known = [one for one in source_report.report(session, at) if one.is_known]
        sources = [source_line(source_report.body(one)) for one in known]
        stages = stage_lines(circuits.states(session), queue_report.report(session))
        spent = model_usage.spent(session, since=midnight_before(at))
        chain = _chain_tile(session, caller)
    return page(
        request,
        "operate.html",
        tiles=[*tiles(sources, stages, spent), *chain],
        sources=sources,
        stages=stages,
        at=moment(at),
    )


def _chain_tile(session: Session, caller: Caller) -> list[Tile]:
    """The end of the audit chain, for who may read it."""
    if Scope.AUDIT not in caller.scopes:
        return []
    chain, head = pages_operate_audit.newest_links(session)
    detail = f"the newest {pages_operate_audit.NEWEST:,} events were checked now"
    return [Tile("Audit chain", f"{head:,}", detail, chain.badge, "/operate/audit")]


for part in (pages_operate_letters, pages_operate_audit, pages_operate_quality):
    router.include_router(part.router)
