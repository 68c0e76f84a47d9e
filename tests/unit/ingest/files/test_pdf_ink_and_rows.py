"""PDFs as a person sees them: ink that is none of the character a file names, and lines that belong
together or do not. Each kind was seen in files of real makers (docs/sources.md)."""

from collections.abc import Sequence
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.file_formats.flow import whole
from workers.file_formats.glyphs import Glyph, _is_odd, read_as_drawn
from workers.file_formats.layout import Run, laid_out

HEIGHT, WIDE, STEP = 12.0, 6.0, 15.0
"""Of a line, of a letter, and from line to line, in points."""
TEXT_FONT, OTHER_FONT = 1, 2


class Ink(NamedTuple):
    """How wide and high the ink is and how far above the baseline it begins, in heights."""

    wide: float
    high: float
    up: float


TEXT_INK = {
    "i": Ink(0.26, 0.77, 0.0),
    "a": Ink(0.51, 0.57, -0.01),
    "b": Ink(0.5, 0.76, -0.01),
    "m": Ink(0.8, 0.56, 0.0),
    "r": Ink(0.33, 0.56, 0.0),
    "p": Ink(0.5, 0.78, -0.22),
    "*": Ink(0.4, 0.4, 0.3),
    ",": Ink(0.16, 0.28, -0.18),
    ".": Ink(0.14, 0.14, -0.02),
    "\u201d": Ink(0.35, 0.26, 0.4),
    "\u00a2": Ink(0.45, 0.75, -0.1),
}
"""As faces of text have it."""
SIGN_INK = {
    "i": Ink(0.52, 0.54, -0.06),  # ≥
    "a": Ink(0.55, 0.52, -0.01),  # α
    "b": Ink(0.55, 1.0, -0.22),  # β
    "m": Ink(0.55, 0.78, -0.22),  # µ
    "r": Ink(0.5, 0.78, -0.22),  # ρ
    "p": Ink(0.55, 0.54, -0.01),  # π
    "*": Ink(0.57, 0.18, 0.13),  # ~
    ",": Ink(0.57, 0.18, 0.13),  # ~
    ".": Ink(0.74, 0.64, 0.04),  # >
    "\u201d": Ink(0.67, 0.09, 0.32),  # −
    "\u00a2": Ink(0.87, 1.0, -0.15),  # ≥
}
"""As fonts of signs of real makers have it under the same names."""


@pytest.mark.parametrize("text", sorted(TEXT_INK))
@given(scale=st.floats(0.9, 1.1))
def test_ink_tells_a_character_from_a_sign_that_is_called_so(text: str, scale: float) -> None:
    own, sign = TEXT_INK[text], SIGN_INK[text]
    assert not _is_odd(text, own.wide * scale, own.high * scale, own.up * scale, 1.0)
    assert _is_odd(text, sign.wide, sign.high, sign.up, 1.0)


def _glyphs(*said: tuple[str, int, bool]) -> list[Glyph]:
    return [
        Glyph(text, WIDE * at, WIDE * (at + 1), 700, HEIGHT, 0, font=font, is_odd=is_odd)
        for at, (text, font, is_odd) in enumerate(said)
    ]


def _read(glyphs: Sequence[Glyph], slanted: frozenset[int] = frozenset()) -> str:
    return "".join(glyph.text for glyph in read_as_drawn(list(glyphs), slanted))


@given(sign=st.sampled_from(sorted(SIGN_INK)), number=st.integers(0, 9999))
def test_odd_ink_alone_in_its_font_is_no_such_character(sign: str, number: int) -> None:
    digits = [(digit, TEXT_FONT, False) for digit in str(number)]
    odd = _glyphs(("n", TEXT_FONT, False), (sign, OTHER_FONT, True), *digits)
    assert _read(odd) == f"n\ufffd{number}"  # ">20" was ".20"
    plain = [glyph._replace(is_odd=False) for glyph in odd]
    assert _read(plain) == f"n{sign}{number}"


@given(st.sampled_from("abimprs"))
def test_odd_letters_of_a_slanted_font_and_of_words_are_letters(letter: str) -> None:
    alone = _glyphs(("n", TEXT_FONT, False), (letter, OTHER_FONT, True), ("5", TEXT_FONT, False))
    assert _read(alone, frozenset([OTHER_FONT])) == f"n{letter}5"
    word = _glyphs(*((sign, OTHER_FONT, True) for sign in ("o", letter, "o")))
    assert _read(word) == f"o{letter}o"


