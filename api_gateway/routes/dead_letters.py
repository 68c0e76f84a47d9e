"""Dead letters: what died, why, and the way back."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Query, Request

from api_gateway.problems import Problem, documented, not_found, request_id_of
from api_gateway.schemas import DeadLetterLine, DeadLetterList, DeadLetterOut
from api_gateway.state import InGateway
from messages import Stage
from store import dead_letters
from store.models import DeadLetter

router = APIRouter(prefix="/v1/dead-letters", tags=["operators"])


@router.get(
    "",
    summary="List dead letters",
    description="Newest first; the open ones, unless asked otherwise.",
    responses=documented(422, 503),
)
def list_dead_letters(
    gateway: InGateway,
    status: Annotated[Literal["open", "replayed", "discarded", "all"], Query()] = "open",
    stage: Annotated[Stage | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> DeadLetterList:
    """The newest dead letters."""
    with gateway.store.reading() as session:
        letters = dead_letters.listing(
            session,
            status=None if status == "all" else status,
            stage=stage.value if stage else None,
            limit=limit,
        )
        lines = [DeadLetterLine.model_validate(letter) for letter in letters]
    return DeadLetterList(dead_letters=lines)


@router.get(
    "/{letter_id}",
    summary="Get a dead letter",
    description="With payload and traceback.",
    responses=documented(404, 503),
)
def get_dead_letter(letter_id: UUID, gateway: InGateway) -> DeadLetterOut:
    """All that is known of one dead letter."""
    with gateway.store.reading() as session:
        letter = session.get(DeadLetter, letter_id)
        if letter is None:
            raise not_found("dead letter")
        return DeadLetterOut.model_validate(letter)


@router.post(
    "/{letter_id}/replay",
    status_code=202,
    summary="Replay a dead letter",
    description="Makes its work pending again, with fresh attempts. A dead letter that was "
    "resolved already, or that can never succeed as it is, is a 409 that says why.",
    responses=documented(403, 404, 409, 503),
)
def replay_dead_letter(letter_id: UUID, request: Request, gateway: InGateway) -> DeadLetterOut:
    """Set the work of a dead letter pending again."""
    try:
        with gateway.store.unit_of_work("operator", request_id_of(request)) as work:
            letter = dead_letters.replay(work, letter_id)
    except LookupError as error:
        raise not_found("dead letter") from error
    except dead_letters.NotReplayable as error:
        raise Problem(409, str(error)) from error
    return DeadLetterOut.model_validate(letter)
