"""The day that words name which are known to name one, in any notation. Pure.

`numbers.days` finds days in running text and must leave what could be something else. Here
somebody says that the words are a date: a reader, a model or a person. So any order, mark and
language of the month will do, as long as the words name one day and no other.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from functools import cache
from typing import NamedTuple

from clinical_text.numbers.notation import PAD, in_digits
from knowledge.loader import load
from workers.extract.values import Day

_CENTURY, _LAST_CENTURY = 2000, 40
"""A year of two digits is one of this century below 40, of the last from there on (ours)."""
_PIECE = re.compile(r"\d+|[^\W\d_]+")
_TIME = re.compile(
    r"(?i)\b\d{1,2}[:.]\d\d(?::\d\d)?\s?(?:[ap]\.?m\.?|h(?:rs|ours)?|uhr)?\b(?![./-])|"
    r"\b\d{3,4}\s?h(?:rs|ours)?\b|T\d\d:?\d\d\S*"
)
_TOGETHER = re.compile(
    r"(?P<y>(?:19|20)\d\d)(?P<m>[01]\d)(?P<d>[0-3]\d)(?:[0-2]\d[0-5]\d(?:\d\d)?)?"
)
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
_MOST_OTHER_WORDS = 5
"""Other words beside a day: its weekday, "the", "of" (ours)."""


class Named(NamedTuple):
    """A day of a month, and its year if the words have one; `other`: the day read the other way."""

    year: int | None
    month: int
    day: int
    other: tuple[int, int] | None = None


def written_day(words: str) -> Day | None:
    """The one full day that `words` name; None where they name none or several."""
    named = _named(words)
    if named is None or named.year is None:
        return None
    first = _iso(named.year, named.month, named.day)
    other = _iso(named.year, *named.other) if named.other else None
    if first is None:
        return Day(iso=other) if other else None
    return Day(iso=first, other=other)


def day_before(words: str, latest: str) -> Day | None:
    """The day of a month that `words` name without its year, the last one not after `latest`.

    Args:
        latest: the day of the document, `YYYY-MM-DD`.
    """
    named = _named(words)
    if named is None or named.year is not None or named.other:
        return None
    year = int(latest[:4])
    found = (_iso(one, named.month, named.day) for one in (year, year - 1))
    iso = next((one for one in found if one is not None and one <= latest), None)
    return Day(iso=iso) if iso else None


def _named(words: str) -> Named | None:
    together = _TOGETHER.fullmatch(words.strip())
    if together is not None:
        return Named(int(together["y"]), int(together["m"]), int(together["d"]))
    spelled = _ORDINAL.sub(lambda one: str(_ordinals()[_key(one[0])]), words)
    plain = in_digits(_TIME.sub(" ", spelled)).replace(PAD, "")
    pieces = _PIECE.findall(plain.lower())
    numbers, month, others = [], None, 0
    for n, piece in enumerate(pieces):
        if piece.isdigit():
            numbers.append(piece)
        elif (named := _month(piece, pieces[n - 1 : n], pieces[n + 1 : n + 2])) is not None:
            if month is not None:
                return None
            month = named
        elif piece not in _BEHIND_NUMBERS:
            others += 1
    if others > _MOST_OTHER_WORDS:
        return None
    if month is None:
        return _of_figures(numbers)
    return _of_a_named_month(month, _joined(numbers))


def _of_figures(numbers: Sequence[str]) -> Named | None:
    """Day, month and year in figures, the year last or first."""
    if len(numbers) != 3 or len(numbers[1]) > 2:
        return None
    first, middle, last = map(int, numbers)
    if len(numbers[0]) == 4:
        return Named(first, middle, last)
    if len(numbers[2]) not in (2, 4):
        return None
    other = (first, middle) if first != middle else None
    return Named(_year(numbers[2]), middle, first, other)


def _of_a_named_month(month: int, numbers: Sequence[str]) -> Named | None:
    """A day and perhaps a year beside a month that is named."""
    if len(numbers) == 1 and len(numbers[0]) <= 2:
        return Named(None, month, int(numbers[0]))
    if len(numbers) != 2:
        return None
    one, other = numbers
    if len(one) == 4:
        one, other = other, one
    if len(one) > 2 or len(other) not in (2, 4):
        return None
    return Named(_year(other), month, int(one))


def _joined(numbers: Sequence[str]) -> Sequence[str]:
    """A year that is spoken in two numbers, "twenty twenty-four", as one."""
    if len(numbers) == 3 and numbers[1] in ("19", "20") and len(numbers[2]) == 2:
        return [numbers[0], numbers[1] + numbers[2]]
    return numbers


def _year(digits: str) -> int:
    number = int(digits)
    if len(digits) == 4:
        return number
    return number + (_CENTURY if number < _LAST_CENTURY else _CENTURY - 100)


def _month(piece: str, before: Sequence[str], behind: Sequence[str]) -> int | None:
    """The month that a word is; a Roman number only between figures."""
    if piece in _ROMAN:
        figures = [*before, *behind]
        return (
            _ROMAN.index(piece) + 1
            if len(figures) == 2 and all(map(str.isdigit, figures))
            else None
        )
    found = _months().get(piece)
    if found is None and len(piece) >= 3:
        found = next((n for n, name in enumerate(_ENGLISH, 1) if name.startswith(piece)), None)
    return found


_ENGLISH = ("january", "february", "march", "april", "may", "june", "july", "august", "september",
            "october", "november", "december")  # fmt: skip
_BEHIND_NUMBERS = frozenset(["st", "nd", "rd", "th", "er"])


@cache
def _months() -> Mapping[str, int]:
    table: Mapping[int, Sequence[str]] = load("documents/months")["months"]
    return {name: number for number, every in table.items() for name in every}


_FIRST = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth",
    "eighteenth", "nineteenth", "twentieth",
)  # fmt: skip
_ORDINAL = re.compile(
    rf"(?i)\b(?:(?:twenty|thirty)[ -](?:{'|'.join(_FIRST[:9])})|thirtieth|{'|'.join(_FIRST)})\b"
)


@cache
def _ordinals() -> Mapping[str, int]:
    units = {word: n for n, word in enumerate(_FIRST, 1)}
    tens = {f"{ten}-{word}": base + units[word]
            for ten, base in (("twenty", 20), ("thirty", 30)) for word in _FIRST[:9]}  # fmt: skip
    return {**units, **tens, "thirtieth": 30}


def _key(words: str) -> str:
    return words.lower().replace(" ", "-")


def _iso(year: int, month: int, day: int) -> str | None:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None