def _run(
    text: str, row: float, left: float = 60.0, *, height: float = HEIGHT, font: int = 1
) -> Run:
    return Run(text, left, left + len(text) * height / 2, 740 - STEP * row, height, font)


PROSE = (
    "Nothing of it was known before the trial that was done in the hospitals of three towns",
    "and that was ended early as the patients of both of its arms fared so much better in it",
    "than had been hoped for by those who had planned it in the years before it was begun.",
)


@given(st.sampled_from(["\uf0b7", "\uf0a7", "\uf0d8", "\uf02d"]))
def test_a_sign_of_its_own_before_the_words_of_a_line_is_an_items_mark(mark: str) -> None:
    page = [_run(line, row) for row, line in enumerate(PROSE)]
    page += [_run(f"{mark} ", 5), _run("Rest is advised.", 5, 78.0)]
    page += [_run(f"{mark} ", 6), _run("So is sleep.", 6, 78.0)]
    (laid,) = laid_out([page])
    assert laid.text.split("\n\n")[1:] == ["• Rest is advised.", "• So is sleep."]
    (laid,) = laid_out([[_run(f"30{mark}C", 0)]])
    assert laid.text == f"30{mark}C"


@given(letter=st.sampled_from("abgkpstwx"), word=st.sampled_from(["alanine", "blockers", "test"]))
def test_a_hyphen_behind_one_letter_at_a_lines_end_is_its_own(letter: str, word: str) -> None:
    page = [_run(f"{PROSE[0]} {letter}-", 0), _run(f"{word} and {word} of others.", 1)]
    (laid,) = laid_out([page])
    assert f" {letter}-{word} and" in laid.text


@pytest.mark.parametrize(("rows", "joined"), [(1, True), (9, False)])
def test_what_stands_far_below_a_parted_word_is_none_of_it(rows: int, joined: bool) -> None:
    lines = [_run(line, row) for row, line in enumerate(PROSE[:2])]
    page = [*lines, _run("reached in the end by those who were given cortico-", 2)]
    (laid,) = laid_out([[*page, _run("0.5", 2 + rows)]])
    assert ("cortico-0.5" in laid.text) is joined
    (laid,) = laid_out([[*page, _run("steroids and rest.", 2 + rows)]])
    assert "corticosteroids and rest." in laid.text


@given(pages=st.integers(4, 8), first=st.integers(1, 400))
def test_the_number_of_a_page_without_a_head_is_no_text(pages: int, first: int) -> None:
    heads = ["{} The authors", "A made-up treatment {}"]
    made = []
    for at in range(pages):
        page = [_run(f"{line} {'abcdefgh'[at] * 4}", row) for row, line in enumerate(PROSE)]
        if at:
            page.insert(0, _run(heads[at % 2].format(first + at), -3))
        else:
            page.append(_run(str(first), 30, 300.0))
        made.append(page)
    text = laid_out(made)[0].text
    assert str(first) not in text.split()


@given(wider=st.floats(1.2, 1.5), font=st.booleans())
def test_short_paragraphs_that_stand_farther_apart_than_lines_are_paragraphs(
    wider: float, font: bool
) -> None:
    said = ["500 mg twice a day for 5 days", "Otherwise a drug (in pregnancy)", PROSE[0][:50]]
    page = [_run(line, row) for row, line in enumerate(PROSE * 2)]
    row = 8.0
    for line in said * 4:
        page.append(_run(line, row, font=1 + font * (line == said[0])))
        row += wider
    (laid,) = laid_out([page])
    assert laid.text.count("days\n\nOtherwise a drug (in pregnancy)\n\nNothing") == 4
    assert "of three towns\nand that" in laid.text


@given(size=st.sampled_from([16.0, 20.0, 26.0]), leading=st.floats(1.1, 1.3))
def test_a_title_of_some_lines_is_one(size: float, leading: float) -> None:
    title = ["A longitudinal study of the volume", "of matter in patients receiving", "a drug"]
    page = [
        Run(line, 60, 60 + len(line) * size / 2, 780 - n * leading * size, size, 2)
        for n, line in enumerate(title)
    ]
    page += [_run(line, 8 + row) for row, line in enumerate(PROSE * 4)]
    (laid,) = laid_out([page])
    assert laid.text.startswith("\n".join(title) + "\n\n")


