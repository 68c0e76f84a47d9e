"""Documents: submit files and records, see what became of them, read exact versions and spans."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, get_args
from uuid import UUID, uuid4

from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response
from pydantic import TypeAdapter, ValidationError
from sqlmodel import Session
from starlette.datastructures import FormData, UploadFile

from api_gateway.access import InCaller, Scope, needs, owned
from api_gateway.admission import room_for
from api_gateway.etags import is_known
from api_gateway.idempotency import IdempotencyKey
from api_gateway.load import Work
from api_gateway.problems import (
    GIVEN_UP,
    UNKNOWN_NAME,
    FieldError,
    Problem,
    documented,
    from_validation,
    invalid,
    not_found,
    request_id_of,
)
from api_gateway.schemas import (
    DocumentOut,
    Freshness,
    StandingOut,
    SubmissionAccepted,
    SubmissionOut,
    VersionList,
    VersionOut,
)
from api_gateway.state import InGateway
from api_gateway.uploads import JSON, PLAIN, clean_filename, media_type_of
from knowledge.sources import source_policy
from store import library
from store.documents import checked_at as when_checked
from store.models import IngestItem
from store.records import Line, SourceRecord, SourceType
from store.standing import Standing, standing
from store.submissions import submit_item, was_read

router = APIRouter(prefix="/v1/documents", tags=["documents"])

FORM_FIELDS = {"file", "source_type", "title"}
MAX_FORM_FIELD_BYTES = 8192
MAX_VERSION = 2**31 - 1
_LINE = TypeAdapter[str](Line)

REQUEST_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {"$ref": "#/components/schemas/SourceRecord"},
                "example": {
                    "source_type": "pubmed",
                    "title": "Circulating tumor DNA in stage II colon cancer",
                    "text": "Background. …",
                    "identifiers": {"pmid": "35657320"},
                    "published_at": "2022-06-04T00:00:00Z",
                },
            },
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "additionalProperties": False,
                    "properties": {
                        "file": {
                            "type": "string",
                            "format": "binary",
                            "description": "text, Markdown, HTML, PDF, JSON or JSON lines",
                        },
                        "source_type": {"type": "string", "enum": list(get_args(SourceType))},
                        "title": {
                            "type": "string",
                            "description": "of a plain text; other files carry their own",
                        },
                    },
                }
            },
        },
    }
}


@dataclass(frozen=True)
class _Sent:
    """The body as it came: JSON, or a file with its form fields."""

    content: bytes
    is_record: bool
    filename: str = ""
    declared: str | None = None
    fields: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class _Item:
    """What is handed to the ingest stage."""

    filename: str
    media_type: str
    content: bytes
    source_type: str | None


async def _sent(request: Request) -> _Sent:
    """Read the body.

    Raises:
        Problem: it is neither JSON nor a form with one file.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        return _Sent(await request.body(), is_record=True)
    if kind != "multipart/form-data":
        raise Problem(
            415, "send a record as application/json or a file as multipart/form-data, field `file`"
        )
    async with request.form(max_part_size=MAX_FORM_FIELD_BYTES) as form:
        return await _file_of(form)


