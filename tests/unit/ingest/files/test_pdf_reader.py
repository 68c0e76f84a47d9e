"""PDF files: the text layer, and nothing that could stall or flood a worker."""

import io
import logging
import zipfile
import zlib
from pathlib import Path

import pytest

from tests.grid import grid
from workers.file_formats import UnreadableDocument, pdf, read

DOCUMENTS = Path(__file__).parents[3] / "fixtures" / "documents"


def _pdf(*pages: bytes, title: bytes = b"", packed: bool = False) -> bytes:
    """A minimal PDF of these content streams."""
    kids = b" ".join(b"%d 0 R" % (5 + 2 * index) for index in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(pages), kids),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Title (%s) >>" % title,
    ]
    for index, content in enumerate(pages):
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % (6 + 2 * index)
        )
        body = zlib.compress(content, 9) if packed else content
        packing = b"/Filter /FlateDecode" if packed else b""
        objects.append(b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(body), packing, body))
    out = io.BytesIO()
    out.write(b"%PDF-1.4\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    table = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.write(b"".join(b"%010d 00000 n \n" % place for place in places))
    out.write(
        b"trailer << /Size %d /Root 1 0 R /Info 4 0 R >>\nstartxref\n%d\n%%%%EOF\n"
        % (len(objects) + 1, table)
    )
    return out.getvalue()


def _page(*lines: bytes) -> bytes:
    return b"BT /F1 12 Tf 72 720 Td 14 TL " + b" ".join(b"(%s) Tj T*" % x for x in lines) + b" ET"


def _why(data: bytes, filename: str = "a.pdf") -> str:
    with pytest.raises(UnreadableDocument) as caught:
        read(data, filename=filename)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_text_is_kept_as_extracted_and_pages_are_parted() -> None:
    (record,) = read((DOCUMENTS / "trial.pdf").read_bytes(), filename="trial.pdf")
    assert record.title == "A small trial"
    assert record.text == (
        "Adjuvant treatment was given to 130\npatients. Recurrence was\n"
        "lower in the guided arm.\n\nDiscussion"
    )


@grid(
    ("lines", "text"),
    [
        ((b"recur-", b"rence fell"), "recurrence fell"),
        ((b"T-", b"cell lymphoma"), "T-cell lymphoma"),
        ((b"IL-", b"6 and 10-", b"20 mg"), "IL-6 and 10-20 mg"),
        ((b"well-known words; a well-", b"known fact"), "well-known words; a well-known fact"),
        (
            (b"long term, short term; a long-", b"term fact"),
            "long term, short term; a long-term fact",
        ),
        ((b"a dash -", b"and more"), "a dash -\nand more"),
    ],
)
def test_a_word_parted_at_a_lines_end_is_one_word(lines: tuple[bytes, ...], text: str) -> None:
    (record,) = read(_pdf(_page(*lines)), filename="a.pdf")
    assert record.text == text


def test_raised_and_lowered_signs_stand_where_they_are_read() -> None:
    page = (
        b"BT /F1 12 Tf 72 720 Td (Risk was 12) Tj /F1 7 Tf 5 Ts (3) Tj /F1 12 Tf 0 Ts "
        b"( percent, 10) Tj /F1 7 Tf 5 Ts (-9) Tj /F1 12 Tf 0 Ts (, H) Tj /F1 7 Tf -2 Ts (2) Tj "
        b"/F1 12 Tf 0 Ts (O and CO) Tj /F1 7 Tf -2 Ts (2) Tj ET"
    )
    (record,) = read(_pdf(page), filename="a.pdf")
    assert record.text == "Risk was 12³ percent, 10⁻⁹, H2O and CO2"


def test_what_is_drawn_twice_to_look_bold_is_read_once() -> None:
    page = b"".join(b"BT /F1 12 Tf %d 720 Td (Bold words) Tj ET " % x for x in (72, 72, 73))
    (record,) = read(_pdf(page), filename="a.pdf")
    assert record.text == "Bold words"


def test_a_watermark_across_the_page_is_none_of_its_words() -> None:
    page = b"BT /F1 40 Tf 0.7 0.7 -0.7 0.7 100 100 Tm (DRAFT) Tj ET " + _page(b"Words of it.")
    (record,) = read(_pdf(page), filename="a.pdf")
    assert record.text == "Words of it."


def test_letters_that_are_slanted_are_words_of_the_page() -> None:
    page = (
        b"BT /F1 12 Tf 72 720 Td (Publish) Tj 1 0 0.4 1 118 720 Tm (pre-market) Tj "
        b"1 0 0 1 182 720 Tm ( regulations) Tj ET"
    )
    (record,) = read(_pdf(page), filename="a.pdf")
    assert record.text == "Publish pre-market regulations"


def test_a_page_that_lies_on_its_side_is_read_as_it_is_turned() -> None:
    page = b"BT /F1 12 Tf 0 1 -1 0 300 100 Tm (One line of words) Tj ET "
    page += b"BT /F1 12 Tf 0 1 -1 0 316 100 Tm (and a second) Tj ET"
    (record,) = read(_pdf(page), filename="a.pdf")
    assert record.text == "One line of words\nand a second"


@pytest.mark.parametrize("title", [b"", b"Untitled", b"Microsoft Word - draft.doc", b"draft.indd"])
def test_titles_that_name_a_program_or_file_are_not_taken(title: bytes) -> None:
    (record,) = read(_pdf(_page(b"Words"), title=title), filename="folder/Report 7.pdf")
    assert record.title == "Report 7"


def test_a_pdf_is_known_by_its_content_where_nothing_names_it() -> None:
    (record,) = read(_pdf(_page(b"Words")), filename="upload")
    assert record.text == "Words"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("scanned.pdf", "no text layer"),
        ("encrypted.pdf", "encrypted"),
        ("archive.pdf", "no PDF"),
        ("note.txt", "no PDF"),
    ],
)
def test_what_is_no_readable_pdf_says_what_to_do(name: str, message: str) -> None:
    assert message in _why((DOCUMENTS / name).read_bytes())


