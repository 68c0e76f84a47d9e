"""The API routes of dead letters: list, show, replay and discard them; and those of stages."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request

from api_gateway.auth.access import InCaller, Scope, needs
from api_gateway.operations import stage_routes
from api_gateway.operations.schemas import (
    LetterGroupPage,
    LetterLine,
    LetterOut,
    LetterPage,
    LettersIn,
    Reason,
    Refusal,
    ReplayIn,
    ReplayOut,
    Resolution,
)
from api_gateway.problems import Problem, documented, invalid, not_found, request_id_of
from api_gateway.state import Gateway, InGateway
from store.core.cursors import InvalidCursor, position
from store.dead_letters import dead_letters, listing, replay
from store.dead_letters.replay import Operator, Report
from store.models import DeadLetter

router = APIRouter(tags=["operators"])
letters = APIRouter(prefix="/v1/dead-letters", dependencies=[needs(Scope.OPERATE)])

ACTOR = "operator"


@letters.get(
    "",
    summary="List dead letters",
    description="Newest first; the open ones, unless asked otherwise. All filters given must fit; "
    "`since` is inclusive, `until` is not.",
    responses=documented(400, 422, 503),
)
def list_dead_letters(
    gateway: InGateway,
    asked: Annotated[LettersIn, Query()],
) -> LetterPage:
    """A page of dead letters."""
    with gateway.store.reading() as session:
        page = listing.page(
            session, asked.chosen(asked.status), cursor=asked.cursor, limit=asked.limit
        )
        lines = [LetterLine.model_validate(letter) for letter in page.letters]
    return LetterPage(dead_letters=lines, next_cursor=page.next_cursor)


@letters.get(
    "/groups",
    summary="List dead letters by fault",
    description="One entry for each fingerprint, with counts, the first and the last time; the "
    "fault that was seen last comes first. Filters are those of the list.",
    responses=documented(400, 422, 503),
)
def list_groups(
    gateway: InGateway,
    asked: Annotated[LettersIn, Query()],
) -> LetterGroupPage:
    """A page of faults."""
    with gateway.store.reading() as session:
        page = listing.groups(
            session, asked.chosen(asked.status), cursor=asked.cursor, limit=asked.limit
        )
    return LetterGroupPage(groups=list(page.groups), next_cursor=page.next_cursor)


@letters.post(
    "/replay",
    summary="Replay dead letters by a filter",
    description="Open dead letters that fit are made pending again, oldest first, so many a "
    "second. `dry_run`, which is the default, only says what would be done and what would be "
    "refused. Asking twice changes nothing.",
    responses=documented(400, 403, 413, 415, 422, 503),
)
def replay_dead_letters(
    body: ReplayIn, request: Request, gateway: InGateway, caller: InCaller
) -> ReplayOut:
    """Set the work of many dead letters pending again."""
    try:
        after = None if body.cursor is None else position(body.cursor)
    except InvalidCursor as error:
        raise invalid("body.cursor", str(error)) from error
    report = replay.replay_matching(
        gateway.store,
        Operator(caller.actor(ACTOR), request_id_of(request)),
        body.chosen(),
        dry_run=body.dry_run,
        force=body.force,
        per_second=body.per_second,
        limit=body.limit,
        after=after,
    )
    return _replay_out(report)


def _replay_out(report: Report) -> ReplayOut:
    return ReplayOut(
        dry_run=report.dry_run,
        matched=report.matched,
        total=report.total,
        replayed=report.resolved,
        upgraded=report.upgraded,
        refused=[
            Refusal(reason=reason, count=count, examples=report.examples[reason])
            for reason, count in report.refused.most_common()
        ],
        last_due_at=report.last_due_at,
        more=report.more,
        next_cursor=report.next_cursor,
    )


@letters.get(
    "/{letter_id}",
    summary="Get a dead letter",
    description="With payload, traceback and, once it is resolved, by whom and why.",
    responses=documented(404, 503),
)
def get_dead_letter(letter_id: UUID, gateway: InGateway) -> LetterOut:
    """All that is known of one dead letter."""
    return _shown(gateway, letter_id)


def _shown(gateway: Gateway, letter_id: UUID) -> LetterOut:
    with gateway.store.reading() as session:
        letter = session.get(DeadLetter, letter_id)
        if letter is None:
            raise not_found("dead letter")
        resolution = listing.resolution(session, letter_id)
        shown = LetterOut.model_validate(letter)
        end = Resolution.model_validate(resolution) if resolution is not None else None
        return shown.model_copy(update={"resolution": end})


@letters.post(
    "/{letter_id}/replay",
    status_code=202,
    summary="Replay a dead letter",
    description="Makes its work pending again, with fresh attempts. A dead letter that was "
    "resolved already, or that can never succeed, is a 409 that says why; `force` replays one "
    "that died again of the same cause under the same code.",
    responses=documented(400, 403, 404, 409, 422, 503),
)
def replay_dead_letter(
    letter_id: UUID,
    request: Request,
    gateway: InGateway,
    caller: InCaller,
    force: Annotated[bool, Query()] = False,
) -> LetterOut:
    """Set the work of a dead letter pending again."""
    try:
        with gateway.store.unit_of_work(caller.actor(ACTOR), request_id_of(request)) as work:
            dead_letters.replay(work, letter_id, force=force)
    except LookupError as error:
        raise not_found("dead letter") from error
    except dead_letters.NotReplayable as error:
        raise Problem(409, str(error)) from error
    return _shown(gateway, letter_id)


@letters.delete(
    "/{letter_id}",
    summary="Discard a dead letter",
    description="Gives it up, for the reason given. It is not deleted: it stays, with the reason, "
    "and what waited for it stays failed. Discarding it again changes nothing; one that was "
    "replayed is a 409.",
    responses=documented(400, 403, 404, 409, 422, 503),
)
def discard_dead_letter(
    letter_id: UUID,
    request: Request,
    gateway: InGateway,
    caller: InCaller,
    reason: Annotated[Reason, Query()],
) -> LetterOut:
    """Give a dead letter up."""
    try:
        with gateway.store.unit_of_work(caller.actor(ACTOR), request_id_of(request)) as work:
            dead_letters.discard(work, letter_id, reason)
    except LookupError as error:
        raise not_found("dead letter") from error
    except dead_letters.AlreadyResolved as error:
        raise Problem(409, str(error)) from error
    return _shown(gateway, letter_id)


router.include_router(letters)
router.include_router(stage_routes.router)
