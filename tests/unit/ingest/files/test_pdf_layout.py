"""Pages of many layouts, set by the tests: every sentence is read whole."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from hypothesis import example, given
from hypothesis import strategies as st

from tests.grid import grid
from workers.file_formats.flow import whole
from workers.file_formats.glyphs import Glyph, _letter
from workers.file_formats.glyphs import _runs as runs
from workers.file_formats.layout import Laid, Run, laid_out

HEIGHT, WIDE = 12.0, 6.0
"""Of a line, and of a letter, in points."""
SMALL = 8.0


@dataclass
class Setting:
    """How a document is set."""

    columns: int
    letters: int
    lines: int
    by_line: bool
    parts_words: bool
    head: str
    numbers: bool


SETTINGS = st.builds(
    Setting,
    columns=st.sampled_from([1, 2]),
    letters=st.integers(30, 70),
    lines=st.integers(12, 30),
    by_line=st.booleans(),
    parts_words=st.booleans(),
    head=st.sampled_from(["", "A made-up society", "Guideline 2024 | page {}"]),
    numbers=st.booleans(),
)
WORDS = re.findall(
    r"\w+",
    "treatment reduced mortality patients randomly assigned between groups hospital admission "
    "recurrence survival estimates guideline recommended intervention controlled",
)


def _sentences(seed: int) -> list[str]:
    chosen = Random(seed)
    made = [
        " ".join(chosen.choices(WORDS, k=chosen.randint(6, 16))).capitalize() for _ in range(50)
    ]
    return [f"{words}." for words in dict.fromkeys(made)]


def _set(sentences: Sequence[str], how: Setting) -> list[str]:
    """The lines of the text; long words are parted at line ends."""
    lines, line = [], ""
    for word in " ".join(sentences).split():
        if len(line) + len(word) + 1 <= how.letters:
            line = f"{line} {word}".strip()
            continue
        room = how.letters - len(line) - 2
        if how.parts_words and 3 <= room < len(word) - 3:
            lines.append(f"{line} {word[:room]}-".strip())
            line = word[room:]
        else:
            lines.append(line)
            line = word
    return [*lines, line]


def _pages(lines: Sequence[str], how: Setting, notes: bool) -> Iterator[list[Run]]:
    a_page = how.lines * how.columns
    for number, first in enumerate(range(0, len(lines), a_page), 1):
        some = list(lines[first : first + a_page])
        places = [(at % how.lines, at // how.lines) for at in range(len(some))]
        order = sorted(range(len(some)), key=lambda at: places[at] if how.by_line else at)
        page = [_run(how.head.format(number), 0, 60.0)] if how.head else []
        for at in order:
            row, column = places[at]
            left = column * (how.letters * WIDE + 3 * HEIGHT)
            page.append(_run(some[at], row, left))
            if notes and row == 1 and column == 0 and not some[at].endswith("-"):
                mark = Run("7", page[-1].right, page[-1].right + 4, page[-1].baseline + 5, SMALL)
                page.append(mark)
        if notes:
            page.append(Run(f"7 A note on page {'abcdefghij'[number % 10] * 3}.", 0, 90, 30, SMALL))
        if how.numbers:
            page.append(Run(str(number), 200.0, 206.0, 10.0, HEIGHT))
        yield page


def _run(text: str, row: int, left: float) -> Run:
    baseline = 780.0 if left == 60.0 else 740.0 - 15 * row
    return Run(text, left, left + len(text) * WIDE, baseline, HEIGHT)


@given(seed=st.integers(0, 10_000), how=SETTINGS, notes=st.booleans())
def test_every_sentence_is_read_whole(seed: int, how: Setting, notes: bool) -> None:
    sentences = _sentences(seed)
    lines = _set(sentences, how)
    pages = list(_pages(lines, how, notes))
    text = " ".join(whole(laid_out(pages)).replace("⁷", "").split())
    lacking = [sentence for sentence in sentences if sentence not in text]
    assert lacking == []
    if how.head == "A made-up society" and len(pages) > 1:
        assert text.count(how.head) == 1
    if notes:
        assert text.count("A note on page") == len(pages)


def test_cells_of_a_row_stay_together() -> None:
    rows = [("Sodium", "141", "136-145"), ("Creatinine", "1.9", "0.5-1.2"), ("ALT", "64", "10-50")]
    page = [
        Run(
            cell,
            60.0 + 150 * column,
            60.0 + 150 * column + WIDE * len(cell),
            700.0 - 15 * row,
            HEIGHT,
        )
        for row, cells in enumerate(rows)
        for column, cell in enumerate(cells)
    ]
    (laid,) = laid_out([page])
    assert laid.text == "\n".join("  ".join(cells) for cells in rows)


def test_what_stands_on_one_page_only_is_no_head() -> None:
    first = [Run("Dose of aspirin", 60, 150, 740, HEIGHT), Run("75 mg", 60, 90, 725, HEIGHT)]
    second = [Run("Dose of statins", 60, 150, 740, HEIGHT), Run("20 mg", 60, 90, 725, HEIGHT)]
    text = whole(laid_out([first, second]))
    assert text == "Dose of aspirin\n75 mg\n\nDose of statins\n20 mg"


def _glyph(text: str, left: float, width: float = WIDE, height: float = HEIGHT) -> Glyph:
    return Glyph(text, left, left + width, 700.0, height, 0)


@given(number=st.decimals(0, 99_999, places=2).map("{:,}".format), small=st.floats(0.5, HEIGHT))
def test_a_decimal_mark_of_another_size_parts_no_number(number: str, small: float) -> None:
    glyphs = [
        _glyph(one, WIDE * n, height=HEIGHT if one.isdigit() else small)
        for n, one in enumerate(number)
    ]
    assert [run[0] for run in runs(glyphs)] == [number]


@given(inside=st.floats(0.6, 2.0))
def test_a_space_drawn_inside_a_ligature_parts_no_word(inside: float) -> None:
    ligature = [_glyph("f", 6), _glyph("i", 6)]
    behind = [_glyph("n", 12.2), _glyph(" ", 18.2), _glyph("e", 24.4)]
    within = _glyph(" ", 12 - inside * WIDE, WIDE)
    assert [run[0] for run in runs([_glyph("é", 0), *ligature, within, *behind])] == ["éfin e"]


@given(
    gap=st.floats(0.06, 0.3),
    words=st.lists(st.sampled_from(WORDS), min_size=2, max_size=6),
)
def test_a_narrow_space_that_is_not_drawn_parts_words(gap: float, words: list[str]) -> None:
    glyphs, left = [], 0.0
    for word in words:
        glyphs += [_glyph(letter, left + WIDE * n) for n, letter in enumerate(word)]
        left = glyphs[-1].right + gap * HEIGHT
        glyphs.append(_glyph(" ", glyphs[-1].right, 0)._replace(inferred=True))
    assert [run[0].strip() for run in runs(glyphs)] == [" ".join(words)]


@given(gap=st.floats(0, 0.045), letters=st.sampled_from(["POS", "3.", "T-cell", "(10)"]))
def test_no_space_is_put_where_letters_touch(gap: float, letters: str) -> None:
    glyphs = []
    for n, letter in enumerate(letters):
        glyphs.append(_glyph(letter, n * (WIDE + gap * HEIGHT)))
        glyphs.append(_glyph(" ", glyphs[-1].right, 0)._replace(inferred=True))
    assert [run[0].strip() for run in runs(glyphs)] == [letters]


@given(
    accent=st.sampled_from(
        ["\u00a8o:\u00f6", "\u00b4a:\u00e1", "\u02dca:\u00e3", "\u00b8c:\u00e7", "\u02c6e:\u00ea"]
    ),
    before=st.booleans(),
    spaced=st.booleans(),
)
def test_an_accent_drawn_over_a_letter_is_part_of_it(
    accent: str, before: bool, spaced: bool
) -> None:
    (sign, letter), composed = accent.split(":")[0], accent.split(":")[1]
    over = [_glyph(sign, WIDE + 1, WIDE - 2), _glyph(letter, WIDE)]
    space = [_glyph(" ", 2 * WIDE, 0)._replace(inferred=True)] if spaced and not before else []
    glyphs = [_glyph("D", 0), *(over if before else over[::-1]), *space, _glyph("r", 2 * WIDE)]
    read = "".join(run[0] for run in runs(glyphs)).replace(" ", "")
    assert read == f"D{composed}r"


def test_an_accent_beside_a_letter_is_a_sign_of_its_own() -> None:
    glyphs = [_glyph("5", 0), _glyph("\u00b4", WIDE), _glyph("o", 2 * WIDE)]
    assert [run[0] for run in runs(glyphs)] == ["5\u00b4o"]


@given(st.integers(0x1D400, 0x1D433))
def test_a_letter_of_mathematics_is_the_plain_one(code: int) -> None:
    high, low = divmod(code - 0x10000, 0x400)
    assert _letter(0xDC00 + low, 0xD800 + high) in set(map(chr, [*range(65, 91), *range(97, 123)]))
    assert _letter(0xDC00 + low, 0) == chr(0xDC00 + low)


@given(st.integers(0, 0x1F))
def test_a_code_that_means_no_character_is_none(code: int) -> None:
    assert _letter(code, 0) in {"\ufffd", chr(code)}
    assert _letter(code, 0) == "\ufffd" or chr(code).isspace()


def _at(text: str, baseline: float, height: float, left: float = 60.0) -> Run:
    return Run(text, left, left + len(text) * height / 2, baseline, height)


BODY = [
    "Recurrence was lower in the guided arm than in the other",
    "one, and fewer patients were treated.",
]


@given(address=st.floats(6, 12), mark=st.sampled_from("1a*"), text=st.floats(9, 12))
def test_addresses_under_the_authors_are_no_notes(address: float, mark: str, text: float) -> None:
    page = [
        _at("A made-up trial", 740, 18),
        _at("A. Author", 700, 11),
        Run(mark, 110, 114, 704, 7),
        Run(mark, 60, 64, 680 + address / 3, 0.6 * address),
        _at("Department of Medicine, a made-up town", 680, address, 65),
        _at("Abstract", 640, 1.4 * max(text, address)),
        *(_at(line, 620 - 14 * n, max(text, address)) for n, line in enumerate(BODY)),
    ]
    (laid,) = laid_out([page])
    assert laid.notes == []
    assert " ".join(BODY) in " ".join(laid.text.split())
    assert laid.text.index("Department") < laid.text.index("Abstract")


@given(size=st.floats(6, 9), mark=st.sampled_from("17*"))
def test_a_note_at_the_foot_is_outside_the_sentences(size: float, mark: str) -> None:
    page = [
        *(_at(line, 620 - 14 * n, 11) for n, line in enumerate(BODY)),
        Run(mark, 270, 274, 611, 7),
        Run(mark, 60, 64, 90 + size / 3, 0.6 * size),
        _at("Of those who were asked.", 90, size, 65),
    ]
    (laid,) = laid_out([page])
    assert len(laid.notes) == 1
    assert "Of those" not in laid.text


@given(gap=st.floats(60, 500), lines=st.integers(1, 3))
def test_a_note_as_large_as_the_text_is_outside_the_sentences(gap: float, lines: int) -> None:
    page = [
        _at(BODY[0], 620, 11),
        Run("9", 60 + len(BODY[0]) * 5.5, 64 + len(BODY[0]) * 5.5, 625, 7),
        _at("and fewer of them were treated with", 606, 11),
        _at("9 The estimates are based on a sample", 606 - gap, 11),
        *(_at("of those who were asked.", 592 - gap - 14 * n, 11) for n in range(lines - 1)),
    ]
    following = [_at("it than of the others there.", 620, 11)]
    text = whole(laid_out([page, following]))
    assert "were treated with\nit than of the others" in text


def test_a_numbered_heading_low_on_the_page_is_no_note() -> None:
    page = [
        *(_at(line, 620 - 14 * n, 11) for n, line in enumerate(BODY)),
        Run("1", 270, 274, 611, 7),
        _at("1. WHERE IT SPREADS", 150, 11),
        _at("A total of 14 383 persons were told of.", 136, 11),
        _at("1 The roadmap is on the web.", 90, 8),
    ]
    (laid,) = laid_out([page])
    assert laid.notes == ["1 The roadmap is on the web."]
    assert laid.text.endswith("A total of 14 383 persons were told of.")


@given(size=st.floats(6, 9.5), lines=st.integers(1, 6))
def test_what_is_smaller_and_stands_within_a_sentence_is_outside_it(
    size: float, lines: int
) -> None:
    said = "Recurrence was lower in the arm that was guided by it than"
    page = [
        _at("Made-up results", 740, 16),
        *(_at(said, 600 - 14 * n, 11) for n in range(6)),
        *(_at("Received 24 March, revised 20 April", 500 - 9 * n, size) for n in range(lines)),
        *(
            _at("in the arm that was not guided, as was thought before it", 684 - 14 * n, 11, 420)
            for n in range(6)
        ),
    ]
    (laid,) = laid_out([page])
    assert "by it than\nin the arm that was not" in laid.text
    assert "Received" not in laid.text
    assert " ".join(laid.notes).count("Received") == lines


@given(tall=st.floats(1.5, 2.5), sign=st.sampled_from("\u00b1=\u223c\u2212\u2264"))
def test_a_sign_with_a_tall_box_joins_no_lines(tall: float, sign: str) -> None:
    page = [
        Run("The mean age was 16.6 ", 60, 192, 700, 8.4),
        Run(f"{sign} ", 192, 204, 700, 8.4 * tall),
        Run("10.9", 204, 228, 700, 8.4),
        Run("months with age 38.5 ", 60, 186, 689.5, 8.4),
        Run(f"{sign} ", 186, 198, 689.5, 8.4 * tall),
        Run("7.4 and more", 198, 260, 689.5, 8.4),
    ]
    (laid,) = laid_out([page])
    assert (
        laid.text == f"The mean age was 16.6 {sign} 10.9\nmonths with age 38.5 {sign} 7.4 and more"
    )


@given(
    st.sampled_from(
        [
            ("1*", "\u00b9*"),
            ("a,", "\u1d43,"),
            ("1,2\u2020", "\u00b9,\u00b2\u2020"),
            ("b", "\u1d47"),
            ("3", "\u00b3"),
            ("TM", "\u2122"),
            ("SM", "\u2120"),
        ]
    ),
    st.floats(4, 9),
)
def test_marks_raised_behind_a_word_are_raised(mark: tuple[str, str], height: float) -> None:
    written, raised = mark
    page = [Run("Seretny ", 60, 108, 700, 12), Run(written, 109, 116, 705, height)]
    page += [Run(", Currie and others", 116, 230, 700, 12)]
    (laid,) = laid_out([page])
    assert laid.text == f"Seretny{raised}, Currie and others"


def test_the_head_of_the_first_page_that_is_drawn_last_is_read_first() -> None:
    first = [_at(line, 700 - 14 * n, 11) for n, line in enumerate(BODY)]
    first += [_at("A made-up society", 780, 9), _at("Volume 2014, 8 pages", 770, 9)]
    second = [_at("of them in the other arm.", 700, 11), _at("Figure 1. Arms.", 780, 9)]
    one, two = laid_out([first, second])
    assert one.text.index("A made-up society") < one.text.index(BODY[0])
    assert two.text.index("Figure 1") > two.text.index("of them")


@given(
    st.sampled_from(["{} A made-up journal", "A made-up journal {}", "A made-up journal | {} |"])
)
def test_a_running_head_with_its_number_on_either_side_is_none_of_the_text(other: str) -> None:
    forms = ["{} A made-up journal", other]
    pages = [
        [_at(forms[n % 2].format(n + 2), 760, 9), _at(f"Said {word} of it.", 700, 11)]
        for n, word in enumerate(["once", "twice", "thrice", "again"])
    ]
    assert whole(laid_out(pages)).count("journal") == 1


PARTED = "Patients of the guided arm were treated for as long as they wished, and recurrence in"
GOES_ON = "the other arm was seen no more often than it had been in trials of the years before."


@given(
    over=st.booleans(),
    floats=st.lists(
        st.sampled_from(
            ["Figure 1: Arms of the trial.", "A  B", "TABLE 2. Age and sex", "54  61  0.3"]
        ),
        min_size=1,
        max_size=6,
    ),
)
def test_a_figure_between_the_parts_of_a_sentence_stands_behind_it(
    over: bool, floats: list[str]
) -> None:
    floats = ["Fig. 3 Who took part", *floats]
    pages = [Laid(PARTED), Laid("\n\n".join([*floats, GOES_ON]))]
    one = [Laid("\n\n".join([PARTED, *floats, GOES_ON]))]
    assert whole(pages if over else one) == "\n\n".join([f"{PARTED}\n{GOES_ON}", *floats])


@grid(
    ("before", "between", "after"),
    [
        ("Generation of a list of potential core domains", "Table 2 What is asked", GOES_ON),
        (PARTED, "Table 2 What is asked", "age in years  54  61"),
        (
            PARTED,
            "Nothing was known of them before, and so it was asked for in this trial.",
            GOES_ON,
        ),
        (PARTED, "Table 2 What is asked", "mg per day"),
        (f"{PARTED} both.", "Figure 1: Arms", GOES_ON),
        ("Sep Oct Nov Dec Jan Feb Mar", "Figure 1: Rain", GOES_ON),
    ],
)
def test_what_is_no_sentence_around_a_figure_is_not_made_one(
    before: str, between: str, after: str
) -> None:
    text = "\n\n".join([before, between, after])
    assert whole([Laid(text)]) == text


@given(
    before=st.floats(0, 4),
    after=st.floats(0, 4),
    mark=st.sampled_from(["18:\u00b9\u2078", "3:\u00b3", "131:\u00b9\u00b3\u00b9"]),
)
def test_a_raised_number_belongs_to_the_word_that_it_touches(
    before: float, after: float, mark: str
) -> None:
    written, raised = mark.split(":")
    start = 84 + before
    end = start + 4 * len(written)
    page = [Run("and ", 60, 84, 700, 12), Run(written, start, end, 705, 7)]
    page += [Run("F-FDG were seen", end + after, end + after + 90, 700, 12)]
    (laid,) = laid_out([page])
    if before > 1.5 and after < 0.5:
        assert laid.text == f"and {raised}F-FDG were seen"
    if before < 0.5 and after > 2:
        assert laid.text == f"and{raised} F-FDG were seen"


PLACES = st.floats(-100, 900) | st.sampled_from([0.0, 60.0, 61.0, 700.0, 714.0])
ANY_RUN = st.builds(
    Run,
    st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=12)
    | st.sampled_from(["1", "¹", "* Note", "Figure 1: a", "and so on it goes, as was said-"]),
    PLACES,
    PLACES,
    PLACES,
    st.floats(0, 40) | st.sampled_from([0.0, 8.0, 12.0]),
)


HALVES = st.just(0) | st.integers(0xD800, 0xDBFF)


@example([[Run("0", 10.0 * n, 10.0 * n, 0.0, 0.0) for n in range(20)]])
@given(st.lists(st.lists(ANY_RUN, max_size=25), max_size=4))
def test_runs_anywhere_are_put_into_text(pages: list[list[Run]]) -> None:
    laid = laid_out(pages)
    assert len(laid) == len(pages)
    whole(laid)


@given(st.lists(st.tuples(st.integers(0, 0x110000), HALVES), max_size=9))
def test_codes_of_any_kind_are_one_character(codes: list[tuple[int, int]]) -> None:
    assert all(len(_letter(code, half)) == 1 for code, half in codes)


@grid(
    ("last", "first", "parted"),
    [
        ("guided by it. The pathophysiology of", "CIPN is poorly understood, as was so", False),
        ("guided by it, as those of the group of", "(12) others were not in any of these a", False),
        ("guided by it and of the others there.", "CIPN is poorly understood, as was so", True),
        ("Methods and data", "CIPN is poorly understood, as was so", True),
        ("80", "58/46", True),
    ],
)
def test_a_sentence_goes_over_to_the_next_column_whatever_it_goes_on_with(
    last: str, first: str, parted: bool
) -> None:
    lines = [*BODY[:1], last]
    page = [_at(line, 600 - 14 * n, 11) for n, line in enumerate(lines)]
    page += [_at(line, 600 - 14 * n, 11, 420) for n, line in enumerate([first, *BODY[1:]])]
    (laid,) = laid_out([page])
    assert f"{last}{chr(10) * (1 + parted)}{first}" in laid.text
