"""Puts the runs of glyphs of a PDF (`glyphs`) into the text that a person reads. Pure.

Marks above the line are such (12³, not 123); heads and feet that come again on the next page, page
numbers and notes below the text stand outside its sentences; columns are read one after the other;
a word that a line's end parts is one word. All sizes are shares of a line's height, and ours.
"""

import re
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from statistics import median
from typing import NamedTuple


class Run(NamedTuple):
    """Glyphs that follow each other on a line in one size, with their place in points."""

    text: str
    left: float
    right: float
    baseline: float
    height: float
    font: int = 0


SMALL = 0.88
"""A run lower than this share of its line's height may be a raised or lowered mark."""
MARK_BACK, LONGEST_MARK = 2.5, 3
"""Words begin at most so far before the end of the line whose mark they are, in heights; marks of
so few letters may be drawn anywhere on it."""
COLUMN_GAP = 2.2
"""A gap as wide as this parts cells of a table, or columns."""
LONGEST_LINE = 4_000
"""Characters; what is longer is cut, to stay linear."""
MOST_HEADS = 40
"""Lines of the head of a first page."""
MOST_NOTES = 8
"""Columns of a page that have notes."""
MOST_MARKED = 100
"""Lines of a page that are tried as the first of its notes; each is compared with all others."""
LEAST_HEIGHT = 0.01
"""Points; a font of a hostile file may have no height."""
SMALL_NOTE = 0.93
"""Notes are lower than this share of the text's height, as a rule."""
FEW_LINES = 4
"""Of a note that is as large as the text."""
LARGER = 1.08
"""A line higher than this share of a note's height is none of the note."""
LEAST_ROWS = 5
"""Fewer rows tell no columns."""
PROSE_WIDTH = 12.0
"""Columns of prose are as wide as this, in heights; cells of tables seldom are."""
EDGE_GAP = 1.25
"""Heads and feet stand farther from the text than this share of the usual distance of its lines."""
CELL_WIDTH = 5.0
"""A line narrower than this, in heights, that ends a column is a cell, no part of a sentence."""
LEADING = 1.4
"""Lines of a paragraph are no farther apart, in heights, where it goes over both columns."""
NEAR = 4
"""So many lines before and after tell how wide a column is."""
LEAST_BLOCK, MOST_BLOCKS = 4, 40
"""The fewest lines of a block that is read before another one because it stands to its left, and
the most such blocks of a page that are compared."""
PARAGRAPH_GAP, WIDER = 1.55, 1.12
"""Lines farther apart than this share of the usual distance are of two paragraphs; than the other
share of the distance within paragraphs, where the first word would have had a place above."""

_RAISED = str.maketrans(
    "0123456789+-−–=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVW",
    "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂ",
)
_RAISABLE = re.compile(
    r"[\d+−–=(),.\s*\u2217†‡§-]{1,20}|[a-z](?:,[a-z]){0,5},?[*\u2217†‡§]?"
    r"|(?:,?\s?\d{1,2}[A-Z]?[+-]?){1,9},?"  # references with their grade: "4A+,11A-"
)
_TRADE_MARKS = {"TM": "\u2122", "SM": "\u2120"}
"""Which Unicode has as raised letters (compatibility mappings of U+2120 and U+2122)."""
_SIGNS = re.compile(r"\s?[^\w\s()\[\]{}]{1,3}\s?")
"""A mark of signs, of whatever height."""
_LIGATURES = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "ft", "ﬆ": "st", "\u00ad": "-"}
)
_OWN_SIGN = re.compile(r"\A[\ue000-\uf8ff](?=\s|\Z)")
"""A sign before a line's words that its font alone knows: the mark of an item in Word's files."""
_NUMBER = re.compile(r"(?<![\w.,/-])\d{1,6}(?![\w,/-]|\.\d)", re.ASCII)
_PAGE = re.compile(r"\W{0,5}page\s\d{1,4}(?:\s(?:of|/)\s\d{1,4})?\W{0,5}\Z", re.IGNORECASE)
_NOTE = re.compile(
    r"(?P<mark>[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}|[ᵃ-ᶻ]|\d{1,3}|[a-z]|[*\u2217†‡§]{1,3})[\s.)]?"
    r"(?=\s?[\u201c\u2018(\[]?[^\W\d_])"
)
_PLAIN = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_RAISED_MARK = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}|[ᵃ-ᶻ]")
_GOES_ON_WITHIN = re.compile(r"[A-Z\d]\u2013\Z|https?://(?:[^\s()]{0,100}[\w/][/._])?\Z|[^\s@]@\Z")
"""A number with a dash, or an address, that a line's end parts: "1.5–2.5", "AD 2018–23–51"."""
_WITHIN = re.compile(r"[a-z0-9]")
_ITEM = re.compile(r"\(?((?:\d{1,2}\.){0,4})(\d{1,2}|[a-z])[.:)]\s")
_STARRED = re.compile(r"[*\u2217†‡§]{1,3}\s?[^\W\d_]")
_ENDED = re.compile(
    r"[.!?:][\"'\u2019\u201d)\]]{0,3}(?:\s?[\[(][^\[\]()]{1,40}[\])])?[⁰¹²³⁴⁵⁶⁷⁸⁹ᵃ-ᶻ⁻,*\u2217†‡§]{0,12}\Z"
)
"""A sentence's end, with a reference behind it, as in "bleeding. (5.1)"."""
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_PARTED = re.compile(r"(?P<before>[^\W_]-)?(?P<word>[^\W_]{1,60})-\Z")
_GOES_ON = re.compile(r"(?P<word>[^\W\d_][^\W_]*)(?P<rest>\S*)")


