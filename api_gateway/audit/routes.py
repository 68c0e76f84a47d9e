"""The API routes of the audit chain: query its events, and verify that it is whole."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import AwareDatetime

from api_gateway.audit import trail_routes
from api_gateway.audit.schemas import AuditEventOut, AuditPage, ChainOut
from api_gateway.auth.access import Scope, needs
from api_gateway.problems import documented, invalid
from api_gateway.state import InGateway
from store.audit import audit, log

router = APIRouter(tags=["operators"])
router.include_router(trail_routes.router)  # an auditor's next step: the trail of one answer

Filter = Annotated[str | None, Query(max_length=200)]


@router.get(
    "/v1/audit",
    summary="Query the audit events",
    description="Newest first. All filters given must fit; `since` is inclusive, `until` is not. "
    "Payloads hold ids, hashes and counts, never texts.",
    dependencies=[needs(Scope.AUDIT)],
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
        page = log.query(
            session,
            subject=subject,
            event=event,
            actor=actor,
            since=since,
            until=until,
            cursor=cursor,
            limit=limit,
        )
        events = [AuditEventOut.model_validate(event) for event in page.rows]
    return AuditPage(events=events, next_cursor=page.next_cursor)


@router.get(
    "/v1/audit/verify",
    summary="Verify the audit chain",
    description="Walks the chain and finds the first edit, deletion, insertion or reordering. "
    "Takes time in proportion to the number of events; a range takes up where another ended.",
    dependencies=[needs(Scope.AUDIT)],
    responses=documented(422, 503),
)
def verify_audit(
    gateway: InGateway,
    after: Annotated[
        str | None,
        Query(
            max_length=100, description="begin behind this link: SEQ, or SEQ:HASH as it was kept"
        ),
    ] = None,
    until: Annotated[int | None, Query(ge=1, lt=2**63, description="end with this event")] = None,
) -> ChainOut:
    """Whether the chain is whole."""
    try:
        begin = audit.Checkpoint.parse(after) if after is not None else None
    except ValueError as error:
        raise invalid("query.after", str(error)) from None
    if begin is not None and until is not None and until < begin.seq:
        raise invalid("query.until", "the range ends before it begins")
    with gateway.store.reading() as session:
        report = audit.verify(session, after=begin, until=until)
    return ChainOut.model_validate(report)
