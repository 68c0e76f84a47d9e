"""PDF files with a text layer: checked by pypdf under tight limits, read by pdfium in a process of
its own (`glyphs`), and put into reading order (`layout`, ADR 0040).

The files are untrusted: every limit of pypdf's Configuration that bounds work or memory is set well
below its default, the number of pages is limited, and so are time and memory of the other process.
"""

import json
import logging
import re
import subprocess
import sys
import time
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from pypdf import PageObject, PdfReader, apply_configuration
from pypdf.generic import ArrayObject, DictionaryObject, StreamObject

from store.documents.records import MAX_TEXT_CHARS, SourceRecord
from workers.file_formats.errors import UnreadableDocument
from workers.file_formats.flow import whole
from workers.file_formats.layout import Laid, Run, laid_out
from workers.file_formats.plain import clean_title, file_title, record

MAX_PAGES = 2_000
MAX_SECONDS = 60.0
_MEBIBYTE = 1024 * 1024
_LIMITS: dict[str, Any] = {
    "disable_legacy_handling": True,
    "zlib_maximum_output_length": 16 * _MEBIBYTE,
    "lzw_maximum_output_length": 16 * _MEBIBYTE,
    "run_length_maximum_output_length": 16 * _MEBIBYTE,
    "brotli_maximum_output_length": 16 * _MEBIBYTE,
    "array_based_stream_maximum_output_length": 16 * _MEBIBYTE,
    "stream_decoding_work_maximum_length": 64 * _MEBIBYTE,
    "stream_parsing_work_maximum_count": 1_000_000,
    "xform_maximum_invocations_per_extraction": 500,
    "page_tree_maximum_entries": 20_000,
    "xmp_maximum_input_length": _MEBIBYTE,
}
_EMPTY_CONTENT = 16  # bytes, such as "q Q"
_HEADER = b"%PDF-"
_HEADER_WITHIN = 1024  # bytes; ISO 32000 readers accept the header there
_UNREAD = re.compile("\ufffd{2,}")
_NO_TITLE = re.compile(r"untitled\Z|microsoft word\b", re.IGNORECASE)
_OF_A_FILE = (".doc", ".docx", ".indd", ".pdf", ".tex", ".qxd")

# pypdf logs its repairs with excerpts of the document, and document texts are never logged.
logging.getLogger("pypdf").setLevel(logging.CRITICAL + 1)


class _TookTooLong(Exception):
    """The deadline passed."""


class Page(NamedTuple):
    """A page: its text layer ("" if there is none), and whether anything is drawn on it."""

    text: str
    drawn: bool


def read_pdf(data: bytes, filename: str) -> SourceRecord:
    """A PDF's text layer as a person reads it, page after page, notes last (`layout`).

    Pages are separated by a blank line, or by a line end where a sentence runs on. Characters that
    the file's fonts do not map (NUL, lone surrogates) become U+FFFD. The title comes from the
    metadata, else from the file name. The facts list drawn pages without text, such as scans.
    Raises UnreadableDocument for anything but an unencrypted PDF with text of at most MAX_PAGES
    pages and MAX_TEXT_CHARS characters that is read within MAX_SECONDS, and for a damaged page.
    """
    title, pages, drawn = _read(data)
    text = whole(pages)
    if len(text) > MAX_TEXT_CHARS:
        raise UnreadableDocument(
            f"the PDF holds more than {MAX_TEXT_CHARS:,} characters of text: split it"
        )
    silent = [n for n, page in enumerate(pages, 1) if drawn[n - 1] and not _says(page.text)]
    if not _says(text):
        raise UnreadableDocument(
            "the PDF has no text layer (scanned pages?); run OCR on it and try again"
        )
    read = record(title or file_title(filename), text)
    return read.model_copy(update={"facts": {"pages_without_text": silent}}) if silent else read


def pdf_pages(data: bytes) -> list[Page]:
    """Every page. Raises as `read_pdf` does, but not for a PDF without text."""
    _, pages, drawn = _read(data)
    texts = ("\n\n".join(filter(None, [page.text, *page.notes])) for page in pages)
    return [Page(text, is_drawn) for text, is_drawn in zip(texts, drawn, strict=True)]


def _read(data: bytes) -> tuple[str, list[Laid], list[bool]]:
    if not is_pdf(data):
        raise UnreadableDocument("the file is no PDF (no %PDF- header); check its name and content")
    try:
        with apply_configuration(None, **_LIMITS):
            return _extract(data)
    except UnreadableDocument:
        raise
    except _TookTooLong as error:
        raise UnreadableDocument(
            f"the PDF took longer than {MAX_SECONDS:.0f} s to read; split it or save it as text"
        ) from error
    except Exception as error:
        # on malformed files pypdf may raise any built-in exception
        raise UnreadableDocument(
            f"the PDF cannot be read ({type(error).__name__}); save it anew or as text"
        ) from error


