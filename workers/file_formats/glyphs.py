"""Reads where the glyphs of a PDF stand, in a process of its own, all that a hostile file can kill.

    python -I workers/file_formats/glyphs.py < FILE > RUNS

Writes one line of JSON a page: its runs, in the order in which the page draws them, each
`[text, left, right, baseline, height, font]` in points from the lower left corner as the page is
read; fonts are numbered. What nobody sees is left out, and signs that a file calls letters are
U+FFFD (`signs`). The caller sets the time limit.
"""

import ctypes
import json
import math
import resource
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

MEMORY = 2 * 1024**3
"""Bytes of address space that reading may take (ours)."""
RAISED = 0.22
"""A letter or digit whose ink begins so far above its baseline is raised, in heights (ours)."""
HYPHEN = "\u0002"
"""So pdfium writes a hyphen at the end of a line, which it places nowhere."""
DECIMAL_MARKS = ".,\u00b7"
ACCENTS = dict(
    zip(
        "\u00a8\u00b4`\u02c6\u02dc\u00b8\u02c7\u02da\u00af\u02d8\u02db\u02dd",
        "\u0308\u0301\u0300\u0302\u0303\u0327\u030c\u030a\u0304\u0306\u0328\u030b",
        strict=True,
    )
)
"""Accents that are drawn over a letter as signs of their own: a composed letter is one."""
CLOSING = frozenset(".,;:)]")
SENTENCE_GAP = 0.12
"""A capital so far behind a stop begins a sentence, though pdfium infers no space, in heights."""
FAR = 80
"""Glyphs before and after an accent among which its letter may be (ours)."""
GAP, WIDE_GAP = 0.05, 0.1
"""Glyphs nearer than this stand in one word, whatever pdfium infers, in heights. Ours: in nine
files gaps between words were 0.053 and more but in some italics, in formulas at most 0.046."""
MOST_GLYPHS = 4_000_000
"""Ours: four times the longest text that is stored."""
WHITE = 250
"""From here on red, green and blue are white, as paper is (ours)."""
MOST_BACKGROUNDS = 1_000
"""Shapes and pictures of a page that may lie under white letters; of more, all are seen (ours)."""
WIDEST = dict.fromkeys("0123456789", 0.9) | dict.fromkeys("ijl!\u00a1|\u00a2$", 0.85)
WIDEST |= {"a": 1.03} | dict.fromkeys("*\u2217,'\"\u2018\u2019\u201c\u201d", 2.0)
"""The ink of these is no wider than this share of its height. What is called so and is wider is
another sign: = × ° as digits, ≥ ≤ as i ¡ ¢ $, × as |, α as a, ~ as * or a comma, − as a quotation
mark (ours, of the faces of seven makers)."""
LARGEST_STOP = 0.3
"""No stop's ink is higher or wider than this share of a line; > called a stop is (ours)."""
DESCENDS, FLAT = -0.12, -0.06
"""Where the ink of a letter begins that goes below the baseline, and of one that does not, in
heights: β µ η ρ called b m h r do, π θ called p q do not (ours)."""
STANDING = frozenset("abcdehiklmnorstuvwxzABCDEFGHIKLMNOPRSTUVWXYZ")
HANGING = frozenset("pq")
FEWEST_SIGNS = 3
"""So often a font of signs is used on a page before its letters are taken for signs (ours)."""
MOST_SHAPES = 5_000
"""Shapes of a page that are looked at as the marks of a list (ours)."""
SMALLEST_MARK, LARGEST_MARK = 1.0, 7.0
"""Points: how wide and high the drawn mark of an item of a list is (ours)."""
FEWEST_GLYPHS, UNREAD = 8, 0.15
"""A font whose glyphs, at least so many on the page, have no character in this share is one whose
characters mean nothing: files without a mapping give the places of letters in the font (ours)."""


class Glyph(NamedTuple):
    """A character with its place; `turn` is the angle of its line, in quarters. `inferred`: pdfium
    adds it between words, and it stands nowhere. `is_odd`: its ink is none of that character."""

    text: str
    left: float
    right: float
    baseline: float
    height: float
    turn: int
    inferred: bool = False
    font: int = 0
    is_odd: bool = False


class Font(NamedTuple):
    """A font of a document: its number there, and whether its letters are slanted."""

    number: int
    is_slanted: bool


