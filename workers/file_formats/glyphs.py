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
    box, x, y = raw.FS_RECTF(), ctypes.c_double(), ctypes.c_double()
    ink = [ctypes.c_double() for _ in range(4)]
    for index in range(min(raw.FPDFText_CountChars(text_page), most)):
        code = raw.FPDFText_GetUnicode(text_page, index)
        if code in (0x0A, 0x0D):
            continue
        raw.FPDFText_GetLooseCharBox(text_page, index, box)
        raw.FPDFText_GetCharOrigin(text_page, index, x, y)
        angle = raw.FPDFText_GetCharAngle(text_page, index)
        turn = round(angle / (math.pi / 2)) % 4 if angle > 0 else 0
        level = abs(angle - turn * math.pi / 2) < 0.05 or angle > 2 * math.pi - 0.05
        inferred = bool(raw.FPDFText_IsGenerated(text_page, index))
        if not level and not inferred:
            continue  # a watermark across the page
        text = HYPHEN if code in (0x02, 0xFFFE) else chr(code) if code < 0x110000 else "\ufffd"
        glyph = _turned(text, box, x.value, y.value, turn)._replace(inferred=inferred)
        if turn == 0 and not inferred and text.isalnum() and text.isascii():
            raw.FPDFText_GetCharBox(text_page, index, *ink)
            up = ink[2].value - glyph.baseline
            if up > RAISED * glyph.height:  # a raised glyph of the font itself
                glyph = glyph._replace(baseline=ink[2].value, height=0.6 * glyph.height)
        yield glyph


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
        is_ligature = glyph.text.isalpha() and (glyph.left, glyph.right, glyph.baseline) == box
        box = glyph.left, glyph.right, glyph.baseline
        goes_on = run and (is_ligature or _goes_on(run, glyph))
        # A space that pdfium infers counts where there is a gap: a hyphen may be drawn by itself.
        if run and inferred and not run[0].endswith(" "):
            near = abs(glyph.left - run[2]) < 0.1 * run[4] and goes_on
            run[0] += "" if near else " "
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
