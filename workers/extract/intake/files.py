"""A clinical document's text from a file: text, Markdown, HTML, PDF, or a scan through Tesseract.

Whatever the way, the text is checked for readability before anything is extracted; how sure
Tesseract is counts there. A page that is a picture is read as one or refused, never left out.
"""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from clinical_text.invisible import visible
from workers.extract.intake import ocr
from workers.extract.intake.readability import Readability, assess
from workers.extract.intake.refusals import IntakeRefused
from workers.file_formats import MAX_FILE_BYTES, UnreadableDocument, read, sniff
from workers.file_formats.pdf import Page, is_pdf, joined_pages, pdf_pages
from workers.file_formats.plain import decode

Origin = Literal["text", "markdown", "html", "pdf", "scan"]

LEAST_LETTERS = 20
"""Letters below which a page of a PDF is taken for a picture with a stamp on it (ours)."""
_PICTURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"II*\x00", b"MM\x00*")


class Intake(NamedTuple):
    """A document's text, where it came from, and how well it can be read."""

    text: str
    origin: Origin
    pages: int
    scanned_pages: int
    ocr_confidence: float | None
    """How sure Tesseract is of the worst page, 0-1; None where no page was scanned."""
    readability: Readability


def take_in(
    data: bytes,
    *,
    filename: str,
    media_type: str | None = None,
    scanner: Callable[[], ocr.Scanner] = ocr.Scanner,
) -> Intake:
    """The text of a file, and whether it can be read.

    A text that is too bad is returned with `readability.readable` false: the caller says so.

    Args:
        filename: only its extension counts.
        scanner: makes what reads pictures, once one has to be read.

    Raises:
        IntakeRefused: it cannot be taken in; the message says what to do.
    """
    if not data.strip():
        raise IntakeRefused("the file is empty; nothing to read")
    if len(data) > MAX_FILE_BYTES:
        raise IntakeRefused(
            f"the file has {len(data):,} bytes; the limit is {MAX_FILE_BYTES:,}: split it"
        )
    try:
        if is_picture(data):
            found, pages = scanner().picture(data)
            return _intake(found.text, "scan", pages, pages, found.confidence)
        if is_pdf(data):
            return _pdf(data, scanner)
        return _written(data, filename, media_type)
    except UnreadableDocument as error:
        raise IntakeRefused(str(error)) from error


def is_picture(data: bytes) -> bool:
    """Whether the bytes begin as PNG, JPEG or TIFF do."""
    return data.startswith(_PICTURES)


def _written(data: bytes, filename: str, media_type: str | None) -> Intake:
    kind = sniff(data, filename=filename, media_type=media_type)
    if kind == "text":
        # places count in the text as it was given: nothing but invisible characters goes
        return _intake(visible(decode(data)), "text", 1, 0, None)
    if kind in ("markdown", "html"):
        text = "\n\n".join(one.text for one in read(data, filename=filename, media_type=media_type))
        return _intake(text, "markdown" if kind == "markdown" else "html", 1, 0, None)
    raise IntakeRefused("give one clinical document: text, Markdown, HTML, PDF, PNG, JPEG or TIFF")


def _pdf(data: bytes, scanner: Callable[[], ocr.Scanner]) -> Intake:
    layers = pdf_pages(data)
    pages = [one.text for one in layers]
    scanned = [number for number, one in enumerate(layers) if _is_picture_page(one)]
    if not scanned:
        return _intake(joined_pages(pages), "pdf", len(pages), 0, None)
    if len(scanned) > ocr.MOST_PAGES:
        raise IntakeRefused(
            f"the PDF has {len(scanned)} scanned pages; the limit is {ocr.MOST_PAGES}: split it"
        )
    eyes = scanner()
    sure: list[float] = []
    for number in scanned:
        found = eyes.pdf_page(data, number)
        if len(found.text.strip()) > len(pages[number].strip()):
            pages[number] = found.text
            sure.append(found.confidence)
    if not any(text.strip() for text in pages):
        raise IntakeRefused("there are no words in the PDF, nor in its pictures")
    origin: Origin = "scan" if len(scanned) == len(pages) else "pdf"
    text = joined_pages(pages)
    return _intake(text, origin, len(pages), len(sure), min(sure, default=None))


def _is_picture_page(page: Page) -> bool:
    return page.drawn and sum(map(str.isalpha, page.text)) < LEAST_LETTERS


def _intake(
    text: str, origin: Origin, pages: int, scanned: int, confidence: float | None
) -> Intake:
    seen = visible(text)
    if not seen.strip():
        raise IntakeRefused("there are no words in the document")
    return Intake(seen, origin, pages, scanned, confidence, assess(seen, ocr_confidence=confidence))


__all__: Sequence[str] = ("Intake", "IntakeRefused", "is_picture", "take_in")
