"""Pages of many layouts, set by the tests: every sentence is read whole."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from workers.file_formats.glyphs import Glyph
from workers.file_formats.glyphs import _runs as runs
from workers.file_formats.layout import Run, laid_out, whole

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
