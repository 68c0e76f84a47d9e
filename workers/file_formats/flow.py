"""Puts the pages of a PDF, as `layout` reads them, into one text. Pure.

A sentence that runs on to the next page is one, and figures and tables between its parts stand
behind it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from workers.file_formats.layout import Laid

MOST_FLOATS = 40
"""Paragraphs of figures and tables that part a sentence."""
PROSE_BEGIN, LEAST_PROSE = 200, 12
"""Characters that show whether a paragraph is prose, and the fewest words of one."""

_CAPTION = re.compile(r"(?:figure|fig\.?|table|box|scheme|chart) ?\w{1,4}\b", re.IGNORECASE)
_UNFINISHED = re.compile(r"(?:[^\W\d_]{1,40}+,? ){6}[^\W_]{1,40}+[,-]?\s?\Z")
"""The end of a line of prose within a sentence."""
_REST = re.compile(r"[a-z]{2,40}[,;]?\s")


def whole(pages: Iterable[Laid]) -> str:
    """The pages as one text, the notes behind it; a sentence that runs on to the next page is
    parted by a line's end only, and figures and tables between its parts stand behind it."""
    paragraphs: list[str] = []
    notes: list[str] = []
    for page in pages:
        notes += page.notes
        text = page.text.strip("\n")
        if not text.strip():
            continue
        following = text.split("\n\n")
        if paragraphs:
            runs_on = text.lstrip()[0].islower() and paragraphs[-1].rstrip()[-1:] not in ".!?:;"
            if runs_on:
                paragraphs[-1] += f"\n{following.pop(0)}"
        paragraphs += following
    return "\n\n".join(filter(None, [*_with_floats_behind(paragraphs), *notes]))


def _with_floats_behind(paragraphs: Sequence[str]) -> Iterator[str]:
    """The paragraphs, with figures and tables that part one of them behind it."""
    at = 0
    while at < len(paragraphs):
        floats: list[str] = []
        parts, end = [paragraphs[at]], at + 1
        while _is_prose(parts[0]) and (rest := _rest(parts[-1], paragraphs, end)) is not None:
            floats += paragraphs[end:rest]
            parted = parts[-1].endswith("-")
            parts[-1] = parts[-1].removesuffix("-")
            parts += [paragraphs[rest]] if parted else ["\n", paragraphs[rest]]
            end = rest + 1
        yield "".join(parts)
        yield from floats
        at = end


def _rest(text: str, paragraphs: Sequence[str], after: int) -> int | None:
    """Where a paragraph goes on behind figures or tables that part it; None if none do."""
    if _UNFINISHED.search(text[-200:]) is None:
        return None
    captions = 0
    for at in range(after, min(after + MOST_FLOATS, len(paragraphs))):
        one = paragraphs[at]
        prose = _is_prose(one)
        if prose and _REST.match(one):
            return at if captions else None
        is_caption = _CAPTION.match(one) is not None
        if prose and not is_caption:
            return None
        captions += is_caption
    return None


def _is_prose(paragraph: str) -> bool:
    """Whether a paragraph begins as sentences do, and no table or label of a figure does."""
    begin = paragraph[:PROSE_BEGIN]
    words = begin.split()
    plain = sum(word.strip(",;:().").isalpha() for word in words)
    return "  " not in begin and len(words) >= LEAST_PROSE and plain > 0.7 * len(words)
