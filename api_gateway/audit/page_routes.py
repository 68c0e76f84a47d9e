"""The page of the audit chain: search events, and verify that the chain is whole."""

from collections.abc import Sequence
from typing import Annotated

import sqlalchemy as sa
from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse
from sqlmodel import Session

from api_gateway.audit.view import (
    ChainView,
    NotAMoment,
    Search,
    chain_view,
    search,
)
from api_gateway.auth.access import Scope, needs
from api_gateway.pages.forms import Form
from api_gateway.pages.rendering import page
from api_gateway.state import Gateway, InGateway
from store.audit import audit, log
from store.models import AuditEvent

router = APIRouter(
    prefix="/operate/audit", include_in_schema=False, dependencies=[needs(Scope.AUDIT)]
)

PAGE = 50
NEWEST = 1000
"""Our choice: the events checked whenever the page is opened, which takes about 20 ms."""


@router.get("")
def audit_page(
    request: Request,
    gateway: InGateway,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
) -> HTMLResponse:
    """Events that fit the search, newest first, and whether the end of the chain is whole."""
    filters = search(request.query_params)
    with gateway.store.reading() as session:
        chain, _ = newest_links(session)
    return _found(request, gateway, filters, chain, cursor)


@router.post("/verify")
def verify_everything(request: Request, form: Form, gateway: InGateway) -> HTMLResponse:
    """Walk the whole chain, which takes time in proportion to its length, and say what was found.

    Nothing is written, so it is answered with the page itself: a redirect would have to carry the
    result in an address, which anybody could write.
    """
    with gateway.store.reading() as session:
        chain = chain_view(audit.verify(session), after=0)
    return _found(request, gateway, search(form), chain, None)


def newest_links(session: Session) -> tuple[ChainView, int]:
    """The result of verifying the newest `NEWEST` events, and the number of the last event."""
    query = sa.text("SELECT seq FROM audit_head")
    head = int(session.execute(query).scalar_one_or_none() or 0)
    after = max(0, head - NEWEST)
    begin = audit.Checkpoint(after) if after else None
    return chain_view(audit.verify(session, after=begin), after), head


def _found(
    request: Request,
    gateway: Gateway,
    asked: Search,
    chain: ChainView,
    cursor: str | None,
) -> HTMLResponse:
    error, next_cursor = "", None
    lines: Sequence[AuditEvent] = ()
    try:
        filters = asked.filters()
    except NotAMoment as problem:
        error = str(problem)
    else:
        with gateway.store.reading() as session:
            result = log.query(session, **filters, cursor=cursor, limit=PAGE)  # type: ignore[arg-type]
            lines, next_cursor = result.rows, result.next_cursor
            session.expunge_all()
    return page(
        request,
        "operate/audit.html",
        status=422 if error else 200,
        asked=asked,
        error=error,
        chain=chain,
        lines=lines,
        newest=asked.address() if cursor else None,
        older=asked.address(next_cursor) if next_cursor else None,
    )
