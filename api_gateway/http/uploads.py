"""Checks that an uploaded file is what it claims to be, and refuses it at once if it is not.

Only its outer form is checked, so that no hopeless file is stored. The ingest stage checks whether
a PDF has text, or a record all its fields.
"""

import codecs
import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import PurePosixPath

from fastapi import Request
from starlette.datastructures import FormData, UploadFile

from api_gateway.http.forms import FormLimits, open_form
from api_gateway.problems import UNKNOWN_NAME, FieldError, Problem, invalid
from store.core.json_pieces import OF_A_FILE, TooDeep, TooFull, measure

MAX_FILENAME_CHARS = 255
FORM_LIMITS = FormLimits(files=2, fields=10, field_bytes=8192)
"""One file is accepted; two are parsed so that the error can say that there are too many."""
PARSED_BYTES = 1024 * 1024
"""Our choice: JSON up to this size is parsed here, so that its errors are reported at once; errors
in larger files are found by the ingest stage."""
_STEP = 1024 * 1024
"""The bytes decoded in one go, which blocks the interpreter for a few milliseconds."""
MOST_UTF8_BYTES = 4
"""The most bytes of one character (RFC 3629, section 3)."""
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
_NO_SPACE = re.compile(rb"[^ \t\r\n]")
ACCEPTED = "text, Markdown, HTML, PDF, JSON and JSON lines"


@dataclass(frozen=True)
class Received:
    """A received body: JSON, or a file with its form fields."""

    content: bytes
    filename: str | None = None
    """None for a JSON body."""
    declared: str | None = None
    fields: tuple[tuple[str, str], ...] = ()


async def received(request: Request, what: str, known: Collection[str]) -> Received:
    """Read the body.

    Args:
        what: the name of what the JSON would be, for the error message.
        known: the fields that the form may have.

    Raises:
        Problem: it is neither JSON nor a form with one file and known fields.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        return Received(await request.body())
    if kind != "multipart/form-data":
        detail = f"send {what} as application/json or a file as multipart/form-data, field `file`"
        raise Problem(415, detail)
    async with open_form(request, FORM_LIMITS) as form:
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
    """The file is of a kind that is not supported."""

    def __init__(self, detail: str) -> None:
        super().__init__(415, f"{detail}; accepted are {ACCEPTED}")


class UnreadableFile(Problem):
    """The file is not what its name or media type says."""

    def __init__(self, detail: str) -> None:
        super().__init__(422, detail, kind="unreadable-file")


def clean_filename(name: str | None) -> str:
    """The last part of a file name, without control characters; never empty."""
    last = PurePosixPath((name or "").replace("\\", "/")).name
    shown = "".join(char for char in last if char.isprintable()).strip()
    return "upload" if shown in {"", ".", ".."} else shown[-MAX_FILENAME_CHARS:]


def media_type_of(filename: str, declared: str | None, content: bytes) -> str:
    """The media type that an upload claims, checked against its content.

    Raises:
        UnsupportedFile: the kind of file is not supported.
        UnreadableFile: it is empty, or not what it claims to be.
        Problem: it is JSON with too many pieces.
    """
    kind = claimed_type(filename, declared)
    require_content(kind, content)
    return kind


def claimed_type(filename: str, declared: str | None) -> str:
    """The media type that an upload claims to be.

    The suffix decides before the declared type: many clients send `application/octet-stream`.

    Raises:
        UnsupportedFile: the kind of file is not supported.
    """
    named = (declared or "").partition(";")[0].strip().lower()
    kind = _BY_SUFFIX.get(PurePosixPath(filename).suffix.lower()) or _BY_NAME.get(named)
    if kind is None:
        raise UnsupportedFile("neither the suffix nor the media type names a kind that is read")
    return kind


def require_content(kind: str, content: bytes) -> None:
    """Require that the content may be of this kind.

    Raises:
        UnsupportedFile: it is of another kind, which is not supported.
        UnreadableFile: it is empty, or not of this kind.
        Problem: it is JSON with too many pieces.
    """
    if not content:
        raise UnreadableFile("the file is empty")
    for magic, what in _FOREIGN_MAGIC.items():
        if content.startswith(magic):
            raise UnsupportedFile(f"the file claims to be {kind} and is {what}")
    if kind == PDF:
        _require_pdf(content)
    else:
        _require_text(kind, content)


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
    _require_words(content)
    if kind in (JSON, JSONL):
        _require_few_pieces(content)
    if kind == JSON:
        _require_json(content, "the file")
    elif kind == JSONL:
        _require_json(_first_line(content), "its first line")


def _require_words(content: bytes) -> None:
    """Require UTF-8 text that is not only white space. It is decoded piece by piece and no piece is
    kept, as the whole text may take four times its bytes."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    has_words = False
    for start in range(_behind_mark(content), len(content), _STEP):
        begun = len(decoder.getstate()[0])
        part = content[start : start + _STEP]
        try:
            text = decoder.decode(part, final=start + _STEP >= len(content))
        except UnicodeDecodeError as error:
            where = f"byte {start - begun + error.start}"
            raise UnreadableFile(f"the file is not UTF-8 (see {where}): convert it") from None
        has_words = has_words or not (text.isspace() or not text)
    if not has_words:
        raise UnreadableFile("the file has no words in it")


def _behind_mark(content: bytes) -> int:
    """The offset of the text: after a byte order mark, if there is one."""
    return len(codecs.BOM_UTF8) if content.startswith(codecs.BOM_UTF8) else 0


def _require_few_pieces(content: bytes) -> None:
    try:
        measure(content, OF_A_FILE)
    except TooFull:
        raise Problem(
            413,
            f"a file of JSON may have up to {OF_A_FILE.strings} names and strings, and "
            f"{OF_A_FILE.marks} values in all: split it",
        ) from None
    except TooDeep:
        raise UnreadableFile(
            f"the file is JSON of more than {OF_A_FILE.depth} brackets in brackets: send it flatter"
        ) from None


def _first_line(content: bytes) -> bytes:
    start = _first_sign(content, _behind_mark(content))
    end = content.find(b"\n", start)
    return content[start:] if end < 0 else content[start:end]


def _first_sign(content: bytes, start: int) -> int:
    """The offset of the first byte that is none of JSON's four spaces (RFC 8259, section 2)."""
    match = _NO_SPACE.search(content, start)
    return match.start() if match else len(content)


def _require_json(content: bytes, what: str) -> None:
    """Require JSON that may be records. Its pieces must have been counted before."""
    start = _first_sign(content, _behind_mark(content))
    if len(content) > PARSED_BYTES:
        fits = content[start : start + 1] in (b"{", b"[")
    else:
        fits = isinstance(_parsed(content[start:].decode(), what), (dict, list))
    if not fits:
        raise UnreadableFile(f"{what} holds no record: a record is a JSON object")


def _parsed(text: str, what: str) -> object:
    try:
        value: object = json.loads(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise UnreadableFile(f"{what} is no JSON ({where}: {error.msg})") from None
    except (ValueError, RecursionError):
        raise UnreadableFile(f"{what} is JSON that cannot be read") from None
    return value
