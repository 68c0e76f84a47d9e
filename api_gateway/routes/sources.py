"""Sources: what is held of each kind, and how fresh it is against its SLA."""

from fastapi import APIRouter

from api_gateway.problems import documented
from api_gateway.schemas import SourceList, SourceOut
from api_gateway.state import InGateway
from knowledge.sources import source_policy
from store import library

router = APIRouter(prefix="/v1/sources", tags=["sources"])


@router.get(
    "",
    summary="List sources with their freshness",
    description="Each kind of source of which something is held: how many documents, when the "
    "latest was fetched, when the longest unchecked one was looked at, and whether that is longer "
    "ago than the SLA allows.",
    responses=documented(503),
)
def list_sources(gateway: InGateway) -> SourceList:
    """All sources of which something is held."""
    with gateway.store.reading() as session:
        states = library.sources(session)
    return SourceList(sources=[_source_out(state) for state in states])


def _source_out(state: library.SourceState) -> SourceOut:
    policy = source_policy(state.source_type)
    return SourceOut(
        source_type=state.source_type,
        name=policy.name,
        tier=policy.tier,
        badge=policy.badge,
        sla_hours=policy.sla_hours,
        documents=state.documents,
        latest_fetch_at=state.latest_fetch_at,
        oldest_check_at=state.oldest_check_at,
        stale=policy.is_stale(library.age_hours(state.oldest_check_at)),
    )
