"""Which number of a date is the day, where both could be: the document's other dates say. Pure."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import product

from workers.extract.fields import Found
from workers.extract.parts import Parts
from workers.extract.rubrics import alternatives, vocabulary
from workers.extract.rules.texts.numbers import days
from workers.extract.values import Day

_NUMERIC = re.compile(
    r"(?P<a>\d{1,2})[ ]?(?P<mark>[-/.])[ ]?(?P<b>\d{1,2})[ ]?(?P=mark)[ ]?(?P<y>\d{4}|\d\d)"
)
_YEAR_FIRST = re.compile(r"\d{4}-(?:\d-\d{1,2}|\d\d-\d)")
_SURE_DAY = 12
"""A number above this is no month."""
Orders = dict[str | None, set[str]]
"""Of each form of dates ("/", "."), whether days or months stand first in it."""
STAY = ("admission_date", "discharge_date")


def settled(parts: Parts, found: Iterable[Found]) -> list[Found]:
    """The dates, each read in the order that others of its form have, where these agree."""
    orders = orders_of(parts.text)
    return [_ordered(one, _order_of(orders, _form(parts.text, one))) for one in found]


def in_one_order(orders: Orders, found: Sequence[Found], written: Sequence[str]) -> list[Found]:
    """Days that stand beside each other, each as `written`, in the order of their form."""
    out = []
    for one, words in zip(found, written, strict=True):
        match = _NUMERIC.match(words)
        out.append(_ordered(one, _order_of(orders, match["mark"] if match else None)))
    return out


def orders_of(text: str) -> Orders:
    """Of each form of dates ("/", "."), whether days or months stand first in it.

    Under None stands the order of the place where the document was written, if it says so.
    """
    found: dict[str | None, set[str]] = {None: _order_of_the_place(text)}
    every = [*days(text)]
    sure = {one.value.iso for one in every if isinstance(one.value, Day) and not one.value.other}
    for one in every:
        match = _NUMERIC.fullmatch(text[one.start : one.end])
        if match is None or not isinstance(one.value, Day):
            continue
        first, second = int(match["a"]), int(match["b"])
        if max(first, second) > _SURE_DAY:
            found.setdefault(match["mark"], set()).add("day" if first > second else "month")
        elif one.value.other and len({one.value.iso, one.value.other} & sure) == 1:
            # the same day stands written out elsewhere
            found.setdefault(match["mark"], set()).add("day" if one.value.iso in sure else "month")
    return found


def _order_of(orders: Orders, form: str | None) -> set[str]:
    """The order of a form: that of other dates of it, else that of the place."""
    return orders.get(form) or orders.get(None) or set()


def _order_of_the_place(text: str) -> set[str]:
    words = {"month": vocabulary().month_first, "day": vocabulary().day_first}
    return {order for order, signs in words.items() if _whole(signs).search(text)}


@cache
def _whole(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z])(?:{alternatives(words)})(?![A-Za-z])")


def _form(text: str, one: Found) -> str | None:
    match = _NUMERIC.fullmatch(text[one.start : one.end])
    return match["mark"] if match else None


def _ordered(one: Found, orders: set[str]) -> Found:
    if not isinstance(one.value, Day) or one.value.other is None or len(orders) != 1:
        return one
    first = "day" in orders
    return one._replace(value=Day(iso=one.value.iso if first else one.value.other))


def stay(text: str, admitted: Found, discharged: Found) -> tuple[Found, Found] | None:
    """Both dates in the one order that puts the discharge behind the admission.

    As they are where more than one does; None where none does.
    """
    first, last = _readings(admitted), _readings(discharged)
    pairs = [(a, b) for a, b in product(first, last) if _in_order(a, b)]
    if len(first) == len(last) and _form(text, admitted) == _form(text, discharged):
        # dates of one form are read in one order
        pairs = [one for one in pairs if first.index(one[0]) == last.index(one[1])]
    if len(pairs) == 1:
        (a, b) = pairs[0]
        return admitted._replace(value=Day(iso=a)), discharged._replace(value=Day(iso=b))
    return (admitted, discharged) if pairs else None


def lost_a_digit(text: str, one: Found) -> bool:
    """Whether a date is written year first, which has two digits each, with one of them gone."""
    return _YEAR_FIRST.fullmatch(text[one.start : one.end]) is not None


def _readings(one: Found) -> list[str]:
    value = one.value
    return [day for day in (value.iso, value.other) if day] if isinstance(value, Day) else [""]


def _in_order(admitted: str, discharged: str) -> bool:
    return admitted[: len(discharged)] <= discharged[: len(admitted)]
