"""Reads where the glyphs of a PDF stand, in a process of its own, all that a hostile file can kill.

    python -I workers/file_formats/glyphs.py < FILE > RUNS

Writes one line of JSON a page: its runs, in the order in which the page draws them, each
`[text, left, right, baseline, height]` in points from the lower left corner as the page is read.
The caller sets the time limit.
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
        "\u00a8\u00b4`\u02c6\u02dc\u00b8\u02c7\u02da\u00af",
        "\u0308\u0301\u0300\u0302\u0303\u0327\u030c\u030a\u0304",
        strict=True,
    )
)
"""Accents that are drawn over a letter as signs of their own: a composed letter is one."""
CLOSING = frozenset(".,;:)]")
GAP, WIDE_GAP = 0.05, 0.1
"""Glyphs nearer than this stand in one word, whatever pdfium infers, in heights. Ours: in nine
files gaps between words were 0.053 and more but in some italics, in formulas at most 0.046."""
MOST_GLYPHS = 4_000_000
"""Ours: four times the longest text that is stored."""


class Glyph(NamedTuple):
    """A character with its place; `turn` is the angle of its line, in quarters. `inferred`: pdfium
    adds it between words, and it stands nowhere."""

    text: str
    left: float
    right: float
    baseline: float
    height: float
    turn: int
    inferred: bool = False


def main() -> None:
    """Read the PDF on standard input and write its runs to standard output."""
    # here, not above: the limit on memory is set before anything is loaded
    import pypdfium2 as pdfium  # type: ignore[import-untyped]

    document = pdfium.PdfDocument(sys.stdin.buffer.read())
    left = MOST_GLYPHS
    for page in document:
        text_page = page.get_textpage()
        glyphs = list(_glyphs(pdfium.raw, text_page, left))
        left -= len(glyphs)
        sys.stdout.write(f"{json.dumps(list(_runs(glyphs)))}\n")
        text_page.close()
        page.close()


def _glyphs(raw: Any, text_page: Any, most: int) -> Iterator[Glyph]:
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
        is_hyphen = code == 0xFFFE or raw.FPDFText_IsHyphen(text_page, index) == 1
        text = HYPHEN if is_hyphen else _letter(code, half)
        half = 0
        glyph = _turned(text, box, x.value, y.value, turn)._replace(inferred=inferred)
        if turn == 0 and not inferred and text.isalnum() and text.isascii():
            raw.FPDFText_GetCharBox(text_page, index, *ink)
            up = ink[2].value - glyph.baseline
            if up > RAISED * glyph.height:  # a raised glyph of the font itself
                glyph = glyph._replace(baseline=ink[2].value, height=0.6 * glyph.height)
        yield glyph


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
        inferred = False
        if goes_on:
            run[0] += glyph.text
            run[2] = max(run[2], glyph.right)
        else:
            if run:
                yield run
            run = [glyph.text, glyph.left, glyph.right, glyph.baseline, glyph.height]
    if run:
        yield run


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
