"""Submitted clinical documents: JSON with a text, or a file. Invalid ones are refused here."""

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, get_args

from fastapi import Request
from pydantic import ValidationError

from api_gateway.backpressure.bodies import MIB
from api_gateway.extractions.schemas import ExtractionIn, ExtractionOptions
from api_gateway.http.uploads import ACCEPTED as OTHERWISE_ACCEPTED
from api_gateway.http.uploads import (
    HTML,
    MARKDOWN,
    PDF,
    PLAIN,
    Received,
    UnreadableFile,
    UnsupportedFile,
    claimed_type,
    received,
    require_content,
)
from api_gateway.problems import Problem, from_body
from knowledge.documents.extraction import DocumentTypeName, ProfileName
from store.extractions.extractions import File

FORM_FIELDS = {"file", "title", "document_type", "profile"}
JSON_BYTES = 4 * MIB
"""Enough for a text of `MAX_DOCUMENT_CHARS` written with `\\u` and four digits for each half of a
surrogate pair (RFC 8259, section 7), which is twelve bytes per character, and its options."""
ACCEPTED = "text, Markdown, HTML, PDF, PNG, JPEG and TIFF"
_WRITTEN = frozenset({PLAIN, MARKDOWN, HTML, PDF})
_BY_HEADER = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"II*\x00": "image/tiff",
    b"MM\x00*": "image/tiff",
    b"%PDF-": PDF,
}
_PICTURE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".tif", ".tiff"})

REQUEST_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/ExtractionIn"}},
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "additionalProperties": False,
                    "properties": {
                        "file": {
                            "type": "string",
                            "format": "binary",
                            "description": "text, Markdown, HTML, PDF, PNG, JPEG or TIFF; scans "
                            "are read where Tesseract is installed",
                        },
                        "title": {"type": "string", "maxLength": 300},
                        "document_type": {"type": "string", "enum": [*get_args(DocumentTypeName)]},
                        "profile": {"type": "string", "enum": [*get_args(ProfileName)]},
                    },
                }
            },
        },
    }
}


@dataclass(frozen=True)
class Sent:
    """A submitted document with its options."""

    document: str | File
    options: ExtractionOptions


async def raw(request: Request) -> Received:
    """Read the body.

    Raises:
        Problem: it is neither JSON nor a form with one file.
    """
    return await received(request, "a text", FORM_FIELDS)


def sent(body: Received) -> Sent:
    """The document of a body. Pure; run it in a thread, as a body may be large.

    Raises:
        Problem: the document is refused.
    """
    try:
        if body.filename is None:
            document = ExtractionIn.model_validate_json(body.content)
            return Sent(document.text, document)
        fields = {name: value for name, value in body.fields if value.strip()}
        options = ExtractionOptions.model_validate(fields)
    except ValidationError as error:
        raise from_body(error, "body" if body.filename is None else "form") from None
    kind = _kind(body.filename, body.declared, body.content)
    return Sent(File(body.filename, kind, body.content), options)


def _kind(filename: str, declared: str | None, content: bytes) -> str:
    """The media type of a file, checked against its content.

    Raises:
        Problem: its kind is not supported, or it is not what it claims to be.
    """
    for magic, kind in _BY_HEADER.items():
        if content.startswith(magic):
            return kind
    if PurePosixPath(filename).suffix.lower() in _PICTURE_SUFFIXES:
        raise UnreadableFile("the file claims to be a picture and has no header of one")
    try:
        kind = claimed_type(filename, declared)
        if kind not in _WRITTEN:
            raise _refused("this is no clinical document")
        require_content(kind, content)
    except UnsupportedFile as error:
        raise _refused(error.detail.removesuffix(f"; accepted are {OTHERWISE_ACCEPTED}")) from None
    return kind


def _refused(why: str) -> Problem:
    return Problem(415, f"{why}; accepted are {ACCEPTED}")
