"""What dictated sentences say in words of their own: "under general anesthesia". Pure."""

import re
from collections.abc import Iterator
from functools import cache

from workers.extract.fields import Found
from workers.extract.rules.texts.numbers import (
    NUMBER,
    NUMBER_WORD,
    amount,
    own_unit,
    spelled,
)
from workers.extract.values import Amount

_SPOKEN = (
    rf"(?:(?P<hundreds>(?:{NUMBER_WORD}|an?)\s++hundred)(?:\s++and)?\s*+)?(?P<ones>{NUMBER_WORD})?"
)


@cache
def _spoken_loss(label: str, unit: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?i)(?<![a-z])(?:{label})\s++(?:was|is|of|about|approximately|around|some|\s)*+{_SPOKEN}"
        rf"\s*+(?P<unit>{unit})(?![a-z])"
    )


_LOST = re.compile(
    r"(?i)(?<![\d.,])(?P<n>\d{1,5})\s?(?P<unit>ml|cc|millilit(?:er|re)s)\s(?:of\s)?blood\s(?:was|were|"
    r"had\sbeen)\slost\b|\blost\s(?:about\s|some\s|around\s|approximately\s)?(?P<n2>\d{1,5})\s?"
    r"(?P<unit2>ml|cc|millilit(?:er|re)s)\s(?:of\s)?blood\b"
)


def volume_of_the_gland(unit: str, text: str) -> Iterator[Found]:
    """The volume of a gland in a document of the prostate: "the gland has a volume of 51 mL"."""
    if "prostat" not in text.lower():
        return
    pattern = re.compile(
        rf"(?i)\b(?:gland|prostate)\b[^.\n;:]{{0,30}}?\b(?:volume|measur\w+|estimated)\b"
        rf"[^.\n;:\d]{{0,20}}?(?P<sign>[<>]?)(?P<n>{NUMBER}){own_unit(unit)}"
    )
    yield from amount(pattern, text, _LARGEST_GLAND)


_LARGEST_GLAND = 900.0
"""More millilitres no prostate has (ours, wide)."""


def lost_blood(text: str) -> Iterator[Found]:
    """How much blood was lost, where the verb says so."""
    for one in _LOST.finditer(text):
        amount = Amount(number=float(one["n"] or one["n2"]), unit=one["unit"] or one["unit2"])
        yield Found(amount, *one.span())


def spoken_amount(label: str, unit: str, text: str) -> Iterator[Found]:
    """An amount whose number is written in words, with its unit."""
    for one in _spoken_loss(label, unit).finditer(text):
        hundreds = (one["hundreds"] or "").lower().rsplit(maxsplit=1)[:1]
        number = 0
        if hundreds:
            number = 100 * (1 if hundreds[0] in ("a", "an") else spelled(hundreds[0]))
        number += spelled(one["ones"]) if one["ones"] else 0
        if number:
            yield Found(Amount(number=float(number), unit=one["unit"]), *one.span())