@dataclass
class Line:
    """A line of a page, or a part of one that a wide gap parts from the rest."""

    text: str
    left: float
    right: float
    baseline: float
    height: float
    longest: int = 0
    """Letters and digits of the run that gives its height: the longest, as signs and single letters
    of other fonts may have boxes twice as high. 0: it has only signs so far."""
    font: int = 0
    """The font of that run."""
    sizes: tuple[float, float] = (0.0, 0.0)
    """Heights of its lowest and highest runs of words."""
    cell: float | None = None
    """Where the last cell begins, if it is cells of a table beside each other."""
    mark: int | None = None
    """Where a raised mark at its end begins that stands apart from the word before it."""

    def beside(self, other: "Line") -> bool:
        """Whether both stand on one baseline."""
        return abs(self.baseline - other.baseline) < 0.25 * max(self.height, other.height)


@dataclass
class Laid:
    """A page as it is read: its text, and the notes below it."""

    text: str
    notes: list[str] = field(default_factory=list)


def laid_out(pages: Sequence[Sequence[Run]]) -> list[Laid]:
    """The text of each page, without what comes again on others; words parted between lines are
    joined."""
    drawn = [list(_lines(runs)) for runs in pages]
    lines = _ordered([_head_first(lines) for lines in drawn[:1]] + drawn[1:])
    words = _words(lines)
    furniture = _furniture(lines)
    laid: list[Laid] = []
    heads: list[list[str]] = []
    for number, page in enumerate(lines):
        again = {id(line) for line in page if (number, id(line)) in furniture}
        body = [line for line in page if id(line) not in again]
        notes = _notes(body)
        of_notes = {id(line) for line in notes}
        body = [line for line in body if id(line) not in of_notes]
        notes += _interrupting(body)
        of_notes = {id(line) for line in notes}
        body = [line for line in body if id(line) not in of_notes]
        heads.append([line.text for line in page if furniture.get((number, id(line)))])
        found = _joined(notes, words).split("\n\n") if notes else []
        laid.append(Laid(_joined(body, words), found))
    for one, following in pairwise(laid):
        _keep_word_whole(one, following, words)
    for page_head, page_laid in zip(heads, laid, strict=True):
        page_laid.text = "\n\n".join(filter(None, [*page_head, page_laid.text]))
    return laid


def _keep_word_whole(page: Laid, following: Laid, words: Counter[str]) -> None:
    """Put a word that goes over to the next page onto the page on which it begins."""
    parted, goes_on = _PARTED.search(page.text[-80:]), _GOES_ON.match(following.text)
    if parted and goes_on:
        compound = parted["before"] is not None
        keep = _keeps_hyphen(parted["word"], goes_on["word"], words, compound=compound)
        page.text = f"{page.text if keep else page.text[:-1]}{goes_on[0]}"
        following.text = following.text[goes_on.end() :].lstrip(" ")


