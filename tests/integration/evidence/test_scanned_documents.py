"""Scans read by the Tesseract that is installed; without one these tests are skipped."""

import ctypes
from io import BytesIO

import pypdfium2 as pdfium  # type: ignore[import-untyped]
import pytest
from PIL import Image, ImageDraw, ImageFont

from tests.unit.extract.made import REPORT
from workers.extract.intake.files import take_in
from workers.extract.intake.ocr import Scanner, available
from workers.extract.intake.refusals import IntakeRefused
from workers.extract.loop.extraction import extract_text

pytestmark = pytest.mark.skipif(
    not available(), reason="Tesseract is not installed (Debian: apt-get install tesseract-ocr)"
)
HEAD, TAIL = REPORT.split("IMMUNO")


def _page(words: str) -> Image.Image:
    page = Image.new("L", (1240, 1754), 255)
    font = ImageFont.load_default(28)
    ImageDraw.Draw(page).multiline_text((80, 80), words, fill=0, font=font)
    return page


def _file(kind: str, *pages: Image.Image) -> bytes:
    out = BytesIO()
    more = {"save_all": True, "append_images": list(pages[1:])} if len(pages) > 1 else {}
    if kind == "PDF":
        more["resolution"] = 150
    pages[0].save(out, kind, **more)
    return out.getvalue()


@pytest.mark.requirement("MV-2.1")
@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "PDF"])
def test_the_fields_of_a_scan_are_extracted(kind: str) -> None:
    found = take_in(_file(kind, _page(REPORT)), filename=f"scan.{kind.lower()}")
    assert (found.origin, found.scanned_pages) == ("scan", 1)
    assert found.ocr_confidence is not None
    assert found.readability.confidence <= found.ocr_confidence
    fields = extract_text(found.text).fields
    assert fields["grade"].value.level == "2"  # type: ignore[union-attr]
    assert {one.value.key[1:4] for one in fields["ihc_markers"].items} >= {
        ("ER", "positive", None), ("HER2", "negative", None),
    }  # fmt: skip


def test_all_pages_are_read_in_their_order() -> None:
    found = take_in(_file("TIFF", _page(HEAD), _page("IMMUNO" + TAIL)), filename="scan.tif")
    assert found.pages == 2
    assert found.text.index("FINAL DIAGNOSIS") < found.text.index("IMMUNOHISTOCHEMISTRY")


def test_a_scanned_page_among_pages_of_text_is_not_left_out() -> None:
    pages = pdfium.PdfDocument(_file("PDF", _page("IMMUNO" + TAIL)))
    written = pages.new_page(595, 842, index=0)
    _write(pages, written, "Invasive ductal carcinoma, Nottingham grade 2.")
    out = BytesIO()
    pages.save(out)
    found = take_in(out.getvalue(), filename="report.pdf")
    assert (found.origin, found.pages, found.scanned_pages) == ("pdf", 2, 1)
    assert found.text.index("Nottingham grade 2") < found.text.index("Ki-67")


def _write(document: pdfium.PdfDocument, page: pdfium.PdfPage, words: str) -> None:
    font = pdfium.raw.FPDFText_LoadStandardFont(document, b"Helvetica")
    text = pdfium.raw.FPDFPageObj_CreateTextObj(document, font, 12.0)
    encoded = (words + "\0").encode("utf-16-le")
    letters = (ctypes.c_ushort * (len(words) + 1)).from_buffer_copy(encoded)
    pdfium.raw.FPDFText_SetText(text, letters)
    pdfium.raw.FPDFPageObj_Transform(text, 1, 0, 0, 1, 72, 700)
    pdfium.raw.FPDFPage_InsertObject(page, text)
    pdfium.raw.FPDFPage_GenerateContent(page)


def test_a_page_that_lies_on_its_side_is_read() -> None:
    found = take_in(_file("PNG", _page(REPORT).rotate(90, expand=True)), filename="scan.png")
    assert "Nottingham grade 2" in found.text


@pytest.mark.requirement("MV-2.1")
def test_a_scan_of_nothing_but_specks_is_not_readable() -> None:
    specks = Image.effect_noise((1240, 1754), 200)
    try:
        found = take_in(_file("PNG", specks), filename="scan.png")
    except IntakeRefused:
        return  # not a single word: refused at once
    assert not found.readability.readable
    assert found.readability.suggestions


def test_reading_ends_when_the_time_is_up() -> None:
    with pytest.raises(IntakeRefused, match="too long"):
        take_in(_file("PNG", _page(REPORT)), filename="a.png", scanner=lambda: Scanner(seconds=0))
