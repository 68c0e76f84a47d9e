"""Puts the runs of glyphs of a PDF (`glyphs`) into the text that a person reads. Pure.

Marks above the line are such (12³, not 123); heads and feet that come again on the next page, page
numbers and notes below the text stand outside its sentences; columns are read one after the other;
a word that a line's end parts is one word. All sizes are shares of a line's height, and ours.
"""

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import NamedTuple


class Run(NamedTuple):
    """Glyphs that follow each other on a line in one size, with their place in points."""

    text: str
    left: float
    right: float
    baseline: float
    height: float


SMALL = 0.88
"""A run lower than this share of its line's height may be a raised or lowered mark."""
COLUMN_GAP = 2.2
"""A gap as wide as this parts cells of a table, or columns."""
LONGEST_LINE = 4_000
"""Characters; what is longer is cut, to stay linear."""
MOST_NOTES = 8
"""Columns of a page that have notes."""
LEAST_ROWS = 5
"""Fewer rows tell no columns."""
PROSE_WIDTH = 12.0
"""Columns of prose are as wide as this, in heights; cells of tables seldom are."""
EDGE_GAP = 1.25
"""Heads and feet stand farther from the text than this share of the usual distance of its lines."""
PARAGRAPH_GAP = 1.55
"""Lines farther apart than this share of the usual distance are of two paragraphs."""

_RAISED = str.maketrans(
    "0123456789+-−–=()abcdefghijklmnoprstuvwxyz",
    "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ",
)
_RAISABLE = re.compile(r"[\d+−–=(),.\s-]{1,20}|[a-z](?:,[a-z]){0,5}")
_LIGATURES = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "ft", "ﬆ": "st", "\u00ad": "-"}
)
_NUMBER = re.compile(r"(?<![\w.,/-])\d{1,4}(?![\w,/-]|\.\d)", re.ASCII)
_PAGE = re.compile(r"\W{0,5}page\s\d{1,4}(?:\s(?:of|/)\s\d{1,4})?\W{0,5}\Z", re.IGNORECASE)
_NOTE = re.compile(
    r"(?P<mark>[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}|[ᵃ-ᶻ]|\d{1,3}|[a-z]|[*†‡§]{1,3})[\s.)]?(?=\s?[^\W\d_])"
)
_PLAIN = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_RAISED_MARK = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}|[ᵃ-ᶻ]")
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_PARTED = re.compile(r"(?P<before>[^\W_]-)?(?P<word>[^\W_]{1,60})-\Z")
_GOES_ON = re.compile(r"(?P<word>[^\W\d_]+)(?P<rest>\S*)")


@dataclass
class Line:
    """A line of a page, or a part of one that a wide gap parts from the rest."""

    text: str
    left: float
    right: float
    baseline: float
    height: float

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
    lines = _ordered([list(_lines(runs)) for runs in pages])
    words = _words(lines)
    furniture = _furniture(lines)
    laid = []
    for number, page in enumerate(lines):
        again = {id(line) for line in page if (number, id(line)) in furniture}
        body = [line for line in page if id(line) not in again]
        notes = _notes(body)
        of_notes = {id(line) for line in notes}
        body = [line for line in body if id(line) not in of_notes]
        first = [line.text for line in page if furniture.get((number, id(line)))]
        text = "\n\n".join(filter(None, [*first, _joined(body, words)]))
        laid.append(Laid(text, _joined(notes, words).split("\n\n") if notes else []))
    for one, following in pairwise(laid):
        _keep_word_whole(one, following, words)
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


def whole(pages: Iterable[Laid]) -> str:
    """The pages as one text, the notes behind it; a sentence that runs on to the next page is
    parted by a line's end only."""
    parts: list[str] = []
    notes: list[str] = []
    for page in pages:
        notes += page.notes
        text = page.text.strip("\n")
        if not text.strip():
            continue
        if parts:
            last = parts[-1]
            runs_on = text.lstrip()[0].islower() and last.rstrip()[-1] not in ".!?:;"
            parts.append("\n" if runs_on else "\n\n")
        parts.append(text)
    return "\n\n".join(filter(None, ["".join(parts), *notes]))


