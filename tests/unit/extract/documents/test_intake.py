"""How a clinical document's text gets in, and what is refused with what advice."""

import struct
import zlib
from io import BytesIO

import pytesseract  # type: ignore[import-untyped]
import pytest
from PIL import Image, ImageDraw

from tests.unit.extract.made import REPORT
from workers.extract.intake.files import take_in
from workers.extract.intake.ocr import MOST_PAGES, MOST_PIXELS, Read, _lines, frames, joined
from workers.extract.intake.readability import assess
from workers.extract.intake.refusals import IntakeRefused


def _png_that_says(width: int, height: int) -> bytes:
    """A PNG whose head gives a size that its few bytes do not hold."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0"))


def _picture(kind: str = "PNG") -> bytes:
    picture = Image.new("L", (60, 40), 255)
    ImageDraw.Draw(picture).line((0, 0, 60, 40))
    out = BytesIO()
    picture.save(out, kind)
    return out.getvalue()


@pytest.mark.requirement("MV-2.1")
@pytest.mark.parametrize(
    ("name", "data", "origin"),
    [
        ("a.txt", REPORT, "text"),
        ("a.md", "# Pathology report\n\n" + REPORT, "markdown"),
        ("a.html", f"<html><body><pre>{REPORT}</pre></body></html>", "html"),
    ],
)
def test_written_documents_are_taken_in(name: str, data: str, origin: str) -> None:
    found = take_in(data.encode(), filename=name)
    assert (found.origin, found.scanned_pages, found.ocr_confidence) == (origin, 0, None)
    assert "Invasive ductal carcinoma, Nottingham grade 2." in found.text
    assert found.readability.readable


def test_a_plain_text_keeps_its_places() -> None:
    assert take_in(REPORT.encode(), filename="a.txt").text == REPORT


@pytest.mark.requirement("MV-2.1")
def test_a_scan_without_a_program_to_read_it_is_refused_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pytesseract.pytesseract, "tesseract_cmd", "no-such-program")
    for kind in ("PNG", "JPEG", "TIFF", "PDF"):
        with pytest.raises(IntakeRefused, match="apt-get install tesseract-ocr"):
            take_in(_picture(kind), filename="scan")


@pytest.mark.parametrize(
    ("data", "name", "advice"),
    [
        (b"", "a.txt", "empty"),
        (b" \n", "a.txt", "empty"),
        (b"\xff\xfe\x00", "a.txt", "UTF-16"),
        (b'{"text": "x"}', "a.json", "one clinical document"),
        (b"PK\x03\x04", "a.docx", "not supported"),
        (b"%PDF-1.7\nnothing", "a.pdf", "cannot be read"),
    ],
)
def test_what_cannot_be_taken_in_is_refused_in_one_line(
    data: bytes, name: str, advice: str
) -> None:
    with pytest.raises(IntakeRefused, match=advice) as refused:
        take_in(data, filename=name)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(("width", "height"), [(100_000, 100_000), (MOST_PIXELS, 2)])
def test_a_picture_that_says_it_is_huge_is_refused_before_it_is_drawn(
    width: int, height: int
) -> None:
    with pytest.raises(IntakeRefused, match="pixels"):
        list(frames(_png_that_says(width, height)))


def test_a_picture_of_too_many_pages_is_refused() -> None:
    pages = [Image.new("1", (4, 4), number % 2) for number in range(MOST_PAGES + 1)]
    out = BytesIO()
    pages[0].save(out, "TIFF", save_all=True, append_images=pages[1:])
    with pytest.raises(IntakeRefused, match="pages"):
        list(frames(out.getvalue()))


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\nrubbish", _picture("JPEG")[:300], b"GIF89a"])
def test_a_broken_picture_is_refused(data: bytes) -> None:
    with pytest.raises(IntakeRefused, match="cannot be read"):
        list(frames(data))


def test_pages_are_as_sure_as_the_worst() -> None:
    assert joined([Read("a", 0.9), Read("b", 0.4), Read("", 0.0)]) == Read("a\n\nb", 0.4)


@pytest.mark.requirement("MV-7.1")
@pytest.mark.parametrize(("confidence", "readable"), [(0.95, True), (0.5, True), (0.49, False)])
def test_how_sure_the_reading_of_a_scan_is_bounds_readability(
    confidence: float, readable: bool
) -> None:
    found = assess(REPORT, ocr_confidence=confidence)
    assert (found.confidence, found.readable) == (confidence, readable)
    assert bool(found.issues) == bool(found.suggestions) == (confidence < 0.8)


def test_words_of_a_scan_are_in_their_lines_and_paragraphs() -> None:
    words = (("Mean", 1, 1, 1), ("values", 1, 1, 1), ("rose", 1, 1, 2), ("", 1, 1, 2),
             ("Then", 1, 2, 1), ("fell", 2, 1, 1), ("again", 2, 1, 1))  # fmt: skip
    columns = ("text", "block_num", "par_num", "line_num")
    found = {name: [word[n] for word in words] for n, name in enumerate(columns)}
    read = _lines({**found, "conf": [90.0] * len(words)})
    assert read == Read("Mean values\nrose\n\nThen\n\nfell again", 0.9)
