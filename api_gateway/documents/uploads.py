"""Submitted documents: a record as JSON, or a file. Programs and pages share this code.

Obviously invalid documents are refused here; the ingest stage reports those it cannot read.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, get_args
from uuid import UUID, uuid4

from fastapi import Request
from pydantic import TypeAdapter, ValidationError

from api_gateway.auth.access import Caller
from api_gateway.http.uploads import JSON, PLAIN, Received, media_type_of, received
from api_gateway.problems import Problem, from_body, invalid
from api_gateway.state import Gateway
from store.documents.records import Line, SourceRecord, SourceType, unlike_any
from store.documents.submissions import submit_item
from store.models import IngestItem

FORM_FIELDS = {"file", "source_type", "title"}
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
                            "description": "text, Markdown, HTML, PDF, JSON or JSON lines; of "
                            "a PDF or HTML the title is read, no date and no identifier: send a "
                            "record where they matter",
                        },
                        "source_type": {"type": "string", "enum": list(get_args(SourceType))},
                        "title": {
                            "type": "string",
                            "description": "of a plain text; of other files it is read. Left out, "
                            "the file's name is the title, and everybody sees it",
                        },
                    },
                }
            },
        },
    }
}


@dataclass(frozen=True)
class Item:
    """A document as the ingest stage gets it."""

    filename: str
    media_type: str
    content: bytes
    source_type: str | None


async def sent(request: Request) -> Received:
    """Read the body.

    Raises:
        Problem: it is neither JSON nor a form with one file.
    """
    return await received(request, "a record", FORM_FIELDS)


def item_of(sent: Received) -> Item:
    """The document to keep of a body. Pure; run it in a thread, as a body may be large.

    Raises:
        Problem: the document is refused.
    """
    if sent.filename is None:
        return _checked_item(lambda: SourceRecord.model_validate_json(sent.content))
    fields = dict(sent.fields)
    source_type = fields.get("source_type") or None
    if source_type is not None and source_type not in get_args(SourceType):
        raise invalid("form.source_type", f"is none of {', '.join(get_args(SourceType))}")
    media_type = media_type_of(sent.filename, sent.declared, sent.content)
    title = fields.get("title", "").strip()
    if not title:
        return Item(sent.filename, media_type, sent.content, source_type)
    if media_type != PLAIN:
        raise invalid("form.title", "only a plain text takes a title; of other files it is read")
    try:
        _LINE.validate_python(title)
    except ValidationError:
        raise invalid("form.title", "has 1 to 1000 characters") from None
    details = {"source_type": source_type} if source_type else {}
    return _checked_item(
        lambda: SourceRecord.model_validate(
            {**details, "title": title, "text": sent.content.decode("utf-8-sig")}
        )
    )


def _checked_item(make: Callable[[], SourceRecord]) -> Item:
    try:
        record = make()
    except ValidationError as error:
        raise from_body(error, "body") from None
    if (how := unlike_any(record.identifiers)) is not None:
        raise Problem(422, how)
    if any("\x00" in text for text in _texts(record.model_dump())):
        raise Problem(422, "the record contains a NUL character; remove it")
    content = record.model_dump_json(exclude_unset=True).encode()
    return Item("record.json", JSON, content, None)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _texts(part)


def accept(
    gateway: Gateway,
    caller: Caller,
    item: Item,
    *,
    request_id: UUID,
    idempotency_key: str | None,
    batch_id: UUID | None = None,
) -> IngestItem:
    """Keep the document and promise it to the ingest stage.

    Args:
        request_id: the id of the request that brought it.
        batch_id: the id of documents that are sent together. Their messages carry it, which shows
            when all their work is done. If omitted, the document gets its own.

    Raises:
        KeyReused: the key was used for another document.
    """
    with gateway.store.unit_of_work(caller.actor("gateway"), request_id) as work:
        return submit_item(
            work,
            filename=item.filename,
            media_type=item.media_type,
            content=item.content,
            source_type=item.source_type,
            batch_id=batch_id or uuid4(),
            request_id=batch_id,
            owner=caller.owner,
            idempotency_key=idempotency_key,
        )