def test_a_mark_whose_box_is_as_high_as_the_text_leads_its_note() -> None:
    page = [_run(line, row) for row, line in enumerate(PROSE)]
    note = Run("Transformed for the analysis.", 64.0, 160.0, 680.0, 8.0, 1)
    page += [Run("\u2217", 60.0, 63.0, 683.0, 10.4, 2), note]
    (laid,) = laid_out([page])
    assert "\u2217 Transformed for the analysis." in "\n".join([laid.text, *laid.notes])


@given(last=st.sampled_from(["# P < 0.05 of both.", "and so it was."]), drawn_last=st.booleans())
def test_the_last_line_of_a_caption_over_both_columns_stays_with_it(
    last: str, drawn_last: bool
) -> None:
    caption = [_run(f"Figure 2. {PROSE[0]} {PROSE[0][:60]}", 0), _run(last, 1)]
    right = 60.0 + 100 * WIDE
    left_column = [_run(line, 4 + n) for n, line in enumerate(PROSE * 3)]
    right_column = [_run(line.capitalize(), 4 + n, right) for n, line in enumerate(PROSE * 3)]
    page = [*right_column, *left_column]
    page = [*page, *caption] if drawn_last else [*caption, *page]
    text = whole(laid_out([page]))
    assert f"{caption[0].text}\n{last}" in text


@pytest.mark.parametrize(
    ("letter", "ink"), [("B", Ink(0.35, 0.76, -0.17)), ("$", Ink(0.74, 0.57, 0.08))]
)
def test_a_capital_below_the_line_and_a_wide_currency_are_signs(letter: str, ink: Ink) -> None:
    assert _is_odd(letter, ink.wide, ink.high, ink.up, 1.0)  # β, and ≥
    assert not _is_odd(letter, 0.45, 0.7, 0.0, 1.0)


@given(first=st.integers(10_000, 400_000), pages=st.integers(4, 7))
def test_pages_may_have_numbers_of_six_digits(first: int, pages: int) -> None:
    made = [
        [_run(f"A made-up register {first + at}", -3)]
        + [_run(f"{line} {'abcdefgh'[at] * 4}", row) for row, line in enumerate(PROSE)]
        for at in range(pages)
    ]
    assert whole(laid_out(made)).count("made-up register") == 1


@given(
    st.sampled_from(
        [
            ("M–", "30, West Building of the town"),
            ("https://", "www.example.org/a"),
            ("someone@", "example.org"),
            ("FAA–2020–", "0686 and the others of it"),
        ]
    )
)
def test_a_number_or_an_address_goes_on_where_its_line_ends_within_it(
    parts: tuple[str, str],
) -> None:
    head, tail = parts
    (laid,) = laid_out([[_run(f"{PROSE[0][:60]} {head}", 0), _run(tail, 1), *_prose(2)]])
    assert f" {head}{tail}" in laid.text


def _prose(first: float) -> list[Run]:
    return [_run(line, first + row) for row, line in enumerate(PROSE)]


def test_a_parted_name_with_a_digit_is_one_word() -> None:
    page = [_run("The AaegOBP1 of it and AaegOBP1 again were not found, nor was the other one", 0)]
    page += [
        _run("that had been sought in all of the towns of the three before it was ended: Aae-", 1)
    ]
    page += [_run("gOBP1 was known by then to those who had planned it in the years before.", 2)]
    (laid,) = laid_out([page])
    assert "AaegOBP1 was known" in laid.text


@given(wide=st.booleans(), letter=st.sampled_from(["a", "b", "1", "2"]))
def test_a_mark_that_begins_the_line_below_is_none_of_the_line_above(
    wide: bool, letter: str
) -> None:
    above = Run("increased." if not wide else PROSE[0], 60, 560 if wide else 110, 700, 10.0, 1)
    mark = Run(letter, 60, 63, 693.5, 6.5, 1)
    below = Run("Infants were seen elsewhere.", 63.5, 200, 689.6, 10.0, 1)
    (laid,) = laid_out([[above, mark, below]])
    assert f"{above.text}\n" in laid.text
    assert laid.text.endswith(" Infants were seen elsewhere.")


def test_a_raised_sign_behind_signs_is_their_mark() -> None:
    cells = [Run("Year", 60, 90, 700, 9.0), Run("\u2217\u2217\u2217", 163, 183, 700, 3.7)]
    cells += [Run("$", 183.3, 186, 703.9, 5.9), Run("NS", 275, 290, 700, 9.0)]
    (laid,) = laid_out([cells])
    assert laid.text == "Year  \u2217\u2217\u2217$  NS"


