"""The API routes of extractions: a document's fields, each with the words that state it."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from api_gateway.auth.access import (
    Caller,
    InCaller,
    Scope,
    needs,
    needs_own,
    owned,
    within_budget,
)
from api_gateway.backpressure.admission import room_for
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
from api_gateway.extractions.uploads import JSON_BYTES, REQUEST_BODY, raw, sent
from api_gateway.http.idempotency import IdempotencyKey
from api_gateway.http.uploads import Received
from api_gateway.http.waiting import settled
from api_gateway.problems import documented, erased, given_up, not_found, request_id_of
from api_gateway.schemas import MAX_WAIT_SECONDS, POLL_AFTER_MS, Accepted
from api_gateway.state import Gateway, InGateway
from store.extractions import extractions, reviews
from store.models import ExtractionRow

router = APIRouter(prefix="/v1/extractions", tags=["extractions"])

RETRY_AFTER_SECONDS = 1
BODY_LIMITS = {("POST", router.prefix): BodyLimit(None, json=JSON_BYTES)}
UNFINISHED = ("queued", "running")


@router.post(
    "",
    status_code=202,
    summary="Submit a clinical document to be extracted",
    description="A text as JSON, or a file as `multipart/form-data`. The document is read, "
    "classified, and gone over until its fields are good enough for the profile. It is kept in "
    "its own rows and in nothing else.",
    response_description="Accepted; `Location` says where to look",
    dependencies=[needs(Scope.ASK), within_budget, room_for(Work.EXTRACTIONS)],
    responses=documented(400, 403, 413, 415, 422, 429, 503),
    openapi_extra=REQUEST_BODY,
)
def submit_extraction(
    request: Request,
    response: Response,
    gateway: InGateway,
    caller: InCaller,
    body: Annotated[Received, Depends(raw)],
    idempotency_key: IdempotencyKey = None,
) -> Accepted:
    """Write the document and promise it to the extract stage."""
    document = sent(body)
    with gateway.store.unit_of_work(caller.actor("gateway"), request_id_of(request)) as work:
        row = extractions.submit(
            work,
            document.document,
            owner=caller.owner,
            title=document.options.title,
            document_type=document.options.document_type,
            profile=document.options.profile,
            idempotency_key=idempotency_key,
        )
    response.headers["Location"] = f"/v1/extractions/{row.id}"
    return Accepted.model_validate(
        {"id": row.id, "status": row.status, "poll_after_ms": POLL_AFTER_MS}
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
        page = extractions.listing(
            session, owner=caller.owner, status=status, cursor=cursor, limit=limit
        )
    lines = [ExtractionLine.model_validate(row) for row in page.extractions]
    return ExtractionPage(extractions=lines, next_cursor=page.next_cursor)


@router.get(
    "/{extraction_id}",
    summary="Get the fields of a document, or how far it is",
    description="With `wait`, answers as soon as it has ended, at the latest after so many "
    "seconds; with `seen` too, as soon as there are more iterations than that.",
    response_model=ExtractionOut,
    dependencies=[needs_own],
    responses=documented(404, 410, 422, 503),
)
async def get_extraction(
    extraction_id: UUID,
    response: Response,
    gateway: InGateway,
    caller: InCaller,
    wait: Annotated[
        float,
        Query(ge=0, le=MAX_WAIT_SECONDS, allow_inf_nan=False, description="seconds, up to 60"),
    ] = 0,
    seen: Annotated[
        int | None, Query(ge=0, le=10_000, description="iterations that the caller knows of")
    ] = None,
) -> ExtractionOut:
    """The extraction, now or once there is something new."""

    def is_news(one: ExtractionOut) -> bool:
        return one.status not in UNFINISHED or (seen is not None and len(one.progress) > seen)

    current = await settled(
        gateway, caller, extraction_id, lambda: _read(gateway, caller, extraction_id), is_news, wait
    )
    if current.status in UNFINISHED:
        response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return current


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
        row = _visible(caller, extractions.get(session, extraction_id))
        if row.text is None:
            raise not_found("text yet: the document is still to be read")
        return ExtractionText(id=row.id, text=row.text)


def _visible(caller: Caller, row: ExtractionRow | None) -> ExtractionRow:
    extraction = owned(caller, row, "extraction")
    if extraction.status == "erased":
        raise erased("extraction", extraction.erased_at)
    return extraction


async def _read(gateway: Gateway, caller: Caller, extraction_id: UUID) -> ExtractionOut:
    """The extraction as it is now.

    Raises:
        Problem: this caller has no such extraction, or its words were erased.
    """

    def read() -> ExtractionOut:
        with gateway.store.reading() as session:
            row = _visible(caller, extractions.get(session, extraction_id))
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
            line = ExtractionLine.model_validate(row)
            failed = row.status == "failed"
            return ExtractionOut(
                **line.model_dump(),
                progress=progress,
                result=row.result if row.status == "done" else None,
                review=None if review is None else ReviewLine.model_validate(review),
                error=given_up("extraction", row.request_id) if failed else None,
            )

    return await run_in_threadpool(read)
