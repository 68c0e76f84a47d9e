"""The API routes of extractions: a document's fields, each with the words that state it."""

from collections.abc import Callable
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Query
from sqlmodel import Session

from api_gateway.auth.access import InCaller, Scope, needs, needs_own
from api_gateway.backpressure.bodies import BodyLimit
from api_gateway.backpressure.load import Work
from api_gateway.extractions.schemas import (
    ExtractionLine,
    ExtractionOut,
    ExtractionPage,
    ExtractionStatus,
    ExtractionText,
    IterationOut,
    ReviewLine,
)
from api_gateway.extractions.uploads import JSON_BYTES, REQUEST_BODY, Sent, raw, sent
from api_gateway.http.uploads import Received
from api_gateway.problems import documented, given_up, not_found
from api_gateway.resources.resource import Api, Resource
from api_gateway.resources.routes import api_router
from api_gateway.state import InGateway
from store.core.unit_of_work import UnitOfWork
from store.extractions import extractions, reviews
from store.extractions.extractions import EXTRACTIONS
from store.models import ExtractionRow

BODY_LIMITS = {("POST", "/v1/extractions"): BodyLimit(None, json=JSON_BYTES)}


def _given(body: Annotated[Received, Depends(raw)]) -> Sent:
    return sent(body)


def _submit(
    work: UnitOfWork, given: Sent, *, owner: str, idempotency_key: str | None
) -> ExtractionRow:
    return extractions.submit(
        work,
        given.document,
        owner=owner,
        title=given.options.title,
        document_type=given.options.document_type,
        profile=given.options.profile,
        idempotency_key=idempotency_key,
    )


def _news(
    seen: Annotated[
        int | None, Query(ge=0, le=10_000, description="iterations that the caller knows of")
    ] = None,
) -> Callable[[ExtractionOut], bool]:
    return lambda state: seen is not None and len(state.progress) > seen


def _out(session: Session, row: ExtractionRow) -> ExtractionOut:
    types = [part["type"] for part in (row.plan or {}).get("parts", [])]
    progress = [
        IterationOut(
            part=step.part,
            type=types[step.part],
            iteration=step.n,
            score=step.score,
            improvement_from_previous=step.gain,
        )
        for step in extractions.iterations(session, row.id)
    ]
    review = reviews.of_extraction(session, row.id)
    return ExtractionOut(
        **ExtractionLine.model_validate(row).model_dump(),
        progress=progress,
        result=row.result if row.status == "done" else None,
        review=None if review is None else ReviewLine.model_validate(review),
        error=given_up("extraction", row.request_id) if row.status == "failed" else None,
    )


EXTRACTION = Resource(EXTRACTIONS, Work.EXTRACTIONS, _submit, unfinished=("queued", "running"))

router = api_router(
    Api(
        EXTRACTION,
        given=_given,
        out=_out,
        out_model=ExtractionOut,
        submitting=(
            "Submit a clinical document to be extracted",
            "A text as JSON, or a file as `multipart/form-data`. The document is read, "
            "classified, and gone over until its fields are good enough for the profile. It is "
            "kept in its own rows and in nothing else.",
        ),
        getting=(
            "Get the fields of a document, or how far it is",
            "With `wait`, answers as soon as it has ended, at the latest after so many seconds; "
            "with `seen` too, as soon as there are more iterations than that.",
        ),
        news=_news,
        openapi=REQUEST_BODY,
    )
)


@router.get(
    "",
    summary="List extractions",
    description="The caller's own, newest first.",
    dependencies=[needs(Scope.READ)],
    responses=documented(422, 503),
)
def list_extractions(
    gateway: InGateway,
    caller: InCaller,
    status: Annotated[ExtractionStatus | None, Query()] = None,
    cursor: Annotated[str | None, Query(description="`next_cursor` of the page before")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> ExtractionPage:
    """A page of extractions."""
    with gateway.store.reading() as session:
        page = EXTRACTIONS.listing(
            session, owner=caller.owner, status=status, cursor=cursor, limit=limit
        )
    lines = [ExtractionLine.model_validate(row) for row in page.rows]
    return ExtractionPage(extractions=lines, next_cursor=page.next_cursor)


@router.get(
    "/{extraction_id}/text",
    summary="Get the text that the spans count",
    description="As it was sent; of a file, as it was read.",
    dependencies=[needs_own],
    responses=documented(404, 410, 422, 503),
)
def get_text(extraction_id: UUID, gateway: InGateway, caller: InCaller) -> ExtractionText:
    """The stored text; 404 until it has been read."""
    with gateway.store.reading() as session:
        row = EXTRACTION.readable(session, caller, extraction_id)
        if row.text is None:
            raise not_found("text yet: the document is still to be read")
        return ExtractionText(id=row.id, text=row.text)
