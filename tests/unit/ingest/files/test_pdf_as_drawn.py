"""PDFs as a person sees them: what nobody sees is not read, what is drawn is, and a sign that a
file calls a letter is no letter. Each kind was seen in files of real makers (docs/sources.md)."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.ingest.files.test_pdf_reader import _pdf
from workers.file_formats import read
from workers.file_formats.glyphs import Glyph, accented, read_as_drawn, with_marks
from workers.file_formats.layout import Run, laid_out

HEIGHT, WIDE = 12.0, 6.0
"""Of a line, and of a letter, in points."""
TEXT_FONT, OTHER_FONT = 1, 2

WORDS = st.sampled_from(
    ["treatment", "reduced", "mortality", "patients", "admission", "survival", "estimates"]
)


def _text(*streams: bytes) -> str:
    (record,) = read(_pdf(*streams), filename="a.pdf")
    return record.text


def _line(words: bytes, x: int, y: int, paint: bytes = b"0 g 0 Tr") -> bytes:
    return b"BT %s /F1 12 Tf %d %d Td (%s) Tj ET " % (paint, x, y, words)


def _run(text: str, left: float, baseline: float, font: int = TEXT_FONT) -> Run:
    return Run(text, left, left + len(text) * WIDE, baseline, HEIGHT, font)


SEEN = _line(b"Rest is advised.", 72, 720)
BOX = b"0.1 g 60 680 300 30 re f "
PICTURE = b"q 300 0 0 30 60 680 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \x80 EI Q "


@pytest.mark.parametrize(
    ("under", "paint", "is_seen"),
    [
        (b"", b"1 g 0 Tr", False),
        (b"", b"1 1 1 rg 0 Tr", False),
        (b"", b"0 g 3 Tr", False),
        (b"", b"1 g 1 0 0 RG 2 Tr", True),
        (b"", b"0.9 g 0 Tr", True),
        (b"1 g 60 680 300 30 re f ", b"1 g 0 Tr", False),
        (BOX, b"1 g 0 Tr", True),
        (PICTURE, b"1 g 0 Tr", True),
        (BOX, b"0 g 3 Tr", False),
        (PICTURE, b"0 g 3 Tr", True),
    ],
    ids=[
        "white on paper",
        "white by three colours",
        "without paint",
        "white with a red edge",
        "light grey",
        "white on a white box",
        "white on a dark box",
        "white on a picture",
        "without paint on a box",
        "the words of a scan",
    ],
)
def test_letters_that_nobody_sees_are_not_read(under: bytes, paint: bytes, is_seen: bool) -> None:
    text = _text(SEEN + under + _line(b"Double the dose.", 72, 690, paint))
    assert "Rest is advised." in text
    assert ("Double the dose." in text) is is_seen


@pytest.mark.parametrize(("size", "away"), [(2, 4), (3, 9), (5, 14)])
def test_marks_that_are_drawn_before_the_items_of_a_list_are_read(size: int, away: int) -> None:
    items = [["stomach", "ulcers"], ["taken", "a", "diuretic"], ["asthma"]]
    page = _line(b"Tell your doctor about:", 72, 740)
    for row, words in enumerate(items):
        y = 720 - 16 * row
        page += _line(" ".join(words).encode(), 100, y)
        page += b"0 g %d %d %d %d re f " % (100 - away - size, y + 2, size, size)
    lines = _text(page).splitlines()
    assert lines[-len(items) :] == [f"• {' '.join(words)}" for words in items]


def test_a_shape_that_stands_before_nothing_is_no_mark() -> None:
    runs = [["Sodium", 100.0, 136.0, 700.0, HEIGHT, TEXT_FONT]]
    far, large, behind = (20.0, 24.0, 704.0), (92.0, 96.0, 720.0), (140.0, 144.0, 704.0)
    assert with_marks([list(runs[0])], [far, large, behind]) == runs


def _glyphs(*said: tuple[str, int] | tuple[str, int, bool]) -> list[Glyph]:
    """Glyphs beside each other, each with its font and whether its ink is wider than high."""
    return [
        Glyph(text, 50 + WIDE * at, 50 + WIDE * (at + 1), 700, HEIGHT, 0, False, font, any(wide))
        for at, (text, font, *wide) in enumerate(said)
    ]


def _read(glyphs: Sequence[Glyph], slanted: frozenset[int] = frozenset()) -> str:
    return "".join(glyph.text for glyph in read_as_drawn(list(glyphs), slanted))


@given(sign=st.sampled_from("0123456789"), number=st.integers(0, 9999))
def test_a_sign_that_the_file_calls_a_digit_is_none(sign: str, number: int) -> None:
    digits = [(digit, TEXT_FONT) for digit in str(number)]
    glyphs = _glyphs(("N", TEXT_FONT), (sign, OTHER_FONT, True), *digits)
    assert _read(glyphs) == f"N\ufffd{number}"  # "N=12" was "N512"
    high = _glyphs(("N", TEXT_FONT), (sign, OTHER_FONT, False), *digits)
    assert _read(high) == f"N{sign}{number}"  # a digit in bold


@given(sign=st.sampled_from("vmD"), times=st.integers(3, 6))
def test_a_letter_of_a_font_of_signs_before_a_number_is_none(sign: str, times: int) -> None:
    one = (("P", TEXT_FONT), (sign, OTHER_FONT), ("0", TEXT_FONT), ("5", TEXT_FONT))
    glyphs = _glyphs(*one * times)
    assert _read(glyphs) == "P\ufffd05" * times  # "P<0.001" was "Pv0.001"
    assert _read(glyphs, frozenset([OTHER_FONT])) == f"P{sign}05" * times  # a variable
    assert _read(_glyphs(*one)) == f"P{sign}05"  # once only


@given(times=st.integers(3, 6))
def test_a_letter_of_a_font_of_signs_within_a_word_is_none(times: int) -> None:
    one = (("1", TEXT_FONT), ("m", OTHER_FONT), ("g", TEXT_FONT))
    assert _read(_glyphs(*one * times)) == "1\ufffdg" * times  # "1 µg" was "1 mg"


@given(times=st.integers(3, 6), down=st.floats(1, 5))
def test_lowered_and_raised_letters_and_digits_are_read(times: int, down: float) -> None:
    glyphs = [
        glyph._replace(baseline=glyph.baseline - down) if glyph.font == OTHER_FONT else glyph
        for glyph in _glyphs(*(("O", TEXT_FONT), ("2", OTHER_FONT), ("4", TEXT_FONT)) * times)
    ]
    assert _read(glyphs) == "O24" * times


def test_words_of_another_font_are_words() -> None:
    said = [*((letter, OTHER_FONT) for letter in "vm"), ("5", TEXT_FONT), ("v", OTHER_FONT)] * 3
    assert _read(_glyphs(*said)) == "vm5v" * 3


@given(unread=st.integers(2, 20), read_as=st.integers(4, 20))
def test_a_font_without_characters_says_nothing(unread: int, read_as: int) -> None:
    glyphs = _glyphs(*[("\ufffd", OTHER_FONT)] * unread, *[("ÅÈ"[0], OTHER_FONT)] * read_as)
    is_dumb = unread + read_as >= 8 and unread > 0.15 * (unread + read_as)
    assert ("Å" in _read(glyphs)) is not is_dumb


@given(st.sampled_from([("o", "\u00a8", "ö"), ("E", "\u00b4", "É"), ("a", "\u02d8", "ă")]))
def test_an_accent_that_is_drawn_apart_from_its_letter_is_over_it(
    letter: tuple[str, str, str],
) -> None:
    base, accent, one = letter
    glyphs = _glyphs(*((sign, TEXT_FONT) for sign in f"x{base}yz"))
    over = glyphs[1]._replace(text=accent)
    assert "".join(glyph.text for glyph in accented([*glyphs, over])) == f"x{one}yz"
    assert "".join(glyph.text for glyph in accented([over, *glyphs])) == f"x{one}yz"
    beside = over._replace(left=500, right=506)
    assert "".join(glyph.text for glyph in accented([*glyphs, beside])) == f"x{base}yz{accent}"


PROSE = (
    "The terminal half-life of the drug after a single dose is about a week and a half or so",
    "however the effective half-life ranges from twenty to sixty hours in most of the patients",
    "and the clearance is half that of the other one as the volumes are of the same size.",
)


@given(heading=st.lists(WORDS, min_size=1, max_size=3), above=st.booleans())
def test_a_heading_is_no_part_of_the_sentence_below_it(heading: list[str], above: bool) -> None:
    title = " ".join(heading).capitalize()
    lines = [(title, OTHER_FONT), *((line, TEXT_FONT) for line in PROSE)]
    if above:
        lines = [(line, TEXT_FONT) for line in PROSE] + lines
    page = [_run(text, 60, 740 - 15 * row, font) for row, (text, font) in enumerate(lines)]
    (laid,) = laid_out([page])
    assert f"{title}\n\nThe terminal" in laid.text
    assert "or so\nhowever" in laid.text


@given(short=st.integers(1, 12))
def test_a_line_that_ends_early_within_a_sentence_ends_none(short: int) -> None:
    early = " ".join(PROSE[0].split()[:short])
    page = [_run(text, 60, 740 - 15 * row) for row, text in enumerate([early, *PROSE[1:]])]
    (laid,) = laid_out([page])
    assert "\n\n" not in laid.text


def test_items_whose_marks_are_not_read_end_where_their_lines_end() -> None:
    items = ("Warfarin can cause bleeding. (5.1)", "Watch the INR of all patients. (2.1)", PROSE[0])
    page = [_run(text, 60, 740 - 15 * row) for row, text in enumerate(items)]
    (laid,) = laid_out([page])
    assert laid.text.split("\n\n") == list(items)


@given(top=st.integers(0, 4), head=st.sampled_from([(), ("Safety Issues", "Drug News, No. 4")]))
def test_a_column_that_is_drawn_before_the_one_to_its_left_is_read_after_it(
    top: int, head: tuple[str, ...]
) -> None:
    """Also where a head that goes over both columns is drawn first."""
    left = [f"{'abcdefghij'[row]} the left column says what came first of all" for row in range(8)]
    right = [f"{'klmnopqrst'[row]} the right column says what came after it" for row in range(8)]
    drawn = [_run(text, left, 740) for text, left in zip(head, (40, 330), strict=False)]
    drawn += [_run(text, 330, 700 - 15 * (row + top)) for row, text in enumerate(right)]
    drawn += [_run(text, 40, 700 - 15 * row) for row, text in enumerate(left)]
    (laid,) = laid_out([drawn])
    found = [line[0] for line in laid.text.splitlines() if line and line[0].islower()]
    assert found == list("abcdefghklmnopqr")


@given(first=st.integers(1, 999), second=st.integers(1, 999))
def test_a_number_whose_dash_ends_a_line_is_one(first: int, second: int) -> None:
    lines = [f"The size ranged in all of the patients from {first}\u2013", f"{second} mm at most."]
    (laid,) = laid_out([[_run(text, 60, 740 - 15 * row) for row, text in enumerate(lines)]])
    assert f"{first}\u2013{second} mm" in laid.text


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (("See https://www.example.org/", "a_long/path for more."), "org/a_long/path for"),
        (("See https://www.example.org/x.", "Write to us."), "org/x.\n\nWrite"),
        (("(https://www.example.org).", "Pure cultures grew."), ").\n\nPure"),
    ],
)
def test_an_address_goes_on_where_its_line_ends_within_it(
    lines: tuple[str, str], text: str
) -> None:
    page = [_run(line, 60, 740 - 15 * row) for row, line in enumerate([*lines, PROSE[0]])]
    (laid,) = laid_out([page])
    assert text in laid.text


@given(tall=st.floats(0.7, 1.15), number=st.integers(1, 999))
def test_a_raised_number_whose_box_is_as_high_as_the_text_is_raised(
    tall: float, number: int
) -> None:
    base = _run("We used it in JabRef", 60, 700)
    mark = Run(str(number), base.right, base.right + 9, 704.5, HEIGHT * tall, OTHER_FONT)
    rest = _run("and elsewhere.", mark.right + 4, 700)
    (laid,) = laid_out([[base, mark, rest]])
    raised = str(number).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    assert laid.text == f"We used it in JabRef{raised} and elsewhere."


def test_a_smaller_line_below_is_no_mark_of_the_line_above() -> None:
    page = [_run("Pierre Dutot", 200, 645), Run("ID-IMAG", 150, 190, 637, 9.5, OTHER_FONT)]
    (laid,) = laid_out([page])
    assert "Dutot\n" in laid.text


def test_a_number_at_the_foot_of_most_pages_is_no_text() -> None:
    pages = [
        [
            *(
                _run(f"{line} {'abcdefgh'[number]}", 60, 740 - 15 * row)
                for row, line in enumerate(PROSE)
            ),
            _run("58", 500, 40),
        ]
        for number in range(6)
    ]
    assert all("58" not in page.text for page in laid_out(pages))


def test_a_tables_note_is_none_of_its_rows_and_a_reference_goes_on() -> None:
    rows = [("Age", "68"), ("Other", "11")]
    page = [
        run
        for row, (name, value) in enumerate(rows)
        for run in (_run(name, 60, 740 - 15 * row), _run(value, 400, 740 - 15 * row))
    ]
    page.append(_run("Median or number where appropriate.", 60, 710))
    page += [_run("[Cop05]", 60, 680), _run("Computer models of creativity. MIT Press", 160, 680)]
    page.append(_run("Cambridge, 2005.", 160, 665))
    (laid,) = laid_out([page])
    assert "Other  11\n\nMedian" in laid.text
    assert "MIT Press\nCambridge" in laid.text


@pytest.mark.parametrize("count", [2, 3, 6])
def test_a_head_that_a_gap_parts_from_the_text_of_two_pages_is_no_text(count: int) -> None:
    pages = [
        [
            *([_run("A made-up society", 60, 790)] if number < 2 else []),
            *(
                _run(f"{line} {'abcdefgh'[number]}", 60, 700 - 15 * row)
                for row, line in enumerate(PROSE)
            ),
        ]
        for number in range(count)
    ]
    assert all("society" not in page.text for page in laid_out(pages)[1:])


@pytest.mark.parametrize(("count", "having"), [(2, 2), (3, 2), (5, 3), (3, 1), (5, 2)])
def test_a_head_that_no_gap_parts_from_the_text_is_none_where_most_pages_have_it(
    count: int, having: int
) -> None:
    pages = [
        [
            *([_run("A made-up society", 60, 715)] if number < having else []),
            *(
                _run(f"{line} {'abcdefgh'[number]}", 60, 700 - 15 * row)
                for row, line in enumerate(PROSE)
            ),
        ]
        for number in range(count)
    ]
    texts = [page.text for page in laid_out(pages)]
    of_most = having > count / 2
    assert ["society" in text for text in texts[:having]] == [True] + [not of_most] * (having - 1)


def test_a_raised_number_of_five_digits_is_no_mark() -> None:
    base = _run("Trial number", 60, 700)
    mark = Run("12345", base.right, base.right + 20, 704.5, HEIGHT, OTHER_FONT)
    (laid,) = laid_out([[base, mark]])
    assert "12345" in laid.text
    mark = Run("1234", base.right, base.right + 16, 704.5, HEIGHT, OTHER_FONT)
    (laid,) = laid_out([[base, mark]])
    assert "¹²³⁴" in laid.text
