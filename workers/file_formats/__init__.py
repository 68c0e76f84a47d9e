"""Reads files into source records: text, Markdown, HTML, PDF, JSON and JSON Lines.

    from workers.file_formats import UnreadableDocument, read, read_each

Pure functions of bytes; nothing here opens a file or a connection.
"""

from pathlib import PurePath
from typing import Literal

from store.core.json_pieces import OF_A_FILE, TooDeep, TooFull, measure
from store.documents.records import SourceRecord
from workers.file_formats.errors import UnreadableDocument
from workers.file_formats.invisibles import seen
from workers.file_formats.lines import Found, LineProblem, read_each_line
from workers.file_formats.pdf import is_pdf, read_pdf
from workers.file_formats.plain import read_markdown, read_text
from workers.file_formats.records import read_json, read_json_lines
from workers.file_formats.web import read_html

__all__ = [
    "MAX_FILE_BYTES",
    "Found",
    "LineProblem",
    "UnreadableDocument",
    "read",
    "read_each",
    "sniff",
]

MAX_FILE_BYTES = 32 * 1024 * 1024

MOST_LINE_ENDS = 1_000_000
"""Our choice, for JSON: every line end is examined, and a file of records has a tenth of them."""

Format = Literal["text", "markdown", "html", "pdf", "json", "jsonl"]

_EXTENSIONS: dict[str, Format] = {
    ".txt": "text",
    ".text": "text",
    ".hl7": "text",
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".pdf": "pdf",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
_MEDIA_TYPES: dict[str, Format] = {
    "text/plain": "text",
    "text/markdown": "markdown",
    "text/x-markdown": "markdown",
    "text/html": "html",
    "application/xhtml+xml": "html",
    "application/pdf": "pdf",
    "application/x-pdf": "pdf",
    "application/json": "json",
    "application/jsonl": "jsonl",
    "application/x-ndjson": "jsonl",
    "application/x-jsonlines": "jsonl",
}
_ANY_MEDIA_TYPE = frozenset({"", "application/octet-stream", "binary/octet-stream"})


def read(data: bytes, *, filename: str, media_type: str | None = None) -> list[SourceRecord]:
    """The documents in a file, at least one.

    `filename` may be a path; only its last part is used, for the format and as a last resort for
    the title. All formats but PDF and HTML must be UTF-8. Invisible characters (zero-width,
    direction controls, tags) are removed here, before a version's text is fixed, so that offsets
    count the rest. Raises UnreadableDocument, whose message is one line that says what to do, for
    anything that cannot be read whole.
    """
    return [seen(record) for record in _read(data, _kind(data, filename, media_type), filename)]


def read_each(
    data: bytes, *, filename: str, media_type: str | None = None, first_line: int = 1
) -> Found:
    """As `read`, but each line of JSON Lines is read by itself: readable lines are returned as
    records, the others as problems, even if there is no record at all.

    Args:
        first_line: the number of the first line, for a packet that was cut from a file.
    """
    kind = _kind(data, filename, media_type)
    if kind == "jsonl":
        return read_each_line(data, first_line)
    return Found([seen(record) for record in _read(data, kind, filename)])


def _kind(data: bytes, filename: str, media_type: str | None) -> Format:
    """The format of a file. Raises UnreadableDocument if it is empty, too large or unsupported."""
    if not data:
        raise UnreadableDocument("the file is empty; nothing to read")
    if len(data) > MAX_FILE_BYTES:
        raise UnreadableDocument(
            f"the file has {len(data):,} bytes; the limit is {MAX_FILE_BYTES:,}: split it"
        )
    kind = sniff(data, filename=filename, media_type=media_type)
    if kind in ("json", "jsonl"):
        _require_few_pieces(data)
    return kind


def _require_few_pieces(data: bytes) -> None:
    """Raise UnreadableDocument for JSON that would need too much memory once it is parsed."""
    if data.count(b"\n") + data.count(b"\r") > MOST_LINE_ENDS:
        raise UnreadableDocument(f"the file has more than {MOST_LINE_ENDS:,} line ends: split it")
    try:
        measure(data, OF_A_FILE)
    except TooFull:
        raise UnreadableDocument(
            f"the file has more than {OF_A_FILE.strings:,} names and strings, or more than "
            f"{OF_A_FILE.marks:,} values: split it"
        ) from None
    except TooDeep:
        raise UnreadableDocument(
            "the JSON is nested too deeply; a record is a flat object"
        ) from None


def _read(data: bytes, kind: Format, filename: str) -> list[SourceRecord]:
    if kind == "json":
        return read_json(data)
    if kind == "jsonl":
        return read_json_lines(data)
    if kind == "pdf":
        return [read_pdf(data, filename)]
    if kind == "html":
        return [read_html(data, filename)]
    if kind == "markdown":
        return [read_markdown(data, filename)]
    return [read_text(data, filename)]


def sniff(data: bytes, *, filename: str, media_type: str | None = None) -> Format:
    """The format of a file: by its extension, else its media type, else its first bytes.

    Raises UnreadableDocument for unsupported types.
    """
    extension = PurePath(filename.replace("\\", "/")).suffix.lower()
    if extension in _EXTENSIONS:
        return _EXTENSIONS[extension]
    media = (media_type or "").partition(";")[0].strip().lower()
    if media in _MEDIA_TYPES:
        return _MEDIA_TYPES[media]
    head = data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if is_pdf(data):
        return "pdf"
    if head.startswith((b"<!doctype html", b"<html")):
        return "html"
    if not extension and media in _ANY_MEDIA_TYPE and b"\x00" not in head:
        return "text"
    what = extension if extension else (media or "this kind of file")
    raise UnreadableDocument(
        f"{what[:40]} is not supported; {_advice(data, extension)}give text, Markdown, HTML, PDF, "
        "JSON or JSON Lines"
    )


def _advice(data: bytes, extension: str) -> str:
    """What to do with a file of a known kind that is not read, by its first bytes or its name."""
    head = data[:2048].lstrip(b"\xef\xbb\xbf \t\r\n")
    if head.startswith(b"{\\rtf") or extension in (".rtf", ".doc", ".docx", ".odt", ".pages"):
        return "save it as PDF or text in your word processor: "
    if b"urn:hl7-org:v3" in head or extension in (".ccd", ".ccda", ".cda"):
        return "it is a C-CDA document: open it with its style sheet and save the page as HTML, "
    if extension in (".xls", ".xlsx", ".ods", ".csv", ".tsv"):
        return "save each sheet as text, one row a line: "
    if extension in (".ppt", ".pptx", ".odp", ".epub"):
        return "save it as PDF: "
    if extension in (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".heic", ".gif"):
        return "it is a picture: run OCR on it and save what it reads, "
    return ""
