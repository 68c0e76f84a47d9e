"""The audit chain: what happened, and whether the record of it is whole."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import AwareDatetime

from api_gateway.problems import documented
from api_gateway.schemas import AuditEventOut, AuditPage, ChainOut
from api_gateway.state import InGateway
from store import audit, audit_log
from store.models import AuditEvent

router = APIRouter(prefix="/v1/audit", tags=["operators"])

Filter = Annotated[str | None, Query(max_length=200)]


@router.get(
    "",
    summary="Query the audit events",
    description="Newest first. All filters given must fit; `since` is inclusive, `until` is not. "
    "Payloads hold ids, hashes and counts, never texts.",
    responses=documented(422, 503),
)
def query_audit(
    gateway: InGateway,
    subject: Filter = None,
    event: Filter = None,
    actor: Filter = None,
    since: Annotated[AwareDatetime | None, Query()] = None,
    until: Annotated[AwareDatetime | None, Query()] = None,
    cursor: Annotated[str | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> AuditPage:
    """A page of audit events."""
    with gateway.store.reading() as session:
        page = audit_log.query(
            session,
            subject=subject,
            event=event,
            actor=actor,
            since=since,
            until=until,
            cursor=cursor,
            limit=limit,
        )
        events = [_event_out(event) for event in page.events]
    return AuditPage(events=events, next_cursor=page.next_cursor)


def _event_out(event: AuditEvent) -> AuditEventOut:
    return AuditEventOut(
        seq=event.seq,
        at=event.at,
        actor=event.actor,
        event=event.event,
        subject=event.subject,
        request_id=event.request_id,
        payload=event.payload,
        previous_hash=event.previous_hash.hex(),
        hash=event.hash.hex(),
    )


@router.get(
    "/verify",
    summary="Verify the audit chain",
    description="Walks the whole chain and finds the first edit, deletion, insertion or "
    "reordering. Takes time in proportion to the number of events.",
    responses=documented(503),
)
def verify_audit(gateway: InGateway) -> ChainOut:
    """Whether the chain is whole."""
    with gateway.store.reading() as session:
        return ChainOut.model_validate(audit.verify(session))