def test_a_zip_bomb_named_pdf_is_refused_unopened() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("%PDF-1.4", b"0" * 10_000_000)
    assert "no PDF" in _why(out.getvalue())


def test_a_stream_that_unpacks_to_tens_of_megabytes_is_refused() -> None:
    assert "LimitReachedError" in _why(_pdf(b" " * 50_000_000, packed=True))


def test_a_truncated_pdf_is_refused_quietly(caplog: pytest.LogCaptureFixture) -> None:
    whole = (DOCUMENTS / "trial.pdf").read_bytes()
    with caplog.at_level(logging.DEBUG):
        assert "cannot be read" in _why(whole[:120])
        read(whole.replace(b"startxref\n", b"startxref\n9"), filename="a.pdf")  # pypdf repairs it
    assert caplog.records == []


def test_every_truncation_gives_a_record_or_one_line() -> None:
    whole = (DOCUMENTS / "trial.pdf").read_bytes()
    messages = []
    for length in range(1, len(whole), 13):
        try:
            read(whole[:length], filename="a.pdf")
        except UnreadableDocument as error:
            messages.append(str(error))
    assert messages
    assert all(len(message.splitlines()) == 1 for message in messages)


def test_too_many_pages_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "MAX_PAGES", 1)
    assert "2 pages; the limit is 1" in _why(_pdf(_page(b"a"), _page(b"b")))


def test_too_much_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "MAX_TEXT_CHARS", 10)
    assert "more than 10 characters" in _why(_pdf(_page(b"abcdef"), _page(b"ghijkl")))


def test_reading_ends_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "MAX_SECONDS", -1.0)
    assert "took longer" in _why(_pdf(_page(b"a")))


def test_characters_that_cannot_be_stored_are_marked() -> None:
    (record,) = read(_pdf(_page(rb"a\000b")), filename="a.pdf")
    assert record.text == "a\ufffdb"


def test_a_pdf_with_a_damaged_page_is_refused_and_the_page_named() -> None:
    whole = _pdf(
        _page(b"First."), _page(b"Second, with more words."), _page(b"Third."), packed=True
    )
    stream = zlib.compress(_page(b"Second, with more words."), 9)
    read(whole, filename="a.pdf")
    for kept in (0, len(stream) // 2, len(stream) - 12):
        broken = whole.replace(stream, stream[:kept].ljust(len(stream), b"\xff"))
        assert "page 2 is damaged" in _why(broken)


@pytest.mark.parametrize("kid", [b"99 0 R", b"null", b"(x) ", b"4 0 R"])
def test_a_pdf_that_lists_a_page_it_does_not_hold_is_refused(kid: bytes) -> None:
    whole = _pdf(_page(b"First."), _page(b"Second."), title=b"T")
    lost = whole.replace(b"7 0 R]", kid.ljust(5) + b"]", 1)
    if kid == b"4 0 R":  # a dictionary, and of another kind than a page
        lost = lost.replace(b"<< /Title (T) >>", b"<< /Type /Cat >>", 1)
    read(whole, filename="a.pdf")
    assert "page that it does not hold" in _why(lost)


def test_a_page_tree_of_several_levels_is_read_whole() -> None:
    whole = _pdf(_page(b"First."), _page(b"Second."))
    nested = whole.replace(b"[5 0 R 7 0 R]", b"[<</Type/Pages/Count 1/Kids[5 0 R]>> 7 0 R]", 1)
    (record,) = read(nested, filename="a.pdf")
    assert record.text == "First.\n\nSecond."


def test_a_stream_without_its_checksum_is_whole_all_the_same() -> None:
    whole, stream = _pdf(_page(b"Words."), packed=True), zlib.compress(_page(b"Words."), 9)
    (record,) = read(whole.replace(stream, stream[:-4] + b"\0" * 4), filename="a.pdf")
    assert record.text == "Words."


def test_pages_that_show_something_and_have_no_text_are_told() -> None:
    picture = b"q 100 0 0 100 0 0 cm 0 0 50 50 re f Q"
    (record,) = read(_pdf(_page(b"a"), picture, b"q Q", picture), filename="a.pdf")
    assert record.facts == {"pages_without_text": [2, 4]}
    (plain,) = read(_pdf(_page(b"a")), filename="a.pdf")
    assert plain.facts == {}


def test_a_text_layer_of_characters_that_mean_nothing_is_none() -> None:
    """Fonts that map nothing give codes in place of letters."""
    assert "no text layer" in _why(_pdf(rb"BT /F1 12 Tf 72 720 Td (\001\002\003 \004) Tj ET"))
