"""Patterns that ignore case find what `re` finds with IGNORECASE, at the same places."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.loader import load
from knowledge.matching.caseless import Caseless, folded

_ALL = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))
_MARKS = re.compile(r"[\\^$(\[|?*+]")


def _written(value: Any) -> Iterator[str]:
    """The patterns of a file: strings with marks of one."""
    if isinstance(value, str):
        yield from [value] if _MARKS.search(value) else []
    elif isinstance(value, dict):
        for one in value.values():
            yield from _written(one)
    elif isinstance(value, list):
        for one in value:
            yield from _written(one)


_PATTERNS = sorted({*_written(load("questions/answers")), *_written(load("guards/orphans"))})


def _texts(pattern: str) -> st.SearchStrategy[str]:
    """What the pattern matches, in any case, among words and letters that are easily mistaken."""
    matched = st.from_regex(re.compile(pattern, re.IGNORECASE))
    cased = st.sampled_from([str, str.upper, str.title, str.swapcase])
    written = st.builds(lambda one, change: change(one), matched, cased)
    other = st.text(st.sampled_from("aeikstIİıſKSµμΜσςΣ .,:;-()%19\n"), max_size=12)
    return st.lists(written | other, max_size=4).map("".join)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(_PATTERNS), st.data())
def test_it_matches_where_the_pattern_that_ignores_case_does(
    pattern: str, data: st.DataObject
) -> None:
    plainly, ours = re.compile(pattern, re.IGNORECASE), Caseless(pattern)
    text = data.draw(_texts(pattern))
    for how in ("search", "match"):
        expected, found = getattr(plainly, how)(text), getattr(ours, how)(text)
        assert (found and found.regs) == (expected and expected.regs)
        around = data.draw(st.tuples(*[st.text(max_size=3)] * 2))
        assert expected is None or ours.may_be_in(text.join(around))


def test_a_folded_text_has_the_places_of_the_text_and_its_kinds_of_characters() -> None:
    lower = folded(_ALL)
    assert len(lower) == len(_ALL)
    for kind in (r"\w", r"\d", r"\s", r"[^\W\d_]"):
        places = [one.start() for one in re.finditer(kind, _ALL)]
        assert [one.start() for one in re.finditer(kind, lower)] == places


def test_letters_of_the_patterns_are_those_that_re_takes_for_the_same() -> None:
    letters = {one for one in folded("".join(_PATTERNS)) if one.isalpha()}
    lower = folded(_ALL)
    for letter in letters:
        alike = {one[0] for one in re.finditer(re.escape(letter), _ALL, re.IGNORECASE)}
        assert alike == {_ALL[one.start()] for one in re.finditer(re.escape(letter), lower)}


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"\bStage\s[IV]+\b", "in sTaGe\niv", True),
        (r"\S\W\D(?P<name>X)", "a.bx", True),
        (r"(?-i:[A-Z]{3}) trial", "the ABC TRIAL", True),
        (r"(?-i:[A-Z]{3}) trial", "the abc trial", False),
        (r"\d\s?μg", "5 µg", True),
    ],
)
def test_what_is_syntax_keeps_its_case(pattern: str, text: str, *, found: bool) -> None:
    assert (Caseless(pattern).search(text) is not None) is found


def test_a_letter_that_is_written_by_its_number_is_refused() -> None:
    with pytest.raises(ValueError, match="must show its letters"):
        Caseless(r"\u00c9tude")
