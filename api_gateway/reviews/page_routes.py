"""The pages of reviews: extractions that wait for a person, and the forms to decide on them."""

from collections.abc import Mapping
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from api_gateway.auth.access import Caller, InCaller, Scope, needs, owned
from api_gateway.backpressure.bodies import MIB, BodyLimit
from api_gateway.extractions.schemas import ReviewStatus
from api_gateway.extractions.view import REVIEW, extraction_line, label, result_view
from api_gateway.pages.forms import Form
from api_gateway.pages.rendering import page
from api_gateway.problems import Problem, not_found, request_id_of
from api_gateway.reviews.routes import accept_review
from api_gateway.reviews.view import boxes, corrections
from api_gateway.state import Gateway, InGateway
from store.extractions import reviews
from store.extractions.extractions import EXTRACTIONS
from store.models import ExtractionRow, Review

router = APIRouter(prefix="/reviews", include_in_schema=False)

PAGE = 25
BODY_LIMITS = {("POST", "/reviews/{review_id}/correct"): BodyLimit(4 * MIB)}
"""Enough for the words of a whole document as a form encodes them."""


@router.get("", dependencies=[needs(Scope.READ)])
def reviews_page(
    request: Request,
    gateway: InGateway,
    caller: InCaller,
    status: Annotated[ReviewStatus, Query()] = "open",
    cursor: str | None = None,
) -> HTMLResponse:
    """What waits for a person, longest first: the caller's own, for it is words of patients."""
    with gateway.store.reading() as session:
        listed = reviews.listing(
            session, owner=caller.owner, status=status, cursor=cursor, limit=PAGE
        )
        lines = [
            (review, extraction_line(session.get_one(ExtractionRow, review.extraction_id)))
            for review in listed.rows
        ]
        session.expunge_all()
    return page(
        request,
        "extractions/reviews.html",
        lines=lines,
        state=status,
        states=REVIEW,
        cursor=cursor,
        next_cursor=listed.next_cursor,
    )


@router.get("/{review_id}", dependencies=[needs(Scope.READ)])
def review_page(
    request: Request,
    review_id: UUID,
    gateway: InGateway,
    caller: InCaller,
    field: Annotated[str | None, Query(max_length=100)] = None,
) -> HTMLResponse:
    """The fields beside the text, and the forms of a decision."""
    review, row = _found(gateway, caller, review_id)
    return _shown(request, caller, review, row, field=field)


def _shown(
    request: Request,
    caller: Caller,
    review: Review,
    row: ExtractionRow,
    *,
    field: str | None = None,
    given: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
) -> HTMLResponse:
    text, fields = row.text or "", (row.result or {}).get("fields", {})
    decides = review.status == "open" and Scope.ASK in caller.scopes
    return page(
        request,
        "extractions/review.html",
        status=422 if errors else 200,
        review=review,
        name=extraction_line(row).name,
        state=REVIEW[review.status],
        found=result_view(text, row.result or {}, field),
        boxes=boxes(text, fields, given, errors) if decides else [],
        errors=errors or {},
        decides=decides,
        decided=_decided(review),
        chosen=field,
    )


def _decided(review: Review) -> list[tuple[str, list[str]]]:
    return [
        (label(name), [value["words"] for value in values or ()])
        for name, values in (review.corrected or {}).items()
    ]


@router.post("/{review_id}/accept", dependencies=[needs(Scope.ASK)])
def accept(request: Request, review_id: UUID, gateway: InGateway, caller: InCaller) -> Response:
    """The extraction is right."""
    _found(gateway, caller, review_id)
    accept_review(review_id, request, gateway, caller)
    return RedirectResponse(f"/reviews/{review_id}", 303)


@router.post("/{review_id}/correct", dependencies=[needs(Scope.ASK)])
def correct(
    request: Request, review_id: UUID, form: Form, gateway: InGateway, caller: InCaller
) -> Response:
    """A person's words in place of some that were extracted."""
    review, row = _found(gateway, caller, review_id)
    fields = (row.result or {}).get("fields", {})
    changed, errors = corrections(row.text or "", fields, form)
    if not changed and not errors:
        errors = {"": "nothing was changed; if all is right, accept it"}
    if errors:
        return _shown(request, caller, review, row, given=form, errors=errors)
    actor = caller.actor("operator")
    with gateway.store.unit_of_work(actor, request_id_of(request)) as work:
        try:
            done = reviews.correct(work, review_id, actor, changed, caller.owner)
        except reviews.Decided as error:
            raise Problem(409, str(error), kind="already-decided") from None
        if done is None:
            raise not_found("review")
    return RedirectResponse(f"/reviews/{review_id}", 303)


def _found(gateway: Gateway, caller: Caller, review_id: UUID) -> tuple[Review, ExtractionRow]:
    """The review and its extraction.

    Raises:
        Problem: there is no such review for this caller.
    """
    with gateway.store.reading() as session:
        review = owned(caller, reviews.get(session, review_id), "review")
        row = EXTRACTIONS.get(session, review.extraction_id)
        if row is None or row.status == "erased":
            raise not_found("review")
        session.expunge_all()
    return review, row
