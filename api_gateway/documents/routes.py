"""The API routes of documents: submit files and records, follow them, read versions and spans."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response
from sqlmodel import Session

from api_gateway.auth.access import Caller, InCaller, Scope, needs, owned
from api_gateway.backpressure.admission import room_for
from api_gateway.backpressure.bodies import MIB, BodyLimit
from api_gateway.backpressure.load import Work
from api_gateway.documents.uploads import REQUEST_BODY, accept, item_of, sent
from api_gateway.http.etags import is_known
from api_gateway.http.idempotency import IdempotencyKey
from api_gateway.http.uploads import Received
from api_gateway.problems import (
    GIVEN_UP,
    documented,
    invalid,
    not_found,
    request_id_of,
)
from api_gateway.schemas import (
    DocumentOut,
    Freshness,
    NumberClaimOut,
    StandingOut,
    SubmissionAccepted,
    SubmissionOut,
    VersionList,
)
from api_gateway.state import InGateway
from knowledge.feeds.sources import source_policy
from messages import Stage
from store.documents import browse, claimed_works, indexing
from store.documents.citation_query import known
from store.documents.publication_status import Standing
from store.documents.submissions import was_read
from store.models import IngestItem

router = APIRouter(prefix="/v1/documents", tags=["documents"])

MAX_VERSION = 2**31 - 1
BODY_LIMITS = {("POST", router.prefix): BodyLimit(None, json=20 * MIB)}
"""Enough for the longest text of a record in UTF-8; parsing it blocks the interpreter for 0.1 s."""


@router.post(
    "",
    status_code=202,
    summary="Submit a document",
    description="A file as `multipart/form-data`, or one record as JSON. What plainly is not what "
    "it claims to be is refused at once; what turns out to be unreadable becomes the status "
    "`failed` of the submission, with the reason.",
    response_description="Accepted; `Location` says where to look",
    dependencies=[needs(Scope.DOCUMENTS), room_for(Work.DOCUMENTS)],
    responses=documented(400, 403, 413, 415, 422, 429, 503),
    openapi_extra=REQUEST_BODY,
)
def submit_document(
    request: Request,
    response: Response,
    gateway: InGateway,
    caller: InCaller,
    body: Annotated[Received, Depends(sent)],
    idempotency_key: IdempotencyKey = None,
) -> SubmissionAccepted:
    """Keep the document and promise it to the ingest stage."""
    kept = accept(
        gateway,
        caller,
        item_of(body),
        request_id=request_id_of(request),
        idempotency_key=idempotency_key,
    )
    response.headers["Location"] = f"/v1/documents/{kept.id}"
    return SubmissionAccepted.model_validate({"id": kept.id, "status": kept.status})


@router.get(
    "/{document_id}",
    summary="Get a submission or a document",
    description="The id of a submission gives its status and what became of it; the id of a "
    "document gives its current version, its clocks, and what became of the work with the sources "
    "that were asked. A submission is its owner's: operators see those of others without the name "
    "of the file. A key with `documents` and without `read` sees no documents.",
    dependencies=[needs(Scope.READ, Scope.DOCUMENTS)],
    responses=documented(404, 503),
)
def get_document(
    document_id: UUID, gateway: InGateway, caller: InCaller
) -> SubmissionOut | DocumentOut:
    """Whatever has this id."""
    with gateway.store.reading() as session:
        item = session.get(IngestItem, document_id)
        if Scope.READ not in caller.scopes:
            item = owned(caller, item, "submission")
        if item is not None:
            return _submission_out(session, item, caller)
        document = browse.document(session, document_id)
        if document is None:
            raise not_found("document")
        work = known(session, [document_id])[document_id]
        claimed = claimed_works.of_documents(session, [document_id]).get(document_id, [])
        return _document_out(document, work.checked_at, work.standing, claimed)


def _submission_out(session: Session, item: IngestItem, caller: Caller) -> SubmissionOut:
    """The resource of a submission. It is not done while a stage has given up on its documents.

    Raises:
        Problem: 404 if it has another owner and the caller is no operator.
    """
    to_operator = Scope.OPERATE in caller.scopes
    if not to_operator:
        item = owned(caller, item, "document")
    shown = SubmissionOut.model_validate(
        {
            **item.model_dump(exclude={"content", "batch_id"}),
            "claims": _claims(session, item, caller),
        }
    )
    if item.owner != caller.owner:  # a dead letter leads operators here
        shown = shown.model_copy(update={"filename": None})
    if item.status == "failed" and not was_read(session, item.id):
        detail = f"{GIVEN_UP} It stands there as {item.id}, and need not be sent again."
        return shown.model_copy(update={"error": detail})
    read = (item.outcome or {}).get("documents", ())
    became = [entry["version_id"] for entry in read if "version_id" in entry]
    died = indexing.deaths(session, became) if item.status == "done" else []
    if not died:
        return shown
    if died[0].state == "again":
        return shown.model_copy(update={"status": "pending"})
    return shown.model_copy(
        update={"status": "failed", "error": _not_indexed(died[0], to_operator=to_operator)}
    )


def _claims(session: Session, item: IngestItem, caller: Caller) -> dict[UUID, Any]:
    """The claims of an item's documents to be known works; `held` only for callers who may read."""
    read = (item.outcome or {}).get("documents", ())
    claims = claimed_works.of_documents(session, [UUID(entry["document_id"]) for entry in read])
    if Scope.READ in caller.scopes:
        return dict(claims)
    return {
        document_id: [{**entry, "held": []} for entry in own] for document_id, own in claims.items()
    }