def main() -> None:
    """Read the PDF on standard input and write its runs to standard output."""
    # here, not above: the limit on memory is set before anything is loaded
    import pypdfium2 as pdfium  # type: ignore[import-untyped]

    document = pdfium.PdfDocument(sys.stdin.buffer.read())
    left = MOST_GLYPHS
    fonts: dict[str, Font] = {}
    for page in document:
        text_page = page.get_textpage()
        look = Look(pdfium.raw, page, text_page, fonts)
        glyphs = list(_glyphs(pdfium.raw, text_page, left, look))
        left -= len(glyphs)
        slanted = {font.number for font in fonts.values() if font.is_slanted}
        runs = list(_runs(accented(read_as_drawn(glyphs, slanted))))
        sys.stdout.write(f"{json.dumps(with_marks(runs, list(look.marks())))}\n")
        text_page.close()
        page.close()


class Look:
    """How the texts of a page are drawn: in which font, and whether anybody sees them.

    White letters on nothing but paper and letters without any paint, unless a picture that they
    are the words of lies under them (a scan), are not seen.
    """

    def __init__(self, raw: Any, page: Any, text_page: Any, fonts: dict[str, Font]) -> None:
        self._raw, self._page, self._text_page, self._fonts = raw, page, text_page, fonts
        self._known: dict[int, tuple[int, str]] = {}
        self._under: list[tuple[bool, float, float, float, float]] | None = None

    def __call__(self, index: int, x: float, y: float) -> tuple[int, bool]:
        """The number of the glyph's font, and whether the glyph, which stands at x and y, is
        seen."""
        drawn = self._raw.FPDFText_GetTextObject(self._text_page, index)
        if not drawn:
            return 0, True
        key = ctypes.addressof(drawn.contents)
        if key not in self._known:
            self._known[key] = self._font(drawn), self._paint(drawn)
        font, paint = self._known[key]
        return font, not paint or self._has_under(x, y, pictures=paint == "none")

    def _font(self, drawn: Any) -> int:
        raw = self._raw
        font = raw.FPDFTextObj_GetFont(drawn)
        if not font:
            return 0
        name, slant = ctypes.create_string_buffer(128), ctypes.c_int()
        raw.FPDFFont_GetBaseFontName(font, name, 128)
        plain = name.value.decode("latin-1").split("+")[-1]
        if plain not in self._fonts:
            raw.FPDFFont_GetItalicAngle(font, slant)
            is_slanted = bool(slant.value) or bool(raw.FPDFFont_GetFlags(font) & 64)
            self._fonts[plain] = Font(len(self._fonts) + 1, is_slanted)
        return self._fonts[plain].number

    def _paint(self, drawn: Any) -> str:
        """ "" for letters that are seen wherever they stand, "white", or "none"."""
        raw = self._raw
        mode = raw.FPDFTextObj_GetTextRenderMode(drawn)
        red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
        found = raw.FPDFPageObj_GetFillColor(drawn, red, green, blue, alpha)
        if mode in (3, 7) or (found and not alpha.value and mode in (0, 4)):
            return "none"
        is_white = min(red.value, green.value, blue.value) >= WHITE
        return "white" if found and is_white and mode in (0, 4) else ""

    def _has_under(self, x: float, y: float, *, pictures: bool) -> bool:
        """Whether a picture, or anything else that is not white, lies under a place."""
        if self._under is None:
            self._under = list(self._backgrounds())
        return len(self._under) >= MOST_BACKGROUNDS or any(
            (is_picture or not pictures) and left <= x <= right and bottom <= y <= top
            for is_picture, left, bottom, right, top in self._under
        )

    def marks(self) -> Iterator[tuple[float, float, float]]:
        """Left, right and middle of what may be the marks of a list: small filled shapes as wide
        as high."""
        raw = self._raw
        edges = [ctypes.c_float() for _ in range(4)]
        for number in range(min(raw.FPDFPage_CountObjects(self._page.raw), MOST_SHAPES)):
            one = raw.FPDFPage_GetObject(self._page.raw, number)
            if raw.FPDFPageObj_GetType(one) != raw.FPDF_PAGEOBJ_PATH:
                continue
            if raw.FPDFPageObj_GetBounds(one, *edges):
                left, bottom, right, top = (edge.value for edge in edges)
                wide, high = right - left, top - bottom
                is_mark = SMALLEST_MARK < wide < LARGEST_MARK and 0.8 < wide / (high or 1) < 1.25
                if is_mark:
                    yield left, right, (bottom + top) / 2

    def _backgrounds(self) -> Iterator[tuple[bool, float, float, float, float]]:
        raw = self._raw
        edges = [ctypes.c_float() for _ in range(4)]
        red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
        fill, stroke = ctypes.c_int(), ctypes.c_int()
        found = 0
        for number in range(raw.FPDFPage_CountObjects(self._page.raw)):
            one = raw.FPDFPage_GetObject(self._page.raw, number)
            kind = raw.FPDFPageObj_GetType(one)
            if kind == raw.FPDF_PAGEOBJ_TEXT:
                continue
            if kind == raw.FPDF_PAGEOBJ_PATH:
                raw.FPDFPath_GetDrawMode(one, fill, stroke)
                raw.FPDFPageObj_GetFillColor(one, red, green, blue, alpha)
                is_white = min(red.value, green.value, blue.value) >= WHITE
                if not fill.value or not alpha.value or is_white:
                    continue
            if raw.FPDFPageObj_GetBounds(one, *edges):
                left, bottom, right, top = (edge.value for edge in edges)
                is_picture = kind in (raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_FORM)
                yield is_picture, left, bottom, right, top
                found += 1
            if found >= MOST_BACKGROUNDS:
                return


