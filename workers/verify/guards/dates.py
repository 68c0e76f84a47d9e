"""A date of a claim is a date of its passage, of the same event (DESIGN section 2, invariant 6).

Pure. A claim may say less of a date than the passage (the year for the day), never more or another.
Durations are quantities: the numbers guard compares them.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from knowledge.guard_terms import date_terms
from workers.verify.guards.finding import Finding
from workers.verify.guards.grounds import Grounds
from workers.verify.guards.lexing import fold

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)(?![a-z])\.?"
)
_YEAR = r"(?:19|20)\d\d"
_DAY = r"(?:[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?(?![\d.]*\d)"
_PART = (
    r"first half|second half|first quarter|second quarter|third quarter|fourth quarter|q[1-4]"
    r"|early|mid|late|end|beginning|spring|summer|autumn|fall|winter"
)
_DATE = re.compile(
    rf"""(?ix)(?<![\w.·/$€£−])(?:
      (?P<iy>{_YEAR})-(?P<im>0[1-9]|1[0-2])-(?P<id>[0-2]\d|3[01])
    | (?P<sa>\d{{1,2}})[/.](?P<sb>\d{{1,2}})[/.](?P<sy>{_YEAR})
    | (?P<dd>{_DAY})\s+(?:of\s+)?(?P<dm>{_MONTH})(?:,?\s+(?P<dy>{_YEAR}))?
    | (?P<mm>{_MONTH}),?\s+(?:(?P<md>{_DAY})(?:,?\s+(?P<mdy>{_YEAR}))?|(?:of\s+)?(?P<my>{_YEAR}))
    | (?P<part>{_PART})(?:\s+of)?(?:\s+|-)(?P<py>{_YEAR})
    | (?P<decade>(?:19|20)\d0s)
    | (?P<y>{_YEAR})(?:-(?P<y2>\d\d)(?![\d-]))?
    )(?![\w°%]|[.,·]\d|\s?(?:patients|participants|subjects|women|men|people|cases|mg|ml|%))"""
)
# A month without a year. "May" and "March" are words as well: a preposition shows the month.
_LONE_MONTH = re.compile(
    r"(?<!\w)(?P<mm>January|February|April|June|July|August|September|October|November|December"
    r"|(?:(?<=in )|(?<=between )|(?<=from )|(?<=to )|(?<=and )|(?<=since )|(?<=until ))"
    r"(?:May|March))(?!\w)"
)
_RANGE = re.compile(r"(?i)[\s,]{0,20}(?:-|to|and|through|until|till)\s{0,20}(?:the\s{1,20})?")
_BREAK = re.compile(r"(?i)[,;:().]|\b(?:and|but|while|whereas|then)\b")


@dataclass(frozen=True, slots=True)
class _Date:
    """A date at `[start, end)`; what a text leaves open is None. `turned` holds the two numbers of
    a date whose day and month may stand either way."""

    start: int
    end: int
    raw: str
    year: int | None = None
    month: int | None = None
    day: int | None = None
    part: str | None = None
    turned: frozenset[int] | None = None
    event: str | None = None
    edge: str | None = None
    bound: str | None = None


def guard(claim: str, grounds: Grounds) -> list[Finding]:
    """The dates of `claim` that its passage does not give, or gives for another event."""
    claimed = _dates(fold(claim))
    if not claimed:
        return []
    passage = fold(grounds.passage)
    stated, around = _dates(passage), list(_of_the_document(grounds))
    findings: list[Finding] = []
    for date in claimed:
        same = [one for one in stated if _says(date, one)]
        same = same or [one for one in around if _says(date, one)]
        if not same:
            findings.append(Finding("date", f"“{date.raw}” is not in the passage", unsaid=True))
        elif date.event and not any(one.event in (date.event, None) for one in same):
            detail = f"“{date.raw}” is the date of “{same[0].event}”, not of “{date.event}”"
            findings.append(Finding("date_event", detail))
        elif not _is_stated(date, same, passage):
            detail = f"the passage does not say “{date.event}”"
            findings.append(Finding("date_event", detail, unsaid=True))
        elif not any(_same_place(date, one) for one in same):
            findings.append(Finding("date_order", f"“{date.raw}” bounds the time another way"))
    return findings


def _is_stated(date: _Date, same: Sequence[_Date], passage: str) -> bool:
    """Whether the passage speaks of the event at all, where that may not be guessed."""
    if date.event not in date_terms().stated_events:
        return True
    return any(one.event == date.event for one in same) or any(
        event == date.event for event, _ in _events(passage)
    )


def spans_of_dates(text: str) -> list[tuple[int, int]]:
    """Where a folded text has dates: a month is no name of anything else."""
    return [match.span() for match in _DATE.finditer(text)]


@lru_cache(maxsize=64)
def months_of(text: str) -> frozenset[int]:
    """The months that the dates of a text give, 1..12: "2020-11" is in November."""
    return frozenset(one.month for one in _dates(fold(text)) if one.month is not None)


def _same_place(date: _Date, one: _Date) -> bool:
    mine, its = _side(date), _side(one)
    return mine is None or its is None or mine == its


def _side(date: _Date) -> str | None:
    """Whether a time begins or ends with it: "from 2015", "since 2015" and "2015 to ..." begin."""
    return date.edge or ({"after": "start", "before": "end"}[date.bound] if date.bound else None)


def _says(date: _Date, one: _Date) -> bool:
    """Whether `one` says all that `date` says."""
    if date.turned is not None or one.turned is not None:
        if date.year != one.year:
            return False
        if date.turned is None:
            return date.month is None or {date.month, date.day} == (one.turned or set())
        return (one.turned or {one.month, one.day}) == date.turned
    return all(
        mine is None or mine == other
        for mine, other in (
            (date.year, one.year),
            (date.month, one.month),
            (date.day, one.day),
            (date.part, one.part),
        )
    )


def _of_the_document(grounds: Grounds) -> Iterator[_Date]:
    """Dates beside the passage; one in the identifiers is that of the publication."""
    for text in (grounds.title, grounds.neighbours):
        yield from _dates(fold(text))
    for name, value in grounds.known.items():
        if name.casefold() not in ("pmid", "doi", "nct_id", "pmcid"):
            yield from (replace(date, event="published") for date in _dates(fold(value)))


def _dates(text: str) -> list[_Date]:
    found = list(_plain_dates(text))
    found.sort(key=lambda date: date.start)
    placed: list[_Date] = []
    for at, date in enumerate(found):
        before = placed[-1] if placed else None
        between = text[before.end : date.start] if before else ""
        if before is not None and before.edge != "end" and _is_range(text, before, between):
            month_only = before.year is None and before.month is not None
            event = before.event or _event("", text[date.end :])
            year = date.year if month_only else before.year
            placed[-1] = replace(before, edge="start", year=year, event=event)
            placed.append(replace(date, edge="end", event=event))
            continue
        after = found[at + 1].start if at + 1 < len(found) else len(text)
        left = text[before.end if before else 0 : date.start]
        placed.append(replace(date, event=_event(left, text[date.end : after]), bound=_bound(left)))
    return placed


def _is_range(text: str, before: _Date, between: str) -> bool:
    """Whether the words from `before` to the next date make a range: "and" does after "between"."""
    if not _RANGE.fullmatch(between):
        return False
    opened = text[: before.start].rstrip().lower().endswith(("between", "between the"))
    return opened or before.year is None or "and" not in between


def _plain_dates(text: str) -> Iterator[_Date]:
    taken: list[range] = []
    for match in _DATE.finditer(text):
        taken.append(range(*match.span()))
        yield from _read(match)
    for match in _LONE_MONTH.finditer(text):
        if not any(match.start() in span for span in taken):
            yield _Date(*match.span(), match.group(), month=_month(match["mm"]))


def _read(match: re.Match[str]) -> Iterator[_Date]:
    found = match.groupdict()
    date = _Date(*match.span(), match.group())
    if found["iy"]:
        yield replace(date, year=int(found["iy"]), month=int(found["im"]), day=int(found["id"]))
    elif found["sy"]:
        yield _slashed(replace(date, year=int(found["sy"])), int(found["sa"]), int(found["sb"]))
    elif found["decade"] or found["part"]:
        year = int(found["py"]) if found["py"] else None
        yield replace(date, year=year, part=(found["decade"] or found["part"]).lower())
    elif found["dm"] or found["mm"]:
        day = found["dd"] or found["md"]
        written = found["dy"] or found["mdy"] or found["my"]
        yield replace(
            date,
            year=int(written) if written else None,
            month=_month(found["dm"] or found["mm"]),
            day=int(re.sub(r"\D", "", day)) if day else None,
        )
    else:
        middle = match.end("y")
        if found["y2"] and 0 < int(found["y2"]) <= min(len(_MONTHS), int(found["y"]) % 100):
            yield replace(date, year=int(found["y"]), month=int(found["y2"]))  # no years go back
            return
        yield replace(date, end=middle, year=int(found["y"]))
        if found["y2"]:
            yield replace(date, start=middle + 1, year=int(found["y"][:2] + found["y2"]))


def _slashed(date: _Date, first: int, second: int) -> _Date:
    """12/25/2021 reads one way only, 3/4/2021 two."""
    if first > len(_MONTHS) >= second:
        return replace(date, month=second, day=first)
    if second > len(_MONTHS) >= first:
        return replace(date, month=first, day=second)
    return replace(date, turned=frozenset({first, second}))


def _month(name: str) -> int:
    return _MONTHS.index(name[:3].lower()) + 1


def _event(left: str, right: str) -> str | None:
    """The event a date belongs to: that of its own clause, before it or else after it; else the
    last one since the date before."""
    breaks = list(_BREAK.finditer(left))
    near = left[breaks[-1].end() :] if breaks else left
    stop = _BREAK.search(right.lstrip(", ")) if right else None
    ahead = right.lstrip(", ")[: stop.start()] if stop else right
    own = [event for event, _ in _events(near)]
    if own:
        return own[-1]
    following = [event for event, _ in _events(ahead)]
    if following:
        return following[0]
    earlier = [event for event, _ in _events(left)]
    return earlier[-1] if earlier else None


def _bound(left: str) -> str | None:
    match = _bounds().search(left)
    return _bound_names()[match.group("word").lower()] if match else None


def _events(text: str) -> Iterator[tuple[str, int]]:
    for match in _event_words().finditer(text):
        yield _event_names()[re.sub(r"\s+", " ", match.group().lower())], match.start()


@cache
def _event_names() -> dict[str, str]:
    return {word: name for name, words in date_terms().events.items() for word in words}


@cache
def _event_words() -> re.Pattern[str]:
    return re.compile(rf"(?i)(?<![\w-])(?:{_any_of(_event_names())})(?!\w)")


@cache
def _bound_names() -> dict[str, str]:
    return {word: name for name, words in date_terms().bounds.items() for word in words}


@cache
def _bounds() -> re.Pattern[str]:
    return re.compile(rf"(?i)(?<!\w)(?P<word>{_any_of(_bound_names())})\s+(?:the\s+)?$")


def _any_of(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
