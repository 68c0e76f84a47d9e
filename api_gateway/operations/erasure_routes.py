"""The API routes that erase the words of questions, notes, pasted texts and documents."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from api_gateway.auth.access import Caller, InCaller, Scope, foreign, needs
from api_gateway.problems import Problem, documented, invalid, not_found, request_id_of
from api_gateway.state import Gateway, InGateway
from knowledge.retention import TextKind, reason_given
from store.operations import erasure

router = APIRouter(dependencies=[needs(Scope.ASK)])

WHAT_GOES = (
    "Every copy of its words goes; ids, times, hashes that no guess can be held against any more, "
    "and the audit events stay. Erasing it again changes nothing. A 409 says that it is being "
    "worked on."
)
ANSWERS = documented(404, 409, 422, 503)

ReasonQuery = Annotated[
    str,
    Query(
        max_length=40,
        description="why, one of the names in `knowledge/retention.yaml`; no words of your own, "
        "because the audit keeps it",
    ),
]


@router.delete(
    "/v1/questions/{question_id}",
    status_code=204,
    tags=["questions"],
    summary="Erase the words of a question",
    description="Question, patient context, what was found for it, draft and answer, also of those "
    f"that were asked anew because a source changed. {WHAT_GOES}",
    responses=ANSWERS,
)
def erase_question(
    question_id: UUID,
    request: Request,
    gateway: InGateway,
    caller: InCaller,
    reason: ReasonQuery = "requested",
) -> Response:
    """The question has no words any more."""
    return _erase(gateway, request, caller, "question", question_id, reason)


@router.delete(
    "/v1/notes/{note_id}",
    status_code=204,
    tags=["notes"],
    summary="Erase the words of a note",
    description=f"The note, its title, summary and plan. {WHAT_GOES}",
    responses=ANSWERS,
)
def erase_note(
    note_id: UUID,
    request: Request,
    gateway: InGateway,
    caller: InCaller,
    reason: ReasonQuery = "requested",
) -> Response:
    """The note has no words any more."""
    return _erase(gateway, request, caller, "note", note_id, reason)


@router.delete(
    "/v1/verifications/{verification_id}",
    status_code=204,
    tags=["verifications"],
    summary="Erase a text that was checked",
    description=f"The text, the documents sent along and what was found. {WHAT_GOES}",
    responses=ANSWERS,
)
def erase_verification(
    verification_id: UUID,
    request: Request,
    gateway: InGateway,
    caller: InCaller,
    reason: ReasonQuery = "requested",
) -> Response:
    """The verification has no words any more."""
    return _erase(gateway, request, caller, "verification", verification_id, reason)


@router.delete(
    "/v1/extractions/{extraction_id}",
    status_code=204,
    tags=["extractions"],
    summary="Erase the words of an extracted document",
    description=f"The document, its names, what was extracted, attempts, review. {WHAT_GOES}",
    responses=ANSWERS,
)
def erase_extraction(
    extraction_id: UUID,
    request: Request,
    gateway: InGateway,
    caller: InCaller,
    reason: ReasonQuery = "requested",
) -> Response:
    """The extraction has no words any more."""
    return _erase(gateway, request, caller, "extraction", extraction_id, reason)


def _erase(
    gateway: Gateway,
    request: Request,
    caller: Caller,
    kind: TextKind,
    subject: UUID,
    reason: str,
) -> Response:
    """Erase the caller's own row.

    Raises:
        Problem: it does not exist, has another owner or is in progress, or the reason is invalid.
    """
    try:
        why = reason_given(reason)
    except ValueError as error:
        raise invalid("query.reason", str(error)) from None
    try:
        with gateway.store.unit_of_work(caller.actor("gateway"), request_id_of(request)) as work:
            erasure.erase(work, kind, subject, why, owner=caller.owner)
    except erasure.NotYours:
        raise foreign(caller, kind, subject) from None
    except erasure.NotThere:
        raise not_found(kind) from None
    except erasure.UnderWay as error:
        raise Problem(409, str(error), kind="under-way") from None
    return Response(status_code=204)