def _words(pages: Iterable[Iterable[Line]]) -> Counter[str]:
    """The words of a document and the parts of its compounds, but not what a line's end parts."""
    words: Counter[str] = Counter()
    for page in pages:
        goes_on = False
        for line in page:
            found = _WORD.findall(line.text.casefold())
            words.update(found[goes_on : -1 if line.text.rstrip().endswith("-") else None])
            words.update(
                part for word in found[goes_on:-1] if "-" in word for part in word.split("-")
            )
            goes_on = line.text.rstrip().endswith("-")
    return words


def _lines(runs: Iterable[Run]) -> Iterator[Line]:
    line: Line | None = None
    drawn: deque[Run] = deque(maxlen=4)
    for run in runs:
        if any(_same(run, other) for other in drawn):
            continue  # drawn twice, to look bold
        drawn.append(run)
        run = run._replace(height=max(run.height, LEAST_HEIGHT))
        text, left, right, baseline, height, font = run
        text = text.translate(_LIGATURES)
        if line is None or len(line.text) > LONGEST_LINE:
            if line is not None:
                yield line
            line = _begun(run, text)
        elif (mark := _as_mark(line, run)) is not None:
            raised = baseline - line.baseline > 0.12 * line.height
            word = line.text.rstrip() if raised else line.text
            is_apart = raised and word != line.text and left - line.right > 0.12 * line.height
            line.mark = len(word) if is_apart else None
            line.text = word + mark + (" " if text.endswith(" ") else "")
            line.right = max(line.right, right)
        elif _leads(line, run):
            text = f"{_raised(line.text)} {text}"
            line = Line(text, line.left, right, baseline, height, _solid(text), font)
        elif _on_line(line, run):
            gap = left - line.right > 0.15 * height and not line.text.endswith(" ")
            if line.mark is not None and text[0].isalpha() and left - line.right < 0.08 * height:
                line.text = f"{line.text[: line.mark]} {line.text[line.mark :]}"  # and ¹⁸F-FDG
            line.mark = None
            line.text += f" {text}" if gap else text
            line.right = max(line.right, right)
            if (solid := _solid(text)) > LONGEST_MARK - 1:
                line.sizes = min(height, line.sizes[0] or height), max(height, line.sizes[1])
            if solid > line.longest:
                line.height, line.longest, line.font = height, solid, font
        else:
            yield line
            line = _begun(run, text)
    if line is not None:
        yield line


def _begun(run: Run, text: str) -> Line:
    """A line that begins with the run."""
    _, left, right, baseline, height, font = run
    text = _OWN_SIGN.sub("\u2022", text)
    sizes = (height, height) if _solid(text) > LONGEST_MARK - 1 else (0.0, 0.0)
    return Line(text, left, right, baseline, height, _solid(text), font, sizes)


def _solid(text: str) -> int:
    """How many letters and digits a text has."""
    return sum(map(str.isalnum, text))


def _same(run: Run, other: Run) -> bool:
    near = 0.25 * run.height
    return (
        run.text.strip() == other.text.strip()
        and abs(run.left - other.left) < near
        and abs(run.baseline - other.baseline) < near
    )


def _as_mark(line: Line, run: Run) -> str | None:
    """The run as a raised or lowered mark of the line; None if it is none."""
    text, left, _, baseline, height, _ = run
    up, solid = baseline - line.baseline, _solid(text) > 0
    if up < 0 and left < line.left + 0.5 * line.height:
        return None  # it begins the line below
    of_line = line.height if line.longest else max(line.height, height)  # of signs it may be ink
    # fonts of marks may have boxes as high as those of the text
    is_number = text.strip().isdecimal() and len(text) < 5 and 0.25 * line.height < up
    is_small = height < SMALL * line.height or (
        is_number and abs(left - line.right) < 0.3 * line.height and height < 1.2 * line.height
    )
    is_mark = (
        (line.longest > 0 or (up > 0 and not solid))
        and (is_small or (not solid and _SIGNS.fullmatch(text) is not None))
        and (len(text.strip()) <= LONGEST_MARK or left > line.right - MARK_BACK * line.height)
        and (0.08 if solid else 0.2) * of_line < abs(up) < 0.75 * of_line
        and left - line.right < COLUMN_GAP * line.height
    )
    if not is_mark:
        return None
    return _raised(text) if up > 0 else text.strip()


