"""The API routes of scenario packs: which of their works are held, and fetching them."""

from fastapi import APIRouter, Request, Response

from api_gateway.auth.access import Caller, InCaller, Scope, needs
from api_gateway.problems import documented, not_found, request_id_of
from api_gateway.sources.routes import promised_as, said_to
from api_gateway.sources.schemas import PackList, PackOut, PackWorkOut, RefreshesPromised
from api_gateway.state import Gateway, InGateway
from clinical_text.packs import differences
from knowledge.packs import pack_named
from knowledge.scenarios import Scenario, scenarios
from store.models import Refresh, now
from store.sources import packs
from store.sources.packs import WorkState

router = APIRouter(prefix="/v1/packs", tags=["sources"])


@router.get(
    "",
    summary="List scenario packs",
    description="The works that matter for a decision: for each whether it is held, being fetched, "
    "missing or failed, why, and when its source is asked again.",
    dependencies=[needs(Scope.READ)],
    responses=documented(503),
)
def list_packs(gateway: InGateway, caller: InCaller) -> PackList:
    """All packs, by label."""
    chosen = sorted(scenarios(), key=lambda pack: pack.label)
    states = pack_states(gateway)
    return PackList(packs=[_pack(pack, states[pack.name], caller) for pack in chosen])


@router.post(
    "/{name}/fill",
    status_code=202,
    summary="Fetch the works of a pack",
    description="By number, or by title where none is confirmed, from the sources that have them. "
    "They are followed from then on (query `pack:NAME`). What is under way is given as it is.",
    response_description="Promised; `Location` says where to look, for the first of them",
    dependencies=[needs(Scope.OPERATE)],
    responses=documented(403, 404, 503),
)
def fill_pack(
    name: str, request: Request, response: Response, gateway: InGateway, caller: InCaller
) -> RefreshesPromised:
    """Promise the refreshes of its sources."""
    return promised_as(response, fill(name, request, gateway, caller))


def fill(name: str, request: Request, gateway: Gateway, caller: Caller) -> list[Refresh]:
    """The refreshes that fetch the works of a pack. Raises Problem: there is no such pack."""
    try:
        pack = pack_named(name)
    except LookupError:
        raise not_found("pack") from None
    with gateway.store.unit_of_work(caller.actor("gateway"), request_id_of(request)) as work:
        return packs.fill(work, pack, now())


def pack_states(gateway: Gateway) -> dict[str, list[WorkState]]:
    """How it stands with each work of each pack, by the pack's name."""
    with gateway.store.reading() as session:
        return packs.work_states(session, scenarios(), now(), differences)


def _pack(pack: Scenario, works: list[WorkState], caller: Caller) -> PackOut:
    return PackOut(
        name=pack.name,
        label=pack.label,
        works=[
            PackWorkOut(
                **one.entry.model_dump(include={"kind", "title", "year", "trial", "confirmed"}),
                identifiers=one.entry.identifiers(),
                state=one.state,
                source=one.source,
                document_id=one.document_id,
                why=said_to(caller, one.why) if one.state == "failed" else one.why,
                next_at=one.next_at,
            )
            for one in works
        ],
    )
