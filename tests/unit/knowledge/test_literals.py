"""Strings that a pattern needs: none is told without which it matches."""

import re
import string
import sys

from hypothesis import given, settings
from hypothesis import strategies as st

from clinical_text.effects import patterns, words
from clinical_text.numbers import numbered_names
from clinical_text.numbers import patterns as number_patterns
from knowledge.matching.literals import ignoring_case, in_any_case, needs
from tests.grid import grid

_GUARDED = [
    patterns.MEASURE,
    number_patterns.NUMBER_WORD,
    number_patterns.INTERVAL,
    number_patterns.MEASURE_BEFORE,
    number_patterns.OR_MORE_AFTER,
    number_patterns.OR_MORE_BEHIND,
    numbered_names._in_other_words()[0],
    *(getattr(words._patterns(), name) for name in ("population", "between", "associated")),
]


@grid(
    ("pattern", "exact", "any_case"),
    [
        (r"\bend[- ]?points?\b", ("point",), ()),
        (r"\b(?:should|must)\b", ("must", "should"), ()),
        (r"(?:high|very high) risk", ("high risk",), ()),
        (r"[Hh]azard|odds", ("azard", "odds"), ()),
        (r"(?:percent|per\scent)", ("cent",), ()),  # which is in the other as well
        (r"(?:ratio){1,2}s", ("ratio",), ()),
        (r"(?:not )?p", ("p",), ()),
        (r"(?=ratio)r", ("r",), ()),
        (r"\d[^x]", ("",), ()),
        (r"ratio|", ("",), ()),
        (r"(?i)Ratio|odds", (), ("odds", "ratio")),
        (r"(?i:Ratio)n", (), ("ratio",)),
        (r"HR|(?i:hazard)", ("HR",), ("hazard",)),
        (r"(?i)(?-i:HR)|hazard", ("HR",), ("hazard",)),
        (r"(?i)μg", (), ("",)),
    ],
)
def test_the_longest_that_every_match_holds_is_told(
    pattern: str, exact: tuple[str, ...], any_case: tuple[str, ...]
) -> None:
    found = needs(re.compile(pattern))
    assert (found.exact, found.any_case) == (exact, any_case)


@grid("pattern", _GUARDED)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_whatever_a_pattern_matches_meets_its_needs(
    pattern: re.Pattern[str], data: st.DataObject
) -> None:
    text = data.draw(st.from_regex(pattern))
    if pattern.search(text):
        assert needs(pattern).met(text, ignoring_case(text))


def test_each_letter_that_a_pattern_takes_for_another_becomes_that_one() -> None:
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    for letter in string.ascii_lowercase:
        alike = re.findall(f"(?i){letter}", everything)
        assert set(alike) == set(in_any_case(letter)) == set(in_any_case(letter.upper()))
        assert {ignoring_case(one) for one in alike} == {letter}