def _raised(text: str) -> str:
    text = text.strip()
    if text in _TRADE_MARKS:
        return _TRADE_MARKS[text]
    return text.translate(_RAISED) if _RAISABLE.fullmatch(text) else text


def _leads(line: Line, run: Run) -> bool:
    """Whether the line so far is a raised mark before the run: "⁹ The estimates …"."""
    text, left, _, baseline, height, _ = run
    return (
        len(line.text.strip()) <= 3
        and (line.height < SMALL * height or (not line.longest and _solid(text) > LONGEST_MARK))
        and 0.12 * height < line.baseline - baseline < 0.75 * height
        and -0.2 * height < left - line.right < height
    )


def _on_line(line: Line, run: Run) -> bool:
    _, left, _, baseline, height, _ = run
    return (
        abs(baseline - line.baseline) < 0.25 * max(height, line.height)
        and left - line.right < COLUMN_GAP * height
    )


def _head_first(lines: list[Line]) -> list[Line]:
    """The lines of the first page as they are drawn, but those first that are drawn last and stand
    above all others, a head. On other pages so may figures, which would part a sentence there."""
    for heads in range(max(1, len(lines) - MOST_HEADS), len(lines)):
        top = max(line.baseline for line in lines[:heads])
        if all(line.baseline > top for line in lines[heads:]):
            return [*lines[heads:], *lines[:heads]]
    return lines


def _ordered(pages: Sequence[list[Line]]) -> list[list[Line]]:
    """The lines of each page in the order in which they are read: as they are drawn, but columns
    one after the other where they were drawn line by line; cells of a row are one line."""
    beside = [[(a, b) for a, b in pairwise(lines) if a.beside(b)] for lines in pages]
    gutters = [_gutter(pairs) for pairs in beside]
    known = [gutter for gutter in gutters if gutter is not None]
    usual = median(known) if known else None
    return [
        _by_columns(lines, gutter if gutter is not None else usual)
        if gutter is not None or _parts(usual, pairs)
        else _left_first(list(_rows(lines)))
        for lines, pairs, gutter in zip(pages, beside, gutters, strict=True)
    ]


def _by_columns(lines: Sequence[Line], gutter: float | None) -> list[Line]:
    assert gutter is not None, "a page is put into columns where it has a gutter"
    ordered: list[Line] = []
    columns: tuple[list[Line], list[Line]] = ([], [])
    over = _over_both(lines, gutter)
    for line in lines:
        if id(line) in over:  # it parts what is above
            ordered += [*columns[0], *columns[1], line]
            columns = ([], [])
        else:
            columns[line.left >= gutter].append(line)
    return [*ordered, *columns[0], *columns[1]]


def _over_both(lines: Sequence[Line], gutter: float) -> set[int]:
    """The lines that go over both columns, and the last one of their paragraph, a short one."""
    over: set[int] = set()
    before: Line | None = None
    for line in lines:
        ends = before is not None and (
            abs(line.left - before.left) < 0.5 * line.height
            and abs(line.height - before.height) < 0.05 * line.height
            and 0 < before.baseline - line.baseline < LEADING * line.height
        )
        is_over = line.left < gutter < line.right
        over |= {id(line)} if is_over or ends else set()
        before = line if is_over and line.right - gutter > COLUMN_GAP * line.height else None
    return over


def _left_first(lines: list[Line]) -> list[Line]:
    """The lines as they are drawn; but where a column of prose is drawn before the one to its left,
    the left one first, between the lines that go over both."""
    gutter = _gutter_drawn_back(lines)
    if gutter is None:
        return lines
    over = _over_both(lines, gutter)
    heights = sorted(-line.baseline for line in lines if id(line) in over)
    return sorted(
        lines,
        key=lambda line: (
            bisect_left(heights, -line.baseline),
            2 if id(line) in over else line.left >= gutter,
        ),
    )


