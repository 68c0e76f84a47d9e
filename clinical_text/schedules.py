"""How often something is given or done: "three times a week", "q8h", "in alternate weeks". Pure.

A schedule is so many times in a period; ways to write one that mean the same have the same name.
The grammar is open in numbers and units. Latin abbreviations as in the ISMP list of error-prone
abbreviations.
"""

import re
from collections.abc import Iterator
from math import gcd
from typing import NamedTuple

from clinical_text.numbers.notation import PAD, in_digits

_MONTHS_OF_WEEKS = {12: 3, 24: 6, 26: 6, 52: 12}
"""Weeks that are written for so many months (ours): "every 12 weeks" is quarterly."""
_TIMES = {"once": 1, "twice": 2, "thrice": 3}
_NTH = {"other": 2, "second": 2, "alternate": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6}
_ADVERBS = {
    "hourly": (1, "hour"),
    "daily": (1, "day"),
    "nightly": (1, "day"),
    "weekly": (1, "week"),
    "fortnightly": (2, "week"),
    "biweekly": (2, "week"),
    "bi-weekly": (2, "week"),
    "monthly": (1, "month"),
    "bimonthly": (2, "month"),
    "quarterly": (3, "month"),
    "half-yearly": (6, "month"),
    "semiannually": (6, "month"),
    "biannually": (6, "month"),
    "yearly": (1, "year"),
    "annually": (1, "year"),
    "annual": (1, "year"),
}
"""The period of each, as it is mostly meant; "twice weekly" is counted by its first word."""
_LATIN = {
    "qd": 1, "q.d.": 1, "od": 1, "bid": 2, "b.i.d.": 2, "bd": 2, "tid": 3, "t.i.d.": 3, "tds": 3,
    "qid": 4, "q.i.d.": 4, "qds": 4,
}  # fmt: skip
"""Times a day."""
_UNIT = r"(?:hours?|hrs?|h|days?|nights?|weeks?|fortnights?|months?|years?)"
_ADVERB = "|".join(sorted(map(re.escape, _ADVERBS), key=len, reverse=True))
_GAP = r"[\s-]{1,14}"
"""Blanks and hyphens, and what fills the place of a spelled number."""
_COUNT = rf"(?P<count>once|twice|thrice|\d{{1,2}}{_GAP}(?:times?|x|doses?)|\d{{1,2}}x)"
_N = r"\d{1,3}(?:\s?(?:-|–|to|or)\s?\d{1,3})?"
_EACH = rf"(?:(?P<n>{_N}){_GAP}?|(?P<nth>{'|'.join(_NTH)}){_GAP})?(?P<unit>{_UNIT})"
_SCHEDULE = re.compile(
    rf"(?i)(?<![\w.-])(?:"
    rf"(?:{_COUNT}{_GAP})?(?:every|each){_GAP}{_EACH}(?![\w])"
    rf"|{_COUNT.replace('count', 'count2')}(?:{_GAP}(?:a|an|per){_GAP}|\s?/\s?)"
    rf"(?P<unit2>{_UNIT})(?!\w)"
    rf"|(?:{_COUNT.replace('count', 'count3')}{_GAP})?(?P<adverb>{_ADVERB})(?![\w-])"
    rf"|(?P<ly>\d{{1,2}})-(?P<lyunit>hour|dai|week|month|year)ly(?!\w)"
    rf"|q\s?(?P<q>{_N})\s?(?P<qunit>h(?:rs?)?|hours?|d|days?|w(?:k|eeks?)?|m|months?)(?!\w)"
    rf"|(?:(?P<alternate>alternate|alt\.?)|per){_GAP}(?P<unit3>{_UNIT})(?!\w)|(?P<aday>a day)(?!\w)"
    rf"|(?P<latin>{'|'.join(sorted(map(re.escape, _LATIN), key=len, reverse=True))})(?!\w)"
    rf"|(?P<qod>qod|q\.o\.d\.)(?!\w)|(?P<qw>qw)(?!\w)"
    rf"|(?P<once>(?:a{_GAP})?(?:single|one|1){_GAP}(?:doses?|injection|infusion))(?!\w)"
    rf")"
)


class Schedule(NamedTuple):
    """Words that say how often; `start` and `end` count code points of the text."""

    name: str
    start: int
    end: int


def schedules(text: str) -> list[Schedule]:
    """The schedules of `text` in order; no two overlap."""
    return list(_found(in_digits(text)))


def _found(text: str) -> Iterator[Schedule]:
    for match in _SCHEDULE.finditer(text):
        name = _name(match)
        if name is not None:
            start = match.start()
            while start and text[start - 1] == PAD:  # the word of which a digit is left
                start -= 1
            yield Schedule(name, start, match.end())


def _name(match: re.Match[str]) -> str | None:
    said = {name: words.lower() for name, words in match.groupdict().items() if words}
    count = _count(said.get("count") or said.get("count2") or said.get("count3") or "once")
    if "once" in said:
        return "a single time"
    if "latin" in said:
        return _plain(_LATIN[said["latin"]], 1, "day")
    if "qod" in said:
        return _plain(1, 2, "day")
    if "aday" in said:  # "a week" alone is how long as often as how often
        return _plain(1, 1, "day")
    if "qw" in said:
        return _plain(1, 1, "week")
    if "adverb" in said:
        every, unit = _ADVERBS[said["adverb"]]
        if "count3" in said and said["adverb"] in {"biweekly", "bi-weekly", "bimonthly"}:
            return None  # "twice biweekly" says nothing for certain
        return _plain(count, every, unit)
    if "ly" in said:
        unit = {"dai": "day"}.get(said["lyunit"], said["lyunit"])
        return _plain(1, int(said["ly"]), unit)
    number = said.get("n") or said.get("q") or ""
    unit = _unit(said.get("unit") or said.get("unit2") or said.get("unit3") or said["qunit"])
    if re.search(r"\D", number):
        lowest, highest = re.findall(r"\d+", number)
        return f"{count} per {lowest} to {highest} {unit}s"
    every = int(number or 1) if number else _NTH.get(said.get("nth", ""), 1)
    if "alternate" in said:
        every = 2
    return _plain(count, every, unit) if every else None


def _count(words: str) -> int:
    return _TIMES.get(words) or int(re.sub(r"\D", "", words) or 1)


def _unit(words: str) -> str:
    if words.startswith("h"):
        return "hour"
    if words in {"d", "night", "nights"}:
        return "day"
    if words.startswith("w"):
        return "week"
    if words.startswith("m"):
        return "month"
    return words.removesuffix("s")


def _plain(count: int, every: int, unit: str) -> str:
    """One name for `count` times in `every` units."""
    if unit == "fortnight":
        every, unit = every * 2, "week"
    if unit == "year":
        every, unit = every * 12, "month"
    if unit == "hour" and 24 % every == 0:
        count, every, unit = count * 24 // every, 1, "day"
    if unit == "hour" and every % 24 == 0:
        every, unit = every // 24, "day"
    if unit == "day" and every % 7 == 0:
        every, unit = every // 7, "week"
    if unit == "week" and every in _MONTHS_OF_WEEKS:
        every, unit = _MONTHS_OF_WEEKS[every], "month"
    if unit != "week":  # twice a week is no dose every 3.5 days; twice in 2 days is daily
        shared = gcd(count, every)
        count, every = count // shared, every // shared
    return f"{count} per {every} {unit}s"