def test_smaller_words_between_rows_of_a_table_are_text() -> None:
    page = [
        *_prose(0),
        _run("6.2.4 Medicines of leprosy and the forms in which they are to be had", 4),
    ]
    page += [
        _run(f"{line} {line[:20]}", 5 + row * 0.8, height=10.0) for row, line in enumerate(PROSE)
    ]
    for row, name in enumerate(["clofazimine", "dapsone"]):
        page += [
            _run(name, 8 + row),
            _run("Tablet: 25 mg; 50 mg; 100 mg, and others", 8 + row, 300.0),
        ]
    (laid,) = laid_out([page])
    assert laid.notes == []


def test_small_capitals_that_are_longest_in_their_line_part_no_sentence() -> None:
    page = [*_prose(0), _run("should be sent to the person who is named in the ", 3)]
    page += [Run("FOR FURTHER INFORMATION", 360, 540, 740 - 3 * STEP, 9.0, 2)]
    page += [
        Run("CONTACT ", 60, 110, 740 - 4 * STEP, 9.0, 2),
        _run("section of it, and to none.", 4, 112.0),
    ]
    (laid,) = laid_out([page])
    assert "INFORMATION\nCONTACT section" in laid.text


@given(words=st.integers(5, 9))
def test_a_heading_as_wide_as_its_column_is_no_part_of_what_is_set_in_below_it(words: int) -> None:
    heading = ("Confidential information of businesses and of others " * 4)[: len(PROSE[0])]
    page = [*_prose(0), _run(heading, 3, font=2), _run(PROSE[0][: 8 * words], 4, 75.0), *_prose(5)]
    (laid,) = laid_out([page])
    assert f"{heading}\n\nNothing" in laid.text


def test_a_caption_that_is_drawn_before_the_rest_of_a_sentence_is_none_of_it() -> None:
    caption = [_run("Figure 3. The doses of it, and what was seen of them in the end.", 20, font=2)]
    page = [*caption, *[_run(line.lower(), row) for row, line in enumerate(PROSE)]]
    _, laid = laid_out([[_run("A page before it.", 0)], page])
    assert "in the end.\n\nnothing of it" in laid.text


@given(st.sampled_from([("4A+,11A-", "⁴ᴬ⁺,¹¹ᴬ⁻"), ("2D", "²ᴰ"), ("1B-,3B+, 5B-", "¹ᴮ⁻,³ᴮ⁺, ⁵ᴮ⁻")]))
def test_raised_references_with_their_grade_are_raised(mark: tuple[str, str]) -> None:
    page = [_run("Doxycycline is to be given for 7 days.", 0)]
    page.append(Run(mark[0], page[0].right, page[0].right + 20, page[0].baseline + 4, 8.0))
    page += _prose(1.25)
    (laid,) = laid_out([page])
    assert f"7 days.{mark[1]}\n" in laid.text  # was "7 days.4A+,11A-Nothing of it"


@given(
    st.sampled_from(
        [["1.1: ", "1.2: ", "1.3: "], ["a) ", "b) ", "c) "], ["(9) ", "(10) "], ["1. ", "2. "]]
    )
)
def test_the_items_of_a_list_are_apart_whatever_their_width(marks: list[str]) -> None:
    items = [f"{mark}{PROSE[0][: 84 - len(mark)]}".strip() for mark in marks]
    lines = [line for item in items for line in (item, "that go on with it")]
    (laid,) = laid_out([[_run(line, row) for row, line in enumerate(lines)]])
    assert laid.text.split("\n\n") == [f"{item}\nthat go on with it" for item in items]


def test_a_number_that_is_no_next_item_parts_nothing() -> None:
    lines = ["1. Nothing of it was known before the trial that was done in the hospitals of about"]
    lines += [
        "12. They were sent home, and all of the others were seen again in the years after it"
    ]
    (laid,) = laid_out([[_run(line, row) for row, line in enumerate(lines)]])
    assert laid.text == "\n".join(lines)


@given(st.sampled_from(["*", "**", "\u2020", "\u00a7"]))
def test_a_line_that_begins_with_a_notes_mark_begins_a_note(mark: str) -> None:
    (laid,) = laid_out([[*_prose(0), _run(f"{mark} In addition, 7 others were seen.", 3)]])
    assert f"\n\n{mark} In addition" in "\n\n".join([laid.text, *laid.notes])
