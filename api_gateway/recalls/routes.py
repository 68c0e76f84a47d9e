"""The API route of the feed of answers whose sources changed."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import AwareDatetime

from api_gateway.auth.access import InCaller, Scope, needs
from api_gateway.problems import documented
from api_gateway.recalls.schemas import RecallChangeOut, RecallFeed
from api_gateway.state import InGateway
from store.recalls import log

router = APIRouter(prefix="/v1/questions", tags=["questions"])


@router.get(
    "/recalls",
    summary="Follow what becomes of answers",
    description="Each time a source of an answer changes, the answer is `affected`; it is checked "
    "again and ends `reaffirmed` or `superseded`. The first changes come first; come back with "
    "`next_cursor` for what has happened since: no change is left out, and none comes twice.",
    dependencies=[needs(Scope.READ)],
    responses=documented(422, 503),
)
def follow_recalls(
    gateway: InGateway,
    caller: InCaller,
    since: Annotated[AwareDatetime | None, Query(description="changed at or after this")] = None,
    cursor: Annotated[str | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> RecallFeed:
    """A page of changes."""
    with gateway.store.reading() as session:
        page = log.feed(session, owner=caller.owner, since=since, cursor=cursor, limit=limit)
    return RecallFeed(
        changes=[
            RecallChangeOut.model_validate({**change.detail, **vars(change)})
            for change in page.changes
        ],
        next_cursor=page.cursor,
        more=page.more,
    )
