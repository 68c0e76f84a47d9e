"""PubMed's dates: complete dates, partial dates, and the free text of `MedlineDate`."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Literal
from xml.etree.ElementTree import Element

from workers.ingest.parsers.markup import words

Precision = Literal["day", "month", "year"]

_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}
_LONGEST = 60
_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|2[01]\d\d)(?!\d)")
_MONTH_BEHIND = re.compile(r"\s{1,60}([A-Za-z]{3,9})\b")
_MONTH_BEFORE = re.compile(r"([A-Za-z]{3,9})\s{1,60}$")


@dataclass(frozen=True, slots=True)
class PartialDate:
    """A date as far as it is stated. `day` is set only if `month` is."""

    year: int
    month: int | None = None
    day: int | None = None

    @property
    def precision(self) -> Precision:
        """The smallest part that is stated."""
        return "day" if self.day else "month" if self.month else "year"

    @property
    def moment(self) -> datetime:
        """Midnight UTC of the first day that the date can mean."""
        return datetime(self.year, self.month or 1, self.day or 1, tzinfo=UTC)

    @property
    def whole(self) -> date | None:
        """The date, or None if the day is not stated."""
        return date(self.year, self.month, self.day) if self.month and self.day else None

    def __str__(self) -> str:
        """`2024`, `2024-03` or `2024-03-01`."""
        parts = f"{self.year:04d}"
        if self.month:
            parts += f"-{self.month:02d}"
        if self.day:
            parts += f"-{self.day:02d}"
        return parts


def read_date(element: Element | None) -> PartialDate | None:
    """The date in `Year`, `Month`, `Day`, `Season` or `MedlineDate` below `element`.

    A range gives its first year, and its first month if it names months (WIRE 1: `2024 Nov-Dec`); a
    season is not a month. Impossible parts are dropped: 31 February gives a month. Returns None if
    there is no year.
    """
    if element is None:
        return None
    # cut: a longer text is not a date and must not fill the caches
    parts = {child.tag: (child.text or "").strip()[:_LONGEST] for child in element}
    year = parts.get("Year")
    if year is None:
        free = parts.get("MedlineDate")
        return medline_date(free) if free else None
    return partial_date(year, parts.get("Month") or parts.get("Season") or "", parts.get("Day", ""))


@lru_cache(maxsize=4096)
def partial_date(year: str, month: str = "", day: str = "") -> PartialDate | None:
    """A date from its parts; `month` is a number, a name or a range of names (the first counts)."""
    year = year.strip()
    if not _YEAR.fullmatch(year):
        return None
    number = _month(month)
    if number is None:
        return PartialDate(int(year))
    day = day.strip()
    if len(day) <= 2 and day.isascii() and day.isdigit() and "-" not in month:
        try:
            date(int(year), number, int(day))
        except ValueError:
            return PartialDate(int(year), number)
        return PartialDate(int(year), number, int(day))
    return PartialDate(int(year), number)


@lru_cache(maxsize=4096)
def medline_date(text: str) -> PartialDate | None:
    """The first year in a free-text date, with the month if one stands next to that year.

    `1998 Dec-1999 Jan` is December 1998, `1998-1999 Jan` is 1998, `2000 Spring` is 2000.
    """
    year = _YEAR.search(text)
    if year is None:
        return None
    behind = _MONTH_BEHIND.match(text, year.end())
    before = _MONTH_BEFORE.search(text[max(0, year.start() - 20) : year.start()])
    for match in (behind, before):
        month = _month(match[1]) if match else None
        if month:
            return PartialDate(int(year[0]), month)
    return PartialDate(int(year[0]))


def written_date(element: Element | None) -> str:
    """The date in the source's own words, such as `2024 Nov-Dec`; "" for None."""
    if element is None:
        return ""
    return " ".join(filter(None, (words(child) for child in element)))


def _month(text: str) -> int | None:
    text = text.strip()
    if text.isdigit() and text.isascii():
        number = int(text) if len(text) <= 2 else 0
        return number if 1 <= number <= 12 else None
    return _MONTHS.get(text[:3].lower()) if text[3:4] in ("", "-", "/") or _spelled(text) else None


def _spelled(text: str) -> bool:
    """Return True for a month written out (`March`, `Sept`), False for a season (`Summer`)."""
    name = text.split("-", 1)[0].lower()
    return len(name) > 3 and any(
        full.startswith(name)
        for full in (
            "january",
            "february",
            "march",
            "april",
            "june",
            "july",
            "august",
            "september",
            "october",
            "november",
            "december",
        )
    )