def _lines(runs: Iterable[Run]) -> Iterator[Line]:
    line: Line | None = None
    drawn: deque[Run] = deque(maxlen=4)
    for run in runs:
        if any(_same(run, other) for other in drawn):
            continue  # drawn twice, to look bold
        drawn.append(run)
        text, left, right, baseline, height = run
        text = text.translate(_LIGATURES)
        if line is None or len(line.text) > LONGEST_LINE:
            if line is not None:
                yield line
            line = Line(text, left, right, baseline, height)
        elif (mark := _as_mark(line, run)) is not None:
            raised = baseline - line.baseline > 0.12 * line.height
            line.text = line.text.rstrip() if raised else line.text
            line.text += mark + (" " if text.endswith(" ") else "")
            line.right = max(line.right, right)
        elif _leads(line, run):
            line = Line(f"{_raised(line.text)} {text}", line.left, right, baseline, height)
        elif _on_line(line, run):
            gap = left - line.right > 0.15 * height and not line.text.endswith(" ")
            line.text += f" {text}" if gap else text
            line.right, line.height = max(line.right, right), max(line.height, height)
        else:
            yield line
            line = Line(text, left, right, baseline, height)
    if line is not None:
        yield line


def _same(run: Run, other: Run) -> bool:
    near = 0.25 * run.height
    return (
        run.text.strip() == other.text.strip()
        and abs(run.left - other.left) < near
        and abs(run.baseline - other.baseline) < near
    )


def _as_mark(line: Line, run: Run) -> str | None:
    """The run as a raised or lowered mark of the line; None if it is none."""
    text, left, _, baseline, height = run
    up = baseline - line.baseline
    is_mark = (
        height < SMALL * line.height
        and 0.08 * line.height < abs(up) < 0.75 * line.height
        and left - line.right < COLUMN_GAP * line.height
    )
    if not is_mark:
        return None
    return _raised(text) if up > 0 else text.strip()


def _raised(text: str) -> str:
    text = text.strip()
    return text.translate(_RAISED) if _RAISABLE.fullmatch(text) else text


def _leads(line: Line, run: Run) -> bool:
    """Whether the line so far is a raised mark before the run: "⁹ The estimates …"."""
    _, left, _, baseline, height = run
    return (
        len(line.text.strip()) <= 3
        and line.height < SMALL * height
        and 0.12 * height < line.baseline - baseline < 0.75 * height
        and -0.2 * height < left - line.right < height
    )


def _on_line(line: Line, run: Run) -> bool:
    _, left, _, baseline, height = run
    return (
        abs(baseline - line.baseline) < 0.25 * max(height, line.height)
        and left - line.right < COLUMN_GAP * height
    )


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
        else list(_rows(lines))
        for lines, pairs, gutter in zip(pages, beside, gutters, strict=True)
    ]


def _by_columns(lines: Sequence[Line], gutter: float | None) -> list[Line]:
    assert gutter is not None, "a page is put into columns where it has a gutter"
    ordered: list[Line] = []
    columns: tuple[list[Line], list[Line]] = ([], [])
    for line in lines:
        if line.left < gutter < line.right:  # it goes over both columns, and parts what is above
            ordered += [*columns[0], *columns[1], line]
            columns = ([], [])
        else:
            columns[line.left >= gutter].append(line)
    return [*ordered, *columns[0], *columns[1]]


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
    width = median(
        min(one.right - one.left, other.right - other.left) / other.height for one, other in pairs
    )
    left, right = max(gap[0] for gap in gaps), min(gap[1] for gap in gaps)
    return (left + right) / 2 if width > PROSE_WIDTH and left < right else None


