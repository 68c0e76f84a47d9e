"""The API routes that erase the words of questions, notes, pasted texts and documents."""

from collections.abc import Mapping
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request, Response

from api_gateway.auth.access import Caller, InCaller, Scope, foreign, needs
from api_gateway.problems import Problem, documented, invalid, not_found, request_id_of
from api_gateway.state import Gateway, InGateway
from knowledge.operation.retention import KINDS, TextKind, reason_given
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
        description="why, one of the names in `knowledge/operation/retention.yaml`; no words "
        "of your own, because the audit keeps it",
    ),
]


_WHAT: Mapping[TextKind, tuple[str, str]] = {
    "question": (
        "Erase the words of a question",
        "Question, patient context, what was found for it, draft and answer, also of those that "
        "were asked anew because a source changed.",
    ),
    "note": ("Erase the words of a note", "The note, its title, summary and plan."),
    "verification": (
        "Erase a text that was checked",
        "The text, the documents sent along and what was found.",
    ),
    "extraction": (
        "Erase the words of an extracted document",
        "The document, its names, what was extracted, attempts, review.",
    ),
}
"""By kind of text: the summary of its route, and what goes."""


def _add_route(kind: TextKind) -> None:
    summary, gone = _WHAT[kind]

    @router.delete(
        f"/v1/{kind}s/{{{kind}_id}}",
        name=f"erase_{kind}",
        status_code=204,
        tags=[f"{kind}s"],
        summary=summary,
        description=f"{gone} {WHAT_GOES}",
        responses=ANSWERS,
    )
    def erase(
        subject: Annotated[UUID, Path(alias=f"{kind}_id")],
        request: Request,
        gateway: InGateway,
        caller: InCaller,
        reason: ReasonQuery = "requested",
    ) -> Response:
        return _erase(gateway, request, caller, kind, subject, reason)


for _kind in KINDS:
    _add_route(_kind)


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
