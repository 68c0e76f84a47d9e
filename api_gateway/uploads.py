"""Whether an uploaded file is what it claims to be: what plainly is not is refused at once.

Only the envelope is looked at, so that nothing hopeless is stored. Whether a PDF has text, or a
record all its fields, the ingest stage finds out.
"""

import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import PurePosixPath

from fastapi import Request
from starlette.datastructures import FormData, UploadFile

from api_gateway.problems import UNKNOWN_NAME, FieldError, Problem, invalid

MAX_FILENAME_CHARS = 255
MAX_FORM_FIELD_BYTES = 8192
PDF_HEADER_WITHIN = 1024
"""PDF Reference 1.7, appendix H, note 13: readers accept the header in the first 1024 bytes."""

PLAIN, MARKDOWN, HTML = "text/plain", "text/markdown", "text/html"
PDF, JSON, JSONL = "application/pdf", "application/json", "application/x-ndjson"

_BY_SUFFIX = {
    ".txt": PLAIN,
    ".text": PLAIN,
    ".md": MARKDOWN,
    ".markdown": MARKDOWN,
    ".html": HTML,
    ".htm": HTML,
    ".xhtml": HTML,
    ".pdf": PDF,
    ".json": JSON,
    ".jsonl": JSONL,
    ".ndjson": JSONL,
}
_BY_NAME = {
    **{kind: kind for kind in (PLAIN, MARKDOWN, HTML, PDF, JSON, JSONL)},
    "text/x-markdown": MARKDOWN,
    "application/xhtml+xml": HTML,
    "application/ndjson": JSONL,
    "application/jsonl": JSONL,
    "application/jsonlines": JSONL,
}
_FOREIGN_MAGIC = {
    b"PK\x03\x04": "a ZIP archive (or an office document, which is one)",
    b"PK\x05\x06": "an empty ZIP archive",
    b"\x1f\x8b": "gzip-compressed",
    b"BZh": "bzip2-compressed",
    b"\xfd7zXZ\x00": "xz-compressed",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"\xd0\xcf\x11\xe0": "an old office document",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"\x7fELF": "a program",
}
ACCEPTED = "text, Markdown, HTML, PDF, JSON and JSON lines"


@dataclass(frozen=True)
class Received:
    """A body as it came: JSON, or a file with its form fields."""

    content: bytes
    filename: str | None = None
    """None: it is JSON."""
    declared: str | None = None
    fields: tuple[tuple[str, str], ...] = ()


async def received(request: Request, what: str, known: Collection[str]) -> Received:
    """Read the body.

    Args:
        what: its JSON would be, for people.
        known: the fields of its form.

    Raises:
        Problem: it is neither JSON nor a form with one file and known fields.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        return Received(await request.body())
    if kind != "multipart/form-data":
        said = f"send {what} as application/json or a file as multipart/form-data, field `file`"
        raise Problem(415, said)
    async with request.form(max_part_size=MAX_FORM_FIELD_BYTES) as form:
        return await _file_of(form, known)


async def _file_of(form: FormData, known: Collection[str]) -> Received:
    unknown = [
        FieldError(field=f"form.{UNKNOWN_NAME}", message="there is no such field")
        for name in form
        if name not in known
    ]
    if unknown:
        raise Problem(422, "the form has fields that are not known", errors=unknown)
    files = [value for value in form.getlist("file") if isinstance(value, UploadFile)]
    if len(files) != 1:
        raise invalid("form.file", "send exactly one file")
    fields = [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
    return Received(
        await files[0].read(),
        clean_filename(files[0].filename),
        files[0].content_type,
        tuple(fields),
    )


class UnsupportedFile(Problem):
    """A kind of file that is not read here."""

    def __init__(self, detail: str) -> None:
        super().__init__(415, f"{detail}; accepted are {ACCEPTED}")


class UnreadableFile(Problem):
    """A file that is not what its name or media type says."""

    def __init__(self, detail: str) -> None:
        super().__init__(422, detail, kind="unreadable-file")


def clean_filename(name: str | None) -> str:
    """The last part of a file name, without control characters; never empty."""
    last = PurePosixPath((name or "").replace("\\", "/")).name
    shown = "".join(sign for sign in last if sign.isprintable()).strip()
    return "upload" if shown in {"", ".", ".."} else shown[-MAX_FILENAME_CHARS:]


def media_type_of(filename: str, declared: str | None, content: bytes) -> str:
    """The media type of an upload, once its content was found to fit it.

    The suffix decides before the declared type: many clients send `application/octet-stream`.

    Raises:
        UnsupportedFile: of no kind that is read here.
        UnreadableFile: empty, or not what it claims to be.
    """
    named = (declared or "").partition(";")[0].strip().lower()
    kind = _BY_SUFFIX.get(PurePosixPath(filename).suffix.lower()) or _BY_NAME.get(named)
    if kind is None:
        raise UnsupportedFile("neither the suffix nor the media type names a kind that is read")
    if not content:
        raise UnreadableFile("the file is empty")
    for magic, what in _FOREIGN_MAGIC.items():
        if content.startswith(magic):
            raise UnsupportedFile(f"the file claims to be {kind} and is {what}")
    if kind == PDF:
        _require_pdf(content)
    else:
        _require_text(kind, content)
    return kind


def _require_pdf(content: bytes) -> None:
    if b"%PDF-" not in content[:PDF_HEADER_WITHIN]:
        raise UnreadableFile("the file claims to be a PDF and has no PDF header")


def _require_text(kind: str, content: bytes) -> None:
    if content.startswith(b"%PDF-"):
        raise UnsupportedFile(f"the file claims to be {kind} and is a PDF")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UnreadableFile("the file is UTF-16: save it as UTF-8")
    if b"\x00" in content:
        raise UnreadableFile("the file contains NUL bytes, so it is no text")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = f"byte {error.start}"
        raise UnreadableFile(f"the file is not UTF-8 (see {where}): convert it") from None
    if not text.strip():
        raise UnreadableFile("the file has no words in it")
    if kind == JSON:
        _require_json(text, "the file")
    elif kind == JSONL:
        _require_json(text.lstrip().partition("\n")[0], "its first line")


def _require_json(text: str, what: str) -> None:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise UnreadableFile(f"{what} is no JSON ({where}: {error.msg})") from None
    except (ValueError, RecursionError):
        raise UnreadableFile(f"{what} is JSON that cannot be read") from None
    if not isinstance(value, (dict, list)):
        raise UnreadableFile(f"{what} holds no record: a record is a JSON object")