def _rows(lines: Iterable[Line]) -> Iterator[Line]:
    row: Line | None = None
    for line in lines:
        if row is not None and row.beside(line) and line.left >= row.right:
            row.text = f"{row.text.rstrip()}  {line.text}"
            row.right, row.height = line.right, max(row.height, line.height)
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
    found: dict[tuple[int, int], bool] = {}
    told: set[str] = set()
    for number, lines in enumerate(edges):
        for line, is_apart in lines:
            signs = [
                sign
                for sign in _signs(line, number)
                if seen[sign] >= (least if is_apart or "#" in sign else most)
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
    """What a line has in common with its like on other pages: its words, or its words with the
    number of the page, which grows as the pages do."""
    words = " ".join(line.text.casefold().split())
    signs = set() if words.isdecimal() else {words}
    for number in _NUMBER.finditer(words[:200]):
        rest = f"{words[: number.start()]}#{words[number.end() :]}"
        signs.add(f"{int(number[0]) - page}:{rest}")
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
    for above, line in pairwise(by_height):
        apart = above.baseline - line.baseline > 1.6 * pitch
        is_under = any(_is_below(line, start, usual) for start in starts)
        if not is_under and _begins_note(line, marks, usual, apart=apart):
            starts.append(line)
        if len(starts) == MOST_NOTES:
            break
    return [line for line in page if any(_is_below(line, start, usual) for start in starts)]


def _begins_note(line: Line, marks: set[str], usual: float, *, apart: bool) -> bool:
    note = _NOTE.match(line.text)
    if note is None:
        return False
    mark, small = note["mark"].translate(_PLAIN), line.height < 0.93 * usual
    raised = mark != note["mark"] or mark in "*†‡§"
    return (small and (raised or apart)) or (mark in marks and (small or apart))


def _is_below(line: Line, start: Line, usual: float) -> bool:
    beneath = line.baseline <= start.baseline + 0.1 * usual
    return beneath and line.left < start.right and start.left < line.right


def _pitch(lines: Sequence[Line]) -> float | None:
    """The usual distance of two lines that follow each other down the page."""
    steps = [
        one.baseline - other.baseline
        for one, other in pairwise(lines)
        if 0.5 * one.height < one.baseline - other.baseline < 3 * one.height
    ]
    return median(steps) if steps else None


def _joined(lines: Sequence[Line], words: Counter[str]) -> str:
    """The lines as text: a blank line between paragraphs, none within."""
    pitch = _pitch(lines)
    parts: list[str] = []
    before: Line | None = None
    for line in lines:
        own = line.text.strip()
        if not own:
            continue
        if before is not None:
            parted, goes_on = _PARTED.search(parts[-1][-80:]), _GOES_ON.match(own)
            if parted is None or not own[0].isalnum():
                parts.append("\n\n" if _is_apart(before, line, pitch) else "\n")
            elif goes_on is not None:  # else "IL-6", "10-20": the hyphen is its own
                compound = parted["before"] is not None
                if not _keeps_hyphen(parted["word"], goes_on["word"], words, compound=compound):
                    parts[-1] = parts[-1][:-1]
        parts.append(own)
        before = line
    return "".join(parts)


def _keeps_hyphen(head: str, tail: str, words: Counter[str], *, compound: bool) -> bool:
    """Whether the hyphen at a line's end is the word's own: "T-cell", a word that the document
    writes so elsewhere, or one of two words that both stand elsewhere by themselves."""
    one, parted = f"{head}{tail}".casefold(), f"{head}-{tail}".casefold()
    if words[one] or words[parted]:
        return words[parted] > words[one]
    if (
        not head.isalpha()
        or not tail.islower()
        or not (head.islower() or (head.istitle() and len(head) > 2))
    ):
        return True
    return bool(words[tail.casefold()]) and (compound or bool(words[head.casefold()]))


def _is_apart(before: Line, line: Line, pitch: float | None) -> bool:
    step = before.baseline - line.baseline
    if step <= 0:  # up again: another column
        return not line.text.lstrip()[:1].islower()
    sizes = sorted((before.height, line.height))
    return (pitch is not None and step > PARAGRAPH_GAP * pitch) or sizes[0] < 0.85 * sizes[1]
