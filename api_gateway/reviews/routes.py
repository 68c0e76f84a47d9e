"""The API routes of reviews: extractions that a person should check, to accept or correct."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Body, Query, Request

from api_gateway.auth.access import Caller, InCaller, Scope, needs, owned
from api_gateway.backpressure.bodies import MIB, BodyLimit
from api_gateway.extractions.schemas import (
    CorrectionIn,
    ReviewLine,
    ReviewOut,
    ReviewPage,
    ReviewStatus,
    StatedIn,
)
from api_gateway.problems import Problem, documented, invalid, not_found, request_id_of
from api_gateway.state import Gateway, InGateway
from store.core.unit_of_work import UnitOfWork
from store.extractions import reviews
from store.extractions.extractions import EXTRACTIONS
from store.extractions.reviews import Decided, Stated, Unsupported
from store.models import ExtractionRow, Review

router = APIRouter(prefix="/v1/reviews", tags=["reviews"])

BODY_LIMITS = {("POST", "/v1/reviews/{review_id}/correct"): BodyLimit(4 * MIB)}
"""Enough for the words of a whole document, and more than anybody corrects by hand."""
WHOSE = "The caller's own: a review shows words of the document, as the document itself does."


@router.get(
    "",
    summary="List extractions that a person should look at",
    description=f"Those that wait longest first; the open ones, unless asked otherwise. {WHOSE}",
    dependencies=[needs(Scope.READ)],
    responses=documented(422, 503),
)
def list_reviews(
    gateway: InGateway,
    caller: InCaller,
    status: Annotated[ReviewStatus, Query()] = "open",
    cursor: Annotated[str | None, Query(description="`next_cursor` of the page before")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> ReviewPage:
    """A page of reviews."""
    with gateway.store.reading() as session:
        page = reviews.listing(
            session, owner=caller.owner, status=status, cursor=cursor, limit=limit
        )
    lines = [ReviewLine.model_validate(review) for review in page.rows]
    return ReviewPage(reviews=lines, next_cursor=page.next_cursor)


@router.get(
    "/{review_id}",
    summary="Get a review with the fields that it is about",
    description=f"The text is at `/v1/extractions/{{id}}/text`. {WHOSE}",
    dependencies=[needs(Scope.READ)],
    responses=documented(404, 422, 503),
)
def get_review(review_id: UUID, gateway: InGateway, caller: InCaller) -> ReviewOut:
    """The review."""
    with gateway.store.reading() as session:
        review = owned(caller, reviews.get(session, review_id), "review")
        return _out(review, EXTRACTIONS.get(session, review.extraction_id))


@router.post(
    "/{review_id}/accept",
    summary="Accept an extraction as it is",
    description=f"Ends the review; the audit log keeps who did it. {WHOSE}",
    dependencies=[needs(Scope.ASK)],
    responses=documented(403, 404, 409, 422, 503),
)
def accept_review(
    review_id: UUID, request: Request, gateway: InGateway, caller: InCaller
) -> ReviewOut:
    """The extraction is right."""
    return _ended(request, gateway, caller, review_id, reviews.accept)


@router.post(
    "/{review_id}/correct",
    summary="Correct fields of an extraction",
    description="Each value must stand in the span that it names, case and spaces aside; null "
    "says that the document states none. Ends the review; the extraction's own result stays as "
    f"it was. {WHOSE}",
    dependencies=[needs(Scope.ASK)],
    responses=documented(400, 403, 404, 409, 413, 415, 422, 503),
)
def correct_review(
    review_id: UUID,
    body: Annotated[CorrectionIn, Body()],
    request: Request,
    gateway: InGateway,
    caller: InCaller,
) -> ReviewOut:
    """A person's values in place of some that were extracted."""

    def correct(work: UnitOfWork, review_id: UUID, by: str, owner: str) -> Review | None:
        return reviews.correct(work, review_id, by, _correction(body), owner)

    return _ended(request, gateway, caller, review_id, correct)


def _ended(
    request: Request,
    gateway: Gateway,
    caller: Caller,
    review_id: UUID,
    end: Callable[[UnitOfWork, UUID, str, str], Review | None],
) -> ReviewOut:
    actor = caller.actor("operator")
    with gateway.store.unit_of_work(actor, request_id_of(request)) as work:
        owned(caller, reviews.get(work.session, review_id), "review")
        try:
            review = end(work, review_id, actor, caller.owner)
        except Decided as error:
            raise Problem(409, str(error), kind="already-decided") from None
        except Unsupported as error:
            place = f"body.{error.field}" if error.field else "body"
            raise invalid(place, str(error)) from None
        if review is None:
            raise not_found("review")
        return _out(review, EXTRACTIONS.get(work.session, review.extraction_id))


def _correction(
    body: Mapping[str, StatedIn | list[StatedIn] | None],
) -> dict[str, Sequence[Stated] | None]:
    corrected: dict[str, Sequence[Stated] | None] = {}
    for field, values in body.items():
        if values is None:
            corrected[field] = None
            continue
        every = values if isinstance(values, list) else [values]
        corrected[field] = [Stated(value.value, value.start, value.end) for value in every]
    return corrected


def _out(review: Review, row: ExtractionRow | None) -> ReviewOut:
    fields = ((row.result if row else None) or {}).get("fields", {})
    line = ReviewLine.model_validate(review)
    return ReviewOut(**line.model_dump(), corrected=review.corrected, fields=fields)
