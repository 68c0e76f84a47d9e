"""The API routes of stages: list, pause and resume them."""

from fastapi import APIRouter, Request

from api_gateway.auth.access import InCaller, Scope, needs
from api_gateway.operations.schemas import PauseIn, StageList
from api_gateway.problems import documented, request_id_of
from api_gateway.state import Gateway, InGateway
from messages import Stage
from store.pipeline import circuits
from store.pipeline.circuits import StageState

router = APIRouter(prefix="/v1/stages", dependencies=[needs(Scope.OPERATE)])

ACTOR = "operator"


@router.get(
    "",
    summary="List the stages",
    description="Which work and which are paused, by whom and why, what died and what was done "
    "lately, and what waits.",
    responses=documented(503),
)
def list_stages(gateway: InGateway) -> StageList:
    """All stages."""
    with gateway.store.reading() as session:
        states = circuits.states(session)
    return StageList(stages=states)


@router.post(
    "/{stage}/pause",
    summary="Pause a stage",
    description="Its messages wait until it is resumed; work under way ends as it will. Pausing a "
    "paused stage changes nothing, not even the reason.",
    responses=documented(400, 403, 404, 413, 415, 422, 503),
)
def pause_stage(
    stage: Stage, body: PauseIn, request: Request, gateway: InGateway, caller: InCaller
) -> StageState:
    """Stop a stage."""
    with gateway.store.unit_of_work(caller.actor(ACTOR), request_id_of(request)) as work:
        circuits.pause(work, stage.value, body.reason)
    return _shown(gateway, stage)


@router.post(
    "/{stage}/resume",
    summary="Resume a stage",
    description="Whether an operator or its circuit paused it: what waited is due at once, and "
    "earlier deaths no longer count. Resuming a stage that works changes nothing.",
    responses=documented(403, 404, 503),
)
def resume_stage(
    stage: Stage, request: Request, gateway: InGateway, caller: InCaller
) -> StageState:
    """Start a stage."""
    with gateway.store.unit_of_work(caller.actor(ACTOR), request_id_of(request)) as work:
        circuits.resume(work, stage.value)
    return _shown(gateway, stage)


def _shown(gateway: Gateway, stage: Stage) -> StageState:
    with gateway.store.reading() as session:
        (state,) = [row for row in circuits.states(session) if row.stage == stage.value]
    return state