def _not_indexed(death: indexing.Death, *, to_operator: bool) -> str:
    """Why a read document is not indexed, and what to do; only operators see the cause."""
    lost = "can be found" if death.stage == Stage.EMBED else "is wholly quoted"
    text = f"It was read, but not all of it {lost}: stage {death.stage} gave up on it"
    if to_operator:
        text += f" ({death.cause})"
    if death.state == "discarded":
        return (
            f"{text}, and an operator discarded that work. The same document is not worked on "
            "again; a changed document is."
        )
    if to_operator:
        return f"{text}. Mend that, then: attest dead-letters replay {death.letter_id}"
    return (
        f"{text}. Nothing is lost: an operator finds the cause among the dead letters as "
        f"{death.letter_id} and can have it done again; it need not be sent again."
    )


def _document_out(
    document: browse.DocumentSummary,
    checked_at: datetime,
    what_became: Standing,
    claimed: Sequence[Mapping[str, Any]],
) -> DocumentOut:
    shown = document.shown
    policy = source_policy(document.source_type)
    return DocumentOut(
        id=document.id,
        source_type=document.source_type,
        source_key=document.source_key,
        created_at=document.created_at,
        versions=len(document.versions),
        version=shown,
        freshness=Freshness(
            checked_at=checked_at,
            published_at=shown.published_at if shown else None,
            sla_hours=policy.sla_hours,
            stale=policy.is_stale(browse.age_hours(checked_at)),
        ),
        standing=StandingOut.model_validate(what_became),
        claims=[NumberClaimOut.model_validate(claim) for claim in claimed],
    )


@router.get(
    "/{document_id}/versions",
    summary="List the versions of a document",
    description="Newest first. Versions never change, save for their status.",
    dependencies=[needs(Scope.READ)],
    responses=documented(404, 503),
)
def list_versions(document_id: UUID, gateway: InGateway) -> VersionList:
    """All versions of a document."""
    with gateway.store.reading() as session:
        document = browse.document(session, document_id)
    if document is None:
        raise not_found("document")
    return VersionList(document_id=document_id, versions=document.versions)


@router.get(
    "/{document_id}/versions/{n}/text",
    summary="Read the text of a version, or an exact span of it",
    description="`start` and `end` are Unicode code points of the stored text, `end` exclusive, as "
    "in citations: the answer is exactly `text[start:end]`.",
    response_class=Response,
    dependencies=[needs(Scope.READ)],
    responses={
        200: {"content": {"text/plain": {"schema": {"type": "string"}}}},
        304: {"description": "Not changed"},
        **documented(404, 422, 503),
    },
)
def read_text(
    document_id: UUID,
    n: Annotated[int, Path(ge=1, le=MAX_VERSION)],
    gateway: InGateway,
    start: Annotated[int | None, Query(ge=0)] = None,
    end: Annotated[int | None, Query(ge=1)] = None,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    """The text, to the letter."""
    try:
        with gateway.store.reading() as session:
            passage = browse.passage(session, document_id, n, start, end)
    except browse.SpanOutside as error:
        raise invalid("query.start, query.end", str(error)) from error
    if passage is None:
        raise not_found("version")
    etag = f'"{passage.content_hash}"'
    if is_known(if_none_match, etag):
        return Response(status_code=304, headers={"ETag": etag})
    return Response(
        passage.text.encode(), media_type="text/plain; charset=utf-8", headers={"ETag": etag}
    )