async def _file_of(form: FormData) -> _Sent:
    unknown = [
        FieldError(field=f"form.{UNKNOWN_NAME}", message="there is no such field")
        for name in form
        if name not in FORM_FIELDS
    ]
    if unknown:
        raise Problem(422, "the form has fields that are not known", errors=unknown)
    files = [value for value in form.getlist("file") if isinstance(value, UploadFile)]
    if len(files) != 1:
        raise invalid("form.file", "send exactly one file")
    fields = [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
    return _Sent(
        await files[0].read(),
        is_record=False,
        filename=clean_filename(files[0].filename),
        declared=files[0].content_type,
        fields=tuple(fields),
    )


def _item(sent: _Sent) -> _Item:
    """What to keep of a body; pure, and run in a thread because a body may be large.

    Raises:
        Problem: it is refused.
    """
    if sent.is_record:
        return _record_item(sent.content)
    fields = dict(sent.fields)
    source_type = fields.get("source_type") or None
    if source_type is not None and source_type not in get_args(SourceType):
        raise invalid("form.source_type", f"is none of {', '.join(get_args(SourceType))}")
    media_type = media_type_of(sent.filename, sent.declared, sent.content)
    title = fields.get("title", "").strip()
    if not title:
        return _Item(sent.filename, media_type, sent.content, source_type)
    if media_type != PLAIN:
        raise invalid("form.title", "only a plain text needs a title; other files carry their own")
    try:
        _LINE.validate_python(title)
    except ValidationError:
        raise invalid("form.title", "has 1 to 1000 characters") from None
    given = {"source_type": source_type} if source_type else {}
    return _checked_item(
        lambda: SourceRecord.model_validate(
            {**given, "title": title, "text": sent.content.decode("utf-8-sig")}
        )
    )


def _record_item(body: bytes) -> _Item:
    return _checked_item(lambda: SourceRecord.model_validate_json(body))


def _checked_item(make: Callable[[], SourceRecord]) -> _Item:
    try:
        record = make()
    except ValidationError as error:
        errors = error.errors(include_input=False, include_url=False, include_context=False)
        if errors[0]["type"] == "json_invalid":
            raise Problem(400, "the body is no valid JSON in UTF-8") from None
        raise from_validation(
            [{**found, "loc": ("body", *found["loc"])} for found in errors]
        ) from None
    if any("\x00" in text for text in _texts(record.model_dump())):
        raise Problem(422, "the record contains a NUL character; remove it")
    content = record.model_dump_json(exclude_unset=True).encode()
    return _Item("record.json", JSON, content, None)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _texts(part)


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
    sent: Annotated[_Sent, Depends(_sent)],
    idempotency_key: IdempotencyKey = None,
) -> SubmissionAccepted:
    """Keep the document and promise it to the ingest stage."""
    item = _item(sent)
    with gateway.store.unit_of_work(caller.actor("gateway"), request_id_of(request)) as work:
        kept = submit_item(
            work,
            filename=item.filename,
            media_type=item.media_type,
            content=item.content,
            source_type=item.source_type,
            batch_id=uuid4(),
            owner=caller.owner,
            idempotency_key=idempotency_key,
        )
    response.headers["Location"] = f"/v1/documents/{kept.id}"
    return SubmissionAccepted.model_validate({"id": kept.id, "status": kept.status})


@router.get(
    "/{document_id}",
    summary="Get a submission or a document",
    description="The id of a submission gives its status and what became of it; the id of a "
    "document gives its current version, its clocks, and what became of the work with the sources "
    "that were asked. A key with `documents` and without `read` sees its owner's submissions only.",
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
            return _submission_out(session, item)
        document = library.document(session, document_id)
        if document is None:
            raise not_found("document")
        checked_at = when_checked(session, [document_id])[document_id]
        return _document_out(document, checked_at, standing(session, document_id))


def _submission_out(session: Session, item: IngestItem) -> SubmissionOut:
    shown = SubmissionOut.model_validate(item.model_dump(exclude={"content", "batch_id"}))
    if item.status != "failed" or was_read(session, item.id):
        return shown
    told = f"{GIVEN_UP} It stands there as {item.id}, and need not be sent again."
    return shown.model_copy(update={"error": told})


def _document_out(
    document: library.DocumentSummary, checked_at: datetime, what_became: Standing
) -> DocumentOut:
    shown = document.shown
    policy = source_policy(document.source_type)
    return DocumentOut(
        id=document.id,
        source_type=document.source_type,
        source_key=document.source_key,
        created_at=document.created_at,
        versions=len(document.versions),
        version=VersionOut.model_validate(shown) if shown else None,
        freshness=Freshness(
            checked_at=checked_at,
            published_at=shown.published_at if shown else None,
            sla_hours=policy.sla_hours,
            stale=policy.is_stale(library.age_hours(checked_at)),
        ),
        standing=StandingOut.model_validate(what_became),
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
        document = library.document(session, document_id)
    if document is None:
        raise not_found("document")
    versions = [VersionOut.model_validate(version) for version in document.versions]
    return VersionList(document_id=document_id, versions=versions)


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
            passage = library.passage(session, document_id, n, start, end)
    except library.SpanOutside as error:
        raise invalid("query.start, query.end", str(error)) from error
    if passage is None:
        raise not_found("version")
    etag = f'"{passage.content_hash}"'
    if is_known(if_none_match, etag):
        return Response(status_code=304, headers={"ETag": etag})
    return Response(
        passage.text.encode(), media_type="text/plain; charset=utf-8", headers={"ETag": etag}
    )
