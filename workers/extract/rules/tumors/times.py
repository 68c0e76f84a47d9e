"""Is a value that of an earlier time, where the document tells of a later one? Pure."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from workers.extract.fields import Found
from workers.extract.parts import clause
from workers.extract.rubrics import alternatives, any_of
from workers.extract.rules.tumors.tumor_words import tumor_words

_YEAR = re.compile(r"(?<![\d.,])(?:19|20)\d\d(?![\d.,]*\d)")
_BEFORE = re.compile(r"(?i);|\b(?:and|but|whereas)\b")
_BEHIND = re.compile(r"(?i)[;,]|\b(?:and|but|whereas|which|now|compared|since|than|from|"
                     r"versus|vs)\b")  # fmt: skip
_SENTENCE = 160
"""Characters of the next sentence that are looked at (ours)."""


@cache
def _earlier() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Finds an earlier time just before a value, and just behind one."""
    words = alternatives(tumor_words().times.earlier)
    return (
        re.compile(rf"(?i)\b(?:{words})(?:\s++[a-z]+){{0,3}}\s*+\(?\s*+$"),
        re.compile(rf"(?i)\W{{0,80}}+(?:[a-z]{{1,40}}\s++){{0,3}}?(?:{words})\b(?!\s++to\b)"),
    )


@cache
def _past() -> re.Pattern[str]:
    return any_of(tumor_words().times.past)


@cache
def _present() -> re.Pattern[str]:
    """A word of the present with a number near it, which is not that of another lesion."""
    times = tumor_words().times
    other = alternatives(times.another)
    word = rf"(?<![a-z])(?:{alternatives(times.present)})(?![a-z])"
    gap = rf"(?:(?!\b(?:{other})\b)[^.;\d\n]){{0,40}}?"
    return re.compile(rf"(?i){word}{gap}\d|\d[^.;\d\n]{{0,20}}?{word}")


def present(text: str, found: Sequence[Found]) -> list[Found]:
    """The values that are of no earlier time than others that the document tells of."""
    told = [_told(text, one, *gap) for one, gap in zip(found, _gaps(text, found), strict=True)]
    last = max((one.year for one in told), default="")
    return [
        one
        for one, words in zip(found, told, strict=True)
        if not (words.year and words.year < last) and not _of_earlier_times(text, one, words)
    ]


class _Told(NamedTuple):
    """The words before and behind a value that are about it, not about the next; their year."""

    before: str
    behind: str
    year: str


def _gaps(text: str, found: Sequence[Found]) -> list[tuple[int, int]]:
    """For each value, where the one before it ends and the next begins."""
    starts, ends = sorted(one.start for one in found), sorted(one.end for one in found)
    gaps = []
    for one in found:
        before, behind = bisect_right(ends, one.start) - 1, bisect_left(starts, one.end)
        start = ends[before] if before >= 0 else 0
        gaps.append((start, starts[behind] if behind < len(starts) else len(text)))
    return gaps


def _told(text: str, one: Found, start: int, end: int) -> _Told:
    begin, stop = clause(text, one.start, one.end)
    before = _BEFORE.split(text[max(begin, start) : one.start])[-1]
    behind = _BEHIND.split(text[one.end : min(stop, end)])[0]
    years = _YEAR.findall(behind) or _YEAR.findall(before)
    return _Told(before, behind, years[-1] if years else "")


def _of_earlier_times(text: str, one: Found, told: _Told) -> bool:
    if _earlier()[0].search(told.before) or _earlier()[1].match(told.behind):
        return True
    begin, stop = clause(text, one.start, one.end)
    if told.year and max(_YEAR.findall(text[begin:stop]), default="") > told.year:
        return True
    words = told.before + text[one.start : one.end]
    if _present().search(words) or not (told.year or _past().search(words)):
        return False
    # "was 8 mm and now measures 14 mm", or so in the next sentence
    later = clause(text, stop + 2, stop + 2)[1] if stop + 2 < len(text) else stop
    return _present().search(text[one.end : min(later, stop + _SENTENCE)]) is not None