def with_marks(runs: list[Any], marks: list[tuple[float, float, float]]) -> list[Any]:
    """The runs, with "\u2022" before those that a drawn mark stands directly before: a dot whose
    left, right and middle are given. Browsers draw the marks of lists as shapes."""
    by_height: dict[int, list[Any]] = {}
    for run in runs:
        by_height.setdefault(int(run[3]) // 8, []).append(run)
    for left, right, middle in marks:
        near = [
            run
            for level in (-2, -1, 0, 1)
            for run in by_height.get(int(middle) // 8 + level, ())
            if run[1] - left > 0 and -0.1 * run[4] < middle - run[3] < 0.6 * run[4]
        ]
        first = min(near, key=lambda run: float(run[1]), default=None)
        if first is not None and first[1] - right < 2.0 * first[4]:
            first[0], first[1] = f"\u2022 {first[0]}", left
    return runs


def accented(glyphs: list[Glyph]) -> list[Glyph]:
    """The glyphs, with each accent that is drawn over a letter of the same line, not beside it in
    the file, as a part of that letter."""
    read = list(glyphs)
    gone: set[int] = set()
    for at, accent in enumerate(glyphs):
        if accent.text not in ACCENTS:
            continue
        over = (accent.left + accent.right) / 2
        for place in range(max(0, at - FAR), min(len(read), at + FAR)):
            letter = read[place]
            is_under = letter.left < over < letter.right and letter.text.isalpha()
            if is_under and abs(letter.baseline - accent.baseline) < 0.5 * letter.height:
                one = unicodedata.normalize("NFC", letter.text + ACCENTS[accent.text])
                if len(one) == 1 and one != letter.text:
                    read[place] = letter._replace(text=one)
                    gone.add(at)
                    break
    return [glyph for at, glyph in enumerate(read) if at not in gone]


def read_as_drawn(glyphs: list[Glyph], slanted: frozenset[int] | set[int]) -> list[Glyph]:
    """The glyphs of a page, those as U+FFFD whose character is surely not what is drawn.

    Files of some publishers call the = of a font of signs "5", its < "v": N=12 is "N512". What is
    alone in its font is no such character if its ink is none of one (`_is_odd`); nor is a letter or
    digit before a number a letter if its font, which is not slanted as variables are, has but three
    of them and never two beside each other. Where a font has no characters at all, none of its
    glyphs is read.
    """
    solid = [glyph for glyph in glyphs if not glyph.text.isspace()]
    used = Counter(glyph.font for glyph in solid)
    unread = Counter(glyph.font for glyph in solid if glyph.text == "\ufffd")
    dumb = {
        font
        for font, count in used.items()
        if font and count >= FEWEST_GLYPHS and UNREAD * count < unread[font]
    }
    letters: dict[int, set[str]] = {}
    words: set[int] = set()
    before = None
    for glyph in solid:
        if glyph.text.isalnum():
            letters.setdefault(glyph.font, set()).add(glyph.text)
            if before is not None and before.font == glyph.font and before.text.isalnum():
                words.add(glyph.font)
        before = glyph
    of_signs = {
        font
        for font, signs in letters.items()
        if font not in words | slanted and len(signs) <= 3 and used[font] >= FEWEST_SIGNS
    }
    unsaid: set[int] = set()
    following = None
    for before, glyph in reversed(list(zip([None, *solid], solid, strict=False))):
        is_sign = glyph.font in dumb or (
            (before is None or before.font != glyph.font)
            and (following is None or following.font != glyph.font)
            and (
                (glyph.is_odd and not (glyph.text.isalpha() and glyph.font in slanted))
                or _is_sign(glyph, following, of_signs, unsaid)
            )
        )
        if is_sign:
            unsaid.add(id(glyph))
        following = glyph
    return [glyph._replace(text="\ufffd") if id(glyph) in unsaid else glyph for glyph in glyphs]


def _is_sign(glyph: Glyph, following: Glyph | None, of_signs: set[int], unsaid: set[int]) -> bool:
    """Whether a letter or digit that stands alone in its font is a sign before a number, or within
    a word of another font, as µ is."""
    if not (glyph.text.isascii() and glyph.text.isalnum() and glyph.font):
        return False
    if glyph.font not in of_signs or following is None or id(following) in unsaid:
        return False
    near = glyph.height or 1.0
    is_level = abs(following.baseline - glyph.baseline) < GAP * near  # no raised or lowered mark
    is_within = (
        glyph.text.isalpha()
        and following.text.isalpha()
        and abs(following.left - glyph.right) < GAP * near
        and abs(following.height - glyph.height) < 0.25 * near
    )
    return is_level and (is_within or following.text.isdigit())


def _glyphs(raw: Any, text_page: Any, most: int, look: "Look") -> Iterator[Glyph]:
    box, matrix, half = raw.FS_RECTF(), raw.FS_MATRIX(), 0
    x, y = ctypes.c_double(), ctypes.c_double()
    ink = [ctypes.c_double() for _ in range(4)]
    for index in range(min(raw.FPDFText_CountChars(text_page), most)):
        code = raw.FPDFText_GetUnicode(text_page, index)
        if code in (0x0A, 0x0D):
            continue
        raw.FPDFText_GetLooseCharBox(text_page, index, box)
        raw.FPDFText_GetCharOrigin(text_page, index, x, y)
        # not the angle that pdfium tells: it takes letters that are slanted, an italic, for turned
        raw.FPDFText_GetMatrix(text_page, index, matrix)
        angle = math.atan2(matrix.b, matrix.a) % (2 * math.pi)
        turn = round(angle / (math.pi / 2)) % 4
        level = abs(angle - turn * math.pi / 2) < 0.05 or angle > 2 * math.pi - 0.05
        inferred = bool(raw.FPDFText_IsGenerated(text_page, index))
        if not level and not inferred:
            continue  # a watermark across the page
        if 0xD800 <= code < 0xDC00:  # the first half of a letter, such as an italic of mathematics
            half = code
            continue
        middle = (box.bottom + box.top) / 2  # the baseline may be underlined
        font, is_seen = (0, True) if inferred else look(index, x.value, middle)
        if not is_seen:
            continue
        is_hyphen = code == 0xFFFE or raw.FPDFText_IsHyphen(text_page, index) == 1
        text = HYPHEN if is_hyphen else _letter(code, half)
        half = 0
        glyph = _turned(text, box, x.value, y.value, turn)._replace(inferred=inferred, font=font)
        is_plain = text.isalnum() and text.isascii()
        if turn == 0 and not inferred and (is_plain or text == "." or text in WIDEST):
            raw.FPDFText_GetCharBox(text_page, index, *ink)
            up = ink[2].value - glyph.baseline
            wide, high = ink[1].value - ink[0].value, ink[3].value - ink[2].value
            glyph = glyph._replace(is_odd=_is_odd(text, wide, high, up, glyph.height))
            is_digit = text.isdigit() and not glyph.is_odd
            if is_plain and up > RAISED * glyph.height and (is_digit or text.isalpha()):
                # a raised glyph of the font itself
                glyph = glyph._replace(baseline=ink[2].value, height=0.6 * glyph.height)
        yield glyph


def _is_odd(text: str, wide: float, high: float, up: float, line: float) -> bool:
    """Whether ink of this size, that begins so far above the baseline of a line of this height, is
    none of the character."""
    if text == ".":
        return max(wide, high) > LARGEST_STOP * line
    return (
        wide > WIDEST.get(text, math.inf) * high
        or (text in STANDING and up < DESCENDS * line)
        or (text in HANGING and up > FLAT * line)
    )


def _letter(code: int, half: int) -> str:
    """The character of a code of UTF-16 and the half before it, an italic or bold letter of
    mathematics as the plain one; U+FFFD for a code that means no character."""
    if 0xDC00 <= code < 0xE000 and half:
        code = 0x10000 + ((half - 0xD800) << 10) + code - 0xDC00
    if code >= 0x110000 or (code < 0x20 and not chr(code).isspace()):
        return "\ufffd"
    return unicodedata.normalize("NFKC", chr(code)) if 0x1D400 <= code < 0x1D800 else chr(code)


def _turned(text: str, box: Any, x: float, y: float, turn: int) -> Glyph:
    """The glyph on a page that is turned so that its lines are level."""
    match turn:
        case 1:
            return Glyph(text, box.bottom, box.top, -x, box.right - box.left, turn)
        case 2:
            return Glyph(text, -box.right, -box.left, -y, box.top - box.bottom, turn)
        case 3:
            return Glyph(text, -box.top, -box.bottom, x, box.right - box.left, turn)
        case _:
            return Glyph(text, box.left, box.right, y, box.top - box.bottom, turn)


def _runs(glyphs: list[Glyph]) -> Iterator[list[Any]]:
    """Glyphs that follow each other on a line, in one size; those of another turn are left out."""
    turns = Counter(glyph.turn for glyph in glyphs if not glyph.text.isspace())
    main_turn = turns.most_common(1)[0][0] if turns else 0
    run: list[Any] = []
    fonts: Counter[int] = Counter()
    inferred = is_ligature = False
    box = 0.0, 0.0, 0.0
    for glyph in glyphs:
        if glyph.turn != main_turn and not glyph.text.isspace():
            continue
        if glyph.text == HYPHEN and run:
            run[0] = f"{run[0].rstrip()}-"
            continue
        if glyph.text.isspace():
            inferred = inferred or glyph.inferred
            # one drawn inside a ligature, whose letters have one box, parts nothing
            within = is_ligature and glyph.left + glyph.right < 2 * run[2]
            if run and not (glyph.inferred or within or run[0].endswith(" ")):
                run[0] += " "
            continue
        if run and (composed := _composed(run, glyph, *box[:2])):
            run[0], inferred = composed, False
            run[2] = max(run[2], glyph.right)
            box = glyph.left, glyph.right, glyph.baseline
            continue
        is_ligature = glyph.text.isalpha() and (glyph.left, glyph.right, glyph.baseline) == box
        box = glyph.left, glyph.right, glyph.baseline
        goes_on = run and (is_ligature or _goes_on(run, glyph))
        # A space that pdfium infers counts where there is a gap: a hyphen, a stop or an accent may
        # be drawn by itself. The gap is small behind a slanted f, which reaches over it.
        if run and inferred and not run[0].endswith(" "):
            alone = "-" in (run[0][-1:], glyph.text) or glyph.text in CLOSING
            gap = abs(glyph.left - run[2]) / (run[4] or 1.0)
            run[0] += "" if goes_on and gap < (WIDE_GAP if alone else GAP) else " "
        is_begun = glyph.text.isupper() and run and run[0][-1:] == "." and run[0][-2:-1].islower()
        if goes_on and is_begun and glyph.left - run[2] > SENTENCE_GAP * (run[4] or 1.0):
            run[0] += " "
        inferred = False
        if goes_on:
            run[0] += glyph.text
            run[2] = max(run[2], glyph.right)
        else:
            if run:
                yield [*run, fonts.most_common(1)[0][0]]
            run = [glyph.text, glyph.left, glyph.right, glyph.baseline, glyph.height]
            fonts = Counter()
        fonts[glyph.font] += 1
    if run:
        yield [*run, fonts.most_common(1)[0][0]]


def _composed(run: list[Any], glyph: Glyph, left: float, right: float) -> str | None:
    """The text of the run with the glyph, if that is an accent over its last letter, whose box is
    given, or the letter under its last sign, an accent; None if it is neither."""
    text: str = run[0].rstrip()
    near = abs(glyph.baseline - run[3]) < 0.5 * (run[4] or 1.0)
    if not text or not near:
        return None
    letter, accent, over = text[-1], glyph.text, (glyph.left + glyph.right) / 2
    if letter in ACCENTS:
        letter, accent, over = accent, letter, (left + right) / 2
        left, right = glyph.left, glyph.right
    one = unicodedata.normalize("NFC", letter + ACCENTS.get(accent, ""))
    if accent not in ACCENTS or len(one) != 1 or one == letter or not left < over < right:
        return None
    return text[:-1] + one


def _goes_on(run: list[Any], glyph: Glyph) -> bool:
    """Whether it belongs to the run: a decimal mark, whose box may be its ink, in any size."""
    height = float(run[4]) or 1.0
    is_mark = glyph.text in DECIMAL_MARKS and run[0][-1:].isdigit() and glyph.height < height
    return bool(
        abs(glyph.baseline - run[3]) < 0.08 * height
        and (is_mark or abs(glyph.height - run[4]) < 0.08 * height)
        and -0.5 * height < glyph.left - run[2] < 0.9 * height
    )


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    main()