def _gutter_drawn_back(lines: Sequence[Line]) -> float | None:
    """Where the first column of prose begins that is drawn before one to its left and beside it."""
    prose: list[list[Line]] = []
    block: list[Line] = []
    for line in lines:
        if block and not (line.baseline < block[-1].baseline and _overlap(line, block[-1])):
            prose += [block] if _is_column(block) else []
            block = []
        block.append(line)
    prose += [block] if _is_column(block) else []
    sides = [(block, *_sides(block)) for block in prose[:MOST_BLOCKS]]
    for (one, left, end, is_bare), (other, start, right, other_bare) in combinations(sides, 2):
        if not (is_bare and other_bare) and not 0.8 < (end - left) / (right - start) < 1.25:
            continue  # a box beside the text
        low, high = (
            max(one[-1].baseline, other[-1].baseline),
            min(one[0].baseline, other[0].baseline),
        )
        if right <= left and high - low > LEAST_BLOCK * one[0].height / 2:
            return (left + right) / 2
    return None


def _sides(block: Sequence[Line]) -> tuple[float, float, bool]:
    """Where a block begins and ends, but for a head or foot that was drawn with it and goes over
    more; whether it has none."""
    most = 1.5 * median(line.right - line.left for line in block)
    own = [line for line in block if line.right - line.left <= most]
    return min(line.left for line in own), max(line.right for line in own), len(own) == len(block)


def _is_column(block: Sequence[Line]) -> bool:
    """Whether lines below each other are prose."""
    wide = [line.right - line.left > PROSE_WIDTH * line.height for line in block]
    return len(block) >= LEAST_BLOCK and sum(wide) > len(block) / 2


def _parts(gutter: float | None, pairs: Sequence[tuple[Line, Line]]) -> bool:
    """Whether the gutter of other pages parts the lines of this one, which are too few to tell."""
    return (
        gutter is not None
        and bool(pairs)
        and all(one.right < gutter + 1 and gutter - 1 < other.left for one, other in pairs)
    )


