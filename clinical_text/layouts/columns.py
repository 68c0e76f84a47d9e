"""What the columns of rows are, by what stands in them. Pure."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

LONGEST_NAME, MOST_WORDS = 48, 7
"""Characters and words of a cell that names something (ours)."""
_MOST_FIGURES, _FLAG_SHARE = 0.3, 0.4
"""The share of names that may have a digit; the different words of a column that only flags, for
each of its rows (ours)."""
_LETTERS = re.compile(r"[^\W\d_]{2}")
_COUNTER = re.compile(r"\d{1,6}")
_CODE = re.compile(r"[A-Z]{0,4}[-_]?\d[\w-]*")
_DAY = re.compile(r"(?:\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|(?:19|20)\d{6})(?:[ T]\S*)?")
_NUMBER = re.compile(r"[<>]?\d[\d.,]*")
_UNIT = re.compile(r"(?=.{0,30}[/%])[A-Za-zµ%\d^*.]{1,12}(?:/[A-Za-zµ\d^*.]{1,8}){0,2}")
_AMOUNT = re.compile(r"\d[\d.,/]{0,9}\s?[A-Za-zµ%][A-Za-zµ%/]{0,8}")


class Columns(NamedTuple):
    """What the columns of a block are, by number."""

    same: frozenset[int]
    counts: frozenset[int]
    pair: tuple[int, int] | None
    """The column that names and the one that says what is named."""
    amounts: frozenset[int]
    """Those of numbers with their units: they belong to the name before them."""


def columns_of(rows: Sequence[Sequence[str]]) -> Columns:
    """What the cells of rows are; every row has as many."""
    words = [[row[at] for row in rows] for at in range(len(rows[0]))]
    same = frozenset(at for at, one in enumerate(words) if len(set(one)) == 1 and one[0])
    counts = frozenset(at for at, one in enumerate(words) if at not in same and _counts(one))
    free = [at for at in range(len(words)) if at not in same | counts]
    pair = _pair(words, free)
    if pair is None:
        # of a table only what stands before its names says nothing of a row
        first = free[0] if free else len(words)
        same, counts = (frozenset(at for at in one if at < first) for one in (same, counts))
        free = [at for at in range(len(words)) if at not in same | counts]
    amounts = frozenset(at for at in free if _all(_AMOUNT, words[at]) and at - 1 in free)
    return Columns(same, counts, pair, amounts)


def tells(words: str) -> bool:
    """Whether what all rows repeat is a name or a day, and no number of a file."""
    return _DAY.fullmatch(words) is not None or (
        _LETTERS.search(words) is not None and _CODE.fullmatch(words) is None
    )


def is_day(words: str) -> bool:
    """Whether words are a day in figures."""
    return _DAY.fullmatch(words) is not None


def measured(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the rows are results: a column of numbers, and one of units."""
    columns = [[row[at] for row in rows] for at in range(len(rows[0]))]
    numbers = any(_most(_NUMBER, one) for one in columns)
    units = (one for one in columns if _most(_UNIT, one))
    return numbers and any("/" in cell for one in units for cell in one)


def names(words: str) -> bool:
    """Whether words are such as name something."""
    return len(words) <= LONGEST_NAME and _LETTERS.search(words) is not None


def _counts(column: Sequence[str]) -> bool:
    """Whether a column only counts its rows, all of them or those of each name."""
    if not all(_COUNTER.fullmatch(one) for one in column):
        return False
    numbers = [int(one) for one in column]
    return numbers[0] < 2 and all(b in (a, a + 1, 1) for a, b in pairwise(numbers))


def _pair(columns: Sequence[Sequence[str]], free: Sequence[int]) -> tuple[int, int] | None:
    """The column that names and the one that says, where no other tells anything but a day, a code
    or a flag."""
    told = [at for at in free if any(_LETTERS.search(one) for one in columns[at])]
    others = [at for at in free if at not in told]
    if len(columns) == 2 and len(free) == 2:
        said, named = 1, [0]
    else:
        told = [at for at in told if not _all(_CODE, columns[at])]
        if len(told) < 2 or not all(_all(_DAY, columns[at]) for at in others):
            return None
        said = max(told, key=lambda at: sum(len(one.split()) for one in columns[at]))
        flags = {at for at in told if len(set(columns[at])) <= _FLAG_SHARE * len(columns[at])}
        named = [at for at in told if at < said]
        if len(told) > 2:
            named = [at for at in named if set(told) - {at, said} <= flags]
    fits = [at for at in named if _are_names(columns[at])]
    figures = sum(one[:1].isdigit() for one in columns[said])
    if not fits or (len(columns) == 2 and figures > 2 * _MOST_FIGURES * len(columns[said])):
        return None
    return fits[-1], said


def _all(pattern: re.Pattern[str], column: Sequence[str]) -> bool:
    return all(pattern.fullmatch(one) for one in column if one)


def _most(pattern: re.Pattern[str], column: Sequence[str]) -> bool:
    return sum(pattern.fullmatch(one) is not None for one in column) * 2 > len(column)


def _are_names(column: Sequence[str]) -> bool:
    """Whether the cells of a column are names, of more than one thing."""
    figures = sum(any(sign.isdigit() for sign in one) for one in column)
    short = all(names(one) for one in column if one)
    return short and figures <= _MOST_FIGURES * len(column) and len(set(column)) > 1
