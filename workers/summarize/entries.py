"""A record of several days in one text: where each entry begins, and which one is in force. Pure.

What is copied forward is told under the day it was written, and only the latest plan is one.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from knowledge.documents.notes import matcher, section_policy
from workers.summarize.lines import LIST_MARK, Line, label_of
from workers.summarize.names import kind_of

_DATE = re.compile(r"\b(\d{1,2})[/.-](\d{1,2})[/.-](\d{2}|\d{4})\b|\b(\d{4})-(\d{2})-(\d{2})\b")
_DAY = re.compile(
    r"(?i)\b(?:hospital day|post-?op(?:erative)? day|day|hd|pod)(?:\s*+#)?\s*+(\d{1,3})\b"
)
_LETTERS = frozenset("soap")
_LONGEST = 100  # characters of such a heading (ours)


class Entry(NamedTuple):
    """Where the heading of an entry begins, and when it was written; None where that is open."""

    start: int
    when: tuple[int, ...] | None


def entries_of(text: str, lines: Sequence[Line]) -> list[Entry]:
    """The entries of a text that has two or more of them, in its order; else none.

    An entry has lines under its heading, and two or more have parts that are known: a list of
    visits has neither.
    """
    heads: list[Line] = []
    with_parts: set[int] = set()
    last_is_head = False
    for line in lines:
        written = text[line.start : line.end]
        if _is_head(written):
            if last_is_head:
                heads.pop()
            heads.append(line)
            last_is_head = True
            continue
        last_is_head = False
        if heads and _begins_a_part(written):
            with_parts.add(heads[-1].start)
    if last_is_head:
        heads.pop()
    if len(with_parts) < 2:
        return []
    order = _order([text[line.start : line.end] for line in heads])
    return [Entry(line.start, when) for line, when in zip(heads, order, strict=True)]


def earlier(entries: Sequence[Entry], planned: Sequence[int], end: int) -> list[tuple[int, int]]:
    """The places of the entries before the latest that has a plan.

    Args:
        planned: where the parts begin that plan something, in order.
        end: of the text.
    """
    ends = [*(one.start for one in entries[1:]), end]
    places = [(one.start, stop) for one, stop in zip(entries, ends, strict=False)]
    dated = [
        (one.when, place)
        for one, place in zip(entries, places, strict=True)
        if one.when is not None
    ]
    in_force = [when for when, (start, stop) in dated if _any_within(planned, start, stop)]
    if not in_force:
        return []
    latest = max(in_force)
    return [place for when, place in dated if when < latest]


def _any_within(places: Sequence[int], start: int, stop: int) -> bool:
    return bisect_left(places, start) < bisect_left(places, stop)


def _begins_a_part(written: str) -> bool:
    name = label_of(written) if ":" in written else written
    if not name or len(name) > _LONGEST:
        return False
    return name.casefold() in _LETTERS or kind_of(name) is not None


def _is_head(written: str) -> bool:
    if len(written) > _LONGEST or written[-1:] in ".;," or LIST_MARK.match(written):
        return False
    dated = _DATE.search(written) is not None or _DAY.search(written) is not None
    return dated and _names().search(written.casefold()) is not None


@cache
def _names() -> re.Pattern[str]:
    return matcher(section_policy().entry_names)


def _order(heads: Sequence[str]) -> list[tuple[int, ...] | None]:
    """When each was written, comparable with the others: by dates that can be read in one way, or
    by the numbers of days; None for all where neither orders them."""
    dates = [_DATE.search(one) for one in heads]
    if all(dates):
        found = [one for one in dates if one is not None]
        ways = [
            way for month_first in (True, False) if (way := _dates(found, month_first)) is not None
        ]
        if ways and all(_ranks(way) == _ranks(ways[0]) for way in ways):
            return list(ways[0])
    days = [_DAY.search(one) for one in heads]
    if all(days):
        return [(int(one[1]),) for one in days if one is not None]
    return [None] * len(heads)


def _dates(found: Sequence[re.Match[str]], month_first: bool) -> list[tuple[int, ...]] | None:
    read: list[tuple[int, ...]] = []
    for one in found:
        if one[4]:
            year, month, day = int(one[4]), int(one[5]), int(one[6])
        else:
            month, day = (int(one[1]), int(one[2])) if month_first else (int(one[2]), int(one[1]))
            year = int(one[3]) % 100 + 2000
        if not (1 <= month <= 12 and 1 <= day <= 31):
            return None
        read.append((year, month, day))
    return read


def _ranks(way: Sequence[tuple[int, ...]]) -> list[int]:
    ranks = {one: rank for rank, one in enumerate(sorted(set(way)))}
    return [ranks[one] for one in way]