def _gutter(pairs: Sequence[tuple[Line, Line]]) -> float | None:
    """Where two columns of prose that are drawn line by line part; None if there are none."""
    gaps = [(one.right, other.left) for one, other in pairs if one.right < other.left]
    if len(gaps) < LEAST_ROWS or len(gaps) < 0.7 * len(pairs):
        return None
    widths = sorted(
        min(one.right - one.left, other.right - other.left) / other.height for one, other in pairs
    )
    width = widths[3 * len(widths) // 4]  # most lines of a narrow column end before its edge
    left, right = max(gap[0] for gap in gaps), min(gap[1] for gap in gaps)
    return (left + right) / 2 if width > PROSE_WIDTH and left < right else None


def _rows(lines: Iterable[Line]) -> Iterator[Line]:
    row: Line | None = None
    for line in lines:
        if row is not None and row.beside(line) and line.left >= row.right:
            row.text = f"{row.text.rstrip()}  {line.text}"
            row.right, row.height, row.cell = line.right, max(row.height, line.height), line.left
            continue
        if row is not None:
            yield row
        row = line
    if row is not None:
        yield row


def _furniture(pages: Sequence[Sequence[Line]]) -> dict[tuple[int, int], bool]:
    """The lines that are no text of their page, by page and identity: heads and feet that come
    again on other pages, and numbers of pages. True where one stands for the first time.

    What comes again word for word, and has no number that grows with the pages, is one where a gap
    parts it from the text, or where most pages have it.
    """
    steps = [step for page in pages for step in _steps(page)]
    gap = EDGE_GAP * median(steps) if steps else 0.0
    edges = [_edges(page, gap) for page in pages]
    seen = Counter(
        sign
        for number, lines in enumerate(edges)
        for sign in {sign for line, _ in lines for sign in _signs(line, number)}
    )
    least, most = max(2, 0.3 * len(pages)), max(2, 0.6 * len(pages))
    counted = {sign.partition(":")[0] for sign in seen if "#" in sign and seen[sign] >= least}
    found: dict[tuple[int, int], bool] = {}
    told: set[str] = set()
    for number, lines in enumerate(edges):
        for line, is_apart in lines:
            signs = [
                sign
                for sign in _signs(line, number)
                if seen[sign]
                >= (least if "#" in sign or (is_apart and not sign.isdecimal()) else most)
                or sign.removesuffix(":") in counted  # the number of the first page stands alone
            ]
            if signs:
                is_number = not any(map(str.isalpha, line.text)) or bool(_PAGE.match(line.text))
                found[number, id(line)] = not is_number and told.isdisjoint(signs)
                told.update(signs)
    return found


def _steps(page: Sequence[Line]) -> list[float]:
    """The distances of the baselines of a page."""
    return [float(b - a) for a, b in pairwise(sorted({round(line.baseline) for line in page}))]


def _edges(page: Sequence[Line], gap: float) -> list[tuple[Line, bool]]:
    """The lines on the two highest and the two lowest baselines of a page, and whether a gap parts
    them from the text."""
    levels, steps = sorted({round(line.baseline) for line in page}), _steps(page)
    outer: dict[int, bool] = {}
    for ends, distances in ((levels, steps), (levels[::-1], steps[::-1])):
        parted = next((n for n, step in enumerate(distances[:2], 1) if step > gap), 0)
        outer |= {level: n < parted or outer.get(level, False) for n, level in enumerate(ends[:2])}
    return [(line, outer[round(line.baseline)]) for line in page if round(line.baseline) in outer]


def _signs(line: Line, page: int) -> set[str]:
    """What a line has in common with its like on other pages: its words, or its words and a number
    that grows as the pages do, on whichever side it stands."""
    words = " ".join(line.text.casefold().split())
    signs = {words}
    for number in _NUMBER.finditer(words[:200]):
        rest = f"{words[: number.start()]} {words[number.end() :]}"
        signs.add(f"#{int(number[0]) - page}:{' '.join(_WORD.findall(rest))}")
    return signs


def _notes(page: Sequence[Line]) -> list[Line]:
    """The notes below the text of each column: from the first line that begins with a mark raised
    in the text, or with a raised one, and is smaller than the text or parted by a gap, down."""
    by_height = sorted(page, key=lambda line: -line.baseline)
    usual = median(line.height for line in page) if page else 1.0
    pitch = _pitch(by_height) or 1.2 * usual
    marks = {
        mark.translate(_PLAIN) for line in page for mark in _RAISED_MARK.findall(line.text[1:])
    }
    starts: list[Line] = []
    tried = 0
    for above, line in pairwise(by_height):
        apart = above.baseline - line.baseline > 1.6 * pitch
        is_under = any(_is_below(line, start, usual) for start in starts)
        if not is_under and _begins_note(line, marks, usual, apart=apart):
            tried += 1
            if _is_at_foot(line, by_height):
                starts.append(line)
        if len(starts) == MOST_NOTES or tried == MOST_MARKED:
            break
    return [line for line in page if any(_is_below(line, start, usual) for start in starts)]


def _begins_note(line: Line, marks: set[str], usual: float, *, apart: bool) -> bool:
    note = _NOTE.match(line.text)
    if note is None:
        return False
    mark, small = note["mark"].translate(_PLAIN), line.height < SMALL_NOTE * usual
    raised = mark != note["mark"] or mark in "*\u2217†‡§"
    if small:
        return raised or apart or mark in marks
    # a heading, too, may have the number of a note, but is larger or has a stop behind it
    is_heading = line.height > 1.03 * usual or line.text[note.end() - 1] == "."
    return apart and mark in marks and (raised or not is_heading)


def _is_at_foot(start: Line, by_height: Sequence[Line]) -> bool:
    """Whether nothing but notes and the last line of the page stands below `start` in its column:
    addresses below the names of authors are marked as notes are, and the text follows them. A note
    as large as the text around it is one of few lines in the lowest third of the page."""
    top, bottom = by_height[0].baseline, by_height[-1].baseline
    beneath = [
        line
        for line in by_height
        if bottom + 1 < line.baseline < start.baseline and line.longest and _overlap(line, start)
    ]
    small = start.height < SMALL_NOTE * median(line.height for line in by_height)
    low = start.baseline - bottom <= (top - bottom) / 3 and len(beneath) < FEW_LINES
    return (small or low) and all(line.height <= LARGER * start.height for line in beneath)


def _is_below(line: Line, start: Line, usual: float) -> bool:
    beneath = line.baseline <= start.baseline + 0.1 * usual
    return beneath and _overlap(line, start)


def _overlap(line: Line, other: Line) -> bool:
    return line.left < other.right and other.left < line.right


def _interrupting(body: Sequence[Line]) -> list[Line]:
    """Smaller lines within a sentence of the text: what stands at the foot of a column without a
    mark, and captions and tables between its lines."""
    usual = median(line.height for line in body) if body else 1.0
    found: list[Line] = []
    before: Line | None = None
    block: list[Line] = []
    for line in body:
        if line.height < SMALL_NOTE * usual:
            block.append(line)
            continue
        if block and before is not None and _is_within(before, line):
            apart = not (before.beside(block[0]) or line.beside(block[-1]))
            found += block if apart and sum(len(one.text.split()) for one in block) > 3 else []
        before, block = line, []
    return found


def _is_within(before: Line, line: Line) -> bool:
    """Whether a sentence runs on from one line to the other, two of prose."""
    runs_on = line.text.lstrip()[:1].islower() and before.text.rstrip()[-1:] not in ".!?:;"
    if line.cell is not None or before.cell is not None:
        return False
    wide = min(before.right - before.left, line.right - line.left) / line.height > PROSE_WIDTH
    return runs_on and wide and abs(before.height - line.height) < 0.1 * line.height


def _pitch(lines: Sequence[Line]) -> float | None:
    """The usual distance of two lines that follow each other down the page."""
    steps = _steps_down(lines)
    return median(steps) if steps else None


def _leading(lines: Sequence[Line]) -> float:
    """The distance of two lines of one paragraph, in heights: on a page of short paragraphs few are
    nearer than `_pitch`."""
    steps = _steps_down([line for line in lines if line.longest], in_heights=True)
    return sorted(steps)[len(steps) // 5] if steps else 3.0


def _steps_down(lines: Sequence[Line], *, in_heights: bool = False) -> list[float]:
    return [
        (one.baseline - other.baseline) / (one.height if in_heights else 1.0)
        for one, other in pairwise(lines)
        if 0.5 * one.height < one.baseline - other.baseline < 3 * one.height
    ]


def _joined(lines: Sequence[Line], words: Counter[str]) -> str:
    """The lines as text: a blank line between paragraphs, none within."""
    pitch, leading = _pitch(lines), _leading(lines)
    parts: list[str] = []
    before: Line | None = None
    item = ""
    lines = [line for line in lines if line.text.strip()]
    returns = [0.0, *(line.left for line in lines[2:]), *(line.left for line in lines[-1:])]
    for line, edge, left in zip(lines, [0.0, *_edges_before(lines)], returns, strict=False):
        own = line.text.strip()
        if before is not None:
            parted, goes_on = _PARTED.search(parts[-1][-80:]), _GOES_ON.match(own)
            begins = not own[0].islower() and (
                _ends_early(before, line, edge, left, leading) or _STARRED.match(own) is not None
            )
            apart = _is_apart(before, line, pitch) or begins or _comes_next(item, own)
            elsewhere = not own[0].islower() and (apart or line.baseline >= before.baseline)
            if _GOES_ON_WITHIN.search(parts[-1][-120:]) and _WITHIN.match(own) and not elsewhere:
                pass
            elif parted is None or not own[0].isalnum() or elsewhere:
                parts.append("\n\n" if apart else "\n")
            elif goes_on is not None:  # else "IL-6", "10-20": the hyphen is its own
                compound = parted["before"] is not None
                if not _keeps_hyphen(parted["word"], goes_on["word"], words, compound=compound):
                    parts[-1] = parts[-1][:-1]
        parts.append(own)
        item = own[:30] if _ITEM.match(own) else item
        before = line
    return "".join(parts)


def _comes_next(item: str, own: str) -> bool:
    """Whether a line begins the item behind the last one: "1.2:" behind "1.1:", "b)" behind
    "a)"."""
    last, following = _ITEM.match(item), _ITEM.match(own)
    if last is None or following is None or last[1] != following[1]:
        return False
    if last[2].isdigit() and following[2].isdigit():
        return int(following[2]) == int(last[2]) + 1
    return ord(following[2][0]) == ord(last[2][0]) + 1


def _keeps_hyphen(head: str, tail: str, words: Counter[str], *, compound: bool) -> bool:
    """Whether the hyphen at a line's end is the word's own: "T-cell", a word that the document
    writes so elsewhere, or one of two words that both stand elsewhere by themselves."""
    one, parted = f"{head}{tail}".casefold(), f"{head}-{tail}".casefold()
    if words[one] or words[parted]:
        return words[parted] > words[one]
    if (
        len(head) == 1
        or not head.isalpha()
        or not tail.islower()
        or not (head.islower() or (head.istitle() and len(head) > 2))
    ):
        return True
    return bool(words[tail.casefold()]) and (compound or bool(words[head.casefold()]))


def _fills_its_line(before: Line, line: Line) -> bool:
    """Whether a line of prose has no end of a sentence and is as wide as the one after it."""
    width = before.right - before.left
    return (
        before.text.rstrip()[-1:] not in ".!?:;"
        and min(before.text.count(" "), line.text.count(" ")) > 2
        and width > PROSE_WIDTH * before.height
        and abs(width - (line.right - line.left)) < before.height
        and abs(before.height - line.height) < 0.1 * line.height
        and before.font == line.font
    )


def _edges_before(lines: Sequence[Line]) -> list[float]:
    """For each two lines that follow each other, the right edge of the column they stand in: as
    far as any line near them goes, in whose width they stand."""
    return [
        max(
            [
                near.right
                for near in lines[max(0, at - NEAR) : at + 2 + NEAR]
                if near.cell is None and _overlap(near, line)
            ],
            default=line.right,
        )
        for at, line in enumerate(lines[:-1])
    ]


def _ends_early(before: Line, line: Line, edge: float, left: float, leading: float) -> bool:
    """Whether a line ends a paragraph: the first word of the next, which begins no part of a
    sentence, would have had a place on it. A heading has another font than what stands below, or
    that is set in: the line behind it begins at `left`. Or it is farther than lines of a paragraph
    are."""
    begun = line.text.lstrip()
    goes_on = before.cell is not None and abs(line.left - before.cell) < before.height
    if begun[:1].islower() or goes_on:
        return False
    if (before.cell is None) != (line.cell is None):
        return True
    word = begun.split(maxsplit=1)[0]
    width = (line.right - line.left) * (len(word) + 1) / max(len(begun), 1)
    if before.cell is not None:
        return False
    is_set_in = line.left - left > 0.6 * line.height and abs(before.left - left) < line.height
    ended = _ENDED.search(before.text[-60:].rstrip()) is not None
    if before.right + width > edge - 0.3 * before.height:  # a heading, or a full last line
        return is_set_in and before.font != line.font
    far = before.baseline - line.baseline > WIDER * leading * before.height
    return before.font != line.font or is_set_in or ended or far


def _is_apart(before: Line, line: Line, pitch: float | None) -> bool:
    step = before.baseline - line.baseline
    if step <= 0:  # up again: another column
        goes_on = line.text.lstrip()[:1].islower() and before.right - before.left > (
            CELL_WIDTH * before.height
        )
        is_other = (
            before.font != line.font and _ENDED.search(before.text[-60:].rstrip()) is not None
        )
        return not (goes_on or _fills_its_line(before, line)) or is_other
    is_large = before.font == line.font and abs(before.height - line.height) < 0.05 * line.height
    usual = max(pitch or step, before.height if is_large else 0.0)  # of a title of some lines
    if step > PARAGRAPH_GAP * usual:
        return True
    if line.text.lstrip()[:1].islower():  # small capitals may be the longest part of a line
        return min(before.height, line.height) < 0.6 * max(before.height, line.height)
    return not _overlap(before, line) or _of_other_size(before, line)


def _of_other_size(before: Line, line: Line) -> bool:
    """Whether no words of one line are about as high as words of the other: small capitals may be
    the longest part of a line of text."""
    low, high = (min(line.height, line.sizes[0] or line.height), max(line.height, line.sizes[1]))
    lowest = min(before.height, before.sizes[0] or before.height)
    highest = max(before.height, before.sizes[1])
    return high < 0.85 * lowest or highest < 0.85 * low