def is_pdf(data: bytes) -> bool:
    """Whether the bytes begin as a PDF does; False for archives that hold a PDF."""
    return not data.startswith(b"PK") and _HEADER in data[:_HEADER_WITHIN]


def _extract(data: bytes) -> tuple[str, list[Laid], list[bool]]:
    deadline = time.monotonic() + MAX_SECONDS
    reader = PdfReader(BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        raise UnreadableDocument("the PDF is encrypted; save a copy without a password")
    count = len(reader.pages)
    if count > MAX_PAGES:
        raise UnreadableDocument(
            f"the PDF has {count:,} pages; the limit is {MAX_PAGES:,}: split it"
        )

    if _listed_pages(reader) > count:
        raise UnreadableDocument(
            "the PDF lists a page that it does not hold; save the PDF anew or as text"
        )

    drawn: list[bool] = []
    for page in reader.pages:
        if time.monotonic() > deadline:
            raise _TookTooLong
        if _is_damaged(page):
            raise UnreadableDocument(
                f"page {len(drawn) + 1} is damaged; save the PDF anew or as text"
            )
        drawn.append(_is_drawn(page))
    pages = laid_out(_runs(data, deadline - time.monotonic(), count))
    return _title(reader), pages, drawn


def _says(text: str) -> bool:
    """Whether there is a letter or digit: fonts without a mapping give codes and none."""
    return any(map(str.isalnum, text))


def _runs(data: bytes, seconds: float, pages: int) -> list[list[Run]]:
    """The runs of glyphs of each page, read by `glyphs`. Raises _TookTooLong, and
    UnreadableDocument if pdfium cannot read the file or sees other pages than pypdf."""
    # By its path and isolated: importing this package would take longer than reading most files.
    command = [sys.executable, "-I", str(Path(__file__).with_name("glyphs.py"))]
    try:
        done = subprocess.run(  # noqa: S603  our own module
            command, input=data, capture_output=True, timeout=max(seconds, 0.1), check=False
        )
    except subprocess.TimeoutExpired:
        raise _TookTooLong from None
    runs = [
        [Run(_UNREAD.sub("\ufffd", _clean(text)), *place) for text, *place in json.loads(line)]
        for line in done.stdout.splitlines()
    ]
    if done.returncode or len(runs) != pages:
        raise UnreadableDocument("the PDF cannot be read (pdfium); save it anew or as text")
    return runs


def _listed_pages(reader: PdfReader) -> int:
    """How many pages the page tree lists. pypdf skips entries that lead to no page.

    pypdf has already walked the tree, so it is no deeper and no larger than `_LIMITS`.
    """
    listed, seen = 0, set()
    left: list[Any] = [reader.root_object["/Pages"]]
    while left:
        node = left.pop().get_object()
        kids = node.get("/Kids") if isinstance(node, DictionaryObject) else None
        if kids is None:
            listed += 1
        elif id(node) not in seen:
            seen.add(id(node))
            left += kids.get_object()
    return listed


def _is_damaged(page: PageObject) -> bool:
    """Whether a stream of the page is truncated, which pypdf ignores: its words would be lost.

    Only streams with a single compression filter can be checked. A missing checksum is accepted.
    """
    contents = page.get("/Contents")
    contents = contents.get_object() if contents is not None else None
    parts = contents if isinstance(contents, ArrayObject) else [contents]
    for part in parts:
        stream = part.get_object() if part is not None else None
        if not isinstance(stream, StreamObject) or stream.get("/Filter") != "/FlateDecode":
            continue
        unpacker = zlib.decompressobj(-zlib.MAX_WBITS)  # starts after the two header bytes
        try:
            unpacker.decompress(stream._data[2:], _LIMITS["zlib_maximum_output_length"])
        except zlib.error:
            return True
        if not unpacker.eof and not unpacker.unconsumed_tail:
            return True
    return False


def _is_drawn(page: PageObject) -> bool:
    """Whether the page's content does more than save and restore its state."""
    contents = page.get_contents()
    return contents is not None and len(contents.get_data().strip()) > _EMPTY_CONTENT


def _title(reader: PdfReader) -> str:
    metadata = reader.metadata
    title = clean_title(_clean(str(metadata.title or ""))) if metadata else ""
    return "" if _NO_TITLE.match(title) or title.lower().endswith(_OF_A_FILE) else title


def _clean(text: str) -> str:
    text = text.replace("\x00", "\ufffd").replace("\r\n", "\n").replace("\r", "\n")
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def joined_pages(pages: list[str]) -> str:
    """The pages, separated by a blank line, or by a line end where a sentence runs on."""
    return whole(Laid(page) for page in pages)
