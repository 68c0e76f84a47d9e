"""How often something is given is read by a grammar: every number and unit, in every writing."""

import itertools

from hypothesis import assume, given
from hypothesis import strategies as st

from clinical_text.schedules import schedules
from tests.grid import grid

NUMBERS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]
ADVERBS = {"day": "daily", "week": "weekly", "month": "monthly"}


def _names(words: str) -> list[str]:
    return [one.name for one in schedules(f"Inventol 5 mg {words} was given.")]


def _several_times(count: int, unit: str) -> list[str]:
    """Ways to write so many times in one unit."""
    number = {1: "once", 2: "twice", 3: "thrice"}.get(count, f"{count} times")
    ways = [f"{number} a {unit}", f"{number} per {unit}", f"{number} every {unit}"]
    ways += [f"{NUMBERS[count]} times each {unit}", f"{count} times/{unit}", f"{count}x per {unit}"]
    return [*ways, f"{number} {ADVERBS[unit]}", f"{number.replace(' ', '-')}-{ADVERBS[unit]}"]


def _once_in(every: int, unit: str) -> list[str]:
    """Ways to write once in so many units."""
    ways = [
        f"every {every} {unit}s",
        f"every {NUMBERS[every]} {unit}s",
        f"once every {every} {unit}s",
    ]
    ways += [f"q{every}{unit[0]}", f"q {every} {unit}s"]
    if every == 2:
        ways += [f"every other {unit}", f"every second {unit}", f"on alternate {unit}s"]
    if every == 3:
        ways += [f"every third {unit}"]
    return ways


@given(st.integers(1, 9), st.sampled_from(sorted(ADVERBS)), st.data())
def test_all_writings_of_a_count_have_one_name(count: int, unit: str, data: st.DataObject) -> None:
    ways = _several_times(count, unit)
    one, other = data.draw(st.sampled_from(ways)), data.draw(st.sampled_from(ways))
    assert len(_names(one)) == 1
    assert _names(one) == _names(other)


@given(st.integers(2, 11), st.sampled_from(["hour", "day", "week", "month"]), st.data())
def test_all_writings_of_a_period_have_one_name(every: int, unit: str, data: st.DataObject) -> None:
    ways = _once_in(every, unit)
    one, other = data.draw(st.sampled_from(ways)), data.draw(st.sampled_from(ways))
    assert len(_names(one)) == 1
    assert _names(one) == _names(other)


@given(st.integers(1, 9), st.integers(1, 9), st.sampled_from(sorted(ADVERBS)))
def test_another_count_or_period_has_another_name(one: int, other: int, unit: str) -> None:
    assume(one != other)
    assert _names(f"{one} times a {unit}") != _names(f"{other} times a {unit}")
    assert _names(f"every {one} {unit}s") != _names(f"every {other} {unit}s")


@grid(
    ("one", "other"),
    [
        ("every 8 hours", "t.i.d."),
        ("q12h", "twice daily"),
        ("every 48 hours", "qod"),
        ("every 14 days", "fortnightly"),
        ("every 12 weeks", "quarterly"),
        ("twice a year", "every six months"),
        ("3-weekly", "q3w"),
    ],
)
def test_periods_that_are_the_same_have_one_name(one: str, other: str) -> None:
    assert len(_names(one)) == 1
    assert _names(one) == _names(other)


@grid("words", ["per patient-year", "at week 6", "for 3 weeks", "on day 1", "5 mg per kg", "q-tip"])
def test_what_says_no_schedule_is_none(words: str) -> None:
    assert _names(words) == []


@given(st.text())
def test_spans_hold_in_any_text(text: str) -> None:
    found = schedules(text)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert all(one.end <= other.start for one, other in itertools.pairwise(found))
