"""Folding of typography: what is equal afterwards, what never is, and the way back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinical_text.normalize import MINUS, normalize
from tests.fuzz.properties import (
    folded_characters_map_to_where_they_came_from,
    folding_keeps_what_carries_meaning,
)
from tests.grid import grid

# Everything the rules look at, so that short texts meet many of them together.
ALPHABET = list(
    "ab5.,·-–—\u2012\u2010\u2011\u2212 \u00ad\u200b\u200d\ufeff\n\t\u00a0\u2009\u0301\u0338\u0327"
    "\ufb01\ufb03\uff21é\u00b5\u03bc<>≤≥=±%’“\"'²₂($\u0663\u017f1∞"
)
texts = st.text(alphabet=st.sampled_from(ALPHABET), max_size=40)


def folded(text: str) -> str:
    return normalize(text).text


@grid(
    ("one", "other"),
    [
        ("p\u00a0=\u20090.05", "p = 0.05"),
        ("two\n\n  words", "two words"),
        ("signi\u00adficant", "significant"),
        ("signi\u00ad\nficant", "significant"),
        ("signi\u200bficant", "significant"),
        ("ef\ufb01cacy, e\ufb03cacy", "efficacy, efficacy"),
        ("\uff34\uff25\uff33\uff34", "TEST"),
        ("cafe\u0301", "café"),
        ("the patient’s “rash”", 'the patient\'s "rash"'),
        ("dose–response", "dose-response"),
        ("dose\u2011response", "dose-response"),
        ("2.8–6.6", "2.8-6.6"),
        ("one — or two", "one - or two"),
        ("5 \u00b5g", "5 \u03bcg"),
        ("95% CI –0.86 to 4.70", "95% CI -0.86 to 4.70"),
        ("(\u22120.5)", "(-0.5)"),
    ],
)
def test_typographic_variants_of_one_passage_fold_alike(one: str, other: str) -> None:
    assert folded(one) == folded(other)


@grid(
    ("one", "other"),
    [
        ("p < 0.05", "p > 0.05"),
        ("p ≤ 0.05", "p < 0.05"),
        ("p ≥ 0.05", "p = 0.05"),
        ("± 5", "5"),
        ("change of \u22125", "change of 5"),
        ("change of -5", "change of 5"),
        ("change of -5", "change of +5"),
        ("change of \u22125", "change of —5"),
        ("0.11\u22120.26", "0.11-0.26"),
        ("7·5", "75"),
        ("7·5", "7.5"),
        ("1,980", "1.980"),
        ("1\u2009980", "1980"),
        ("1\u200b5", "15"),
        ("5\u00ad7", "57"),
        ("10²", "102"),
        ("CO₂", "CO2"),
        ("5 mg", "5 \u00b5g"),
        ("5 %", "5 ‰"),
        ("5′", "5'"),
        ("«5", "<5"),
        ("‹5", "<5"),
        ("mM", "mm"),
        ("not significant", "notsignificant"),
        ("a b", "ab"),
        ("5\uff11", "51"),
    ],
)
def test_what_carries_meaning_stays_different(one: str, other: str) -> None:
    assert folded(one) != folded(other)


def test_a_dash_between_numbers_is_no_sign() -> None:
    assert folded("3–11") == "3-11"
    assert folded("(–11") == f"({MINUS}11"


@given(texts)
def test_folding_twice_is_folding_once_and_no_digit_comparator_mark_or_minus_is_lost(
    text: str,
) -> None:
    folding_keeps_what_carries_meaning(text)


@given(texts)
def test_every_folded_character_maps_to_the_place_in_the_text_that_it_came_from(text: str) -> None:
    folded_characters_map_to_where_they_came_from(text)


def test_no_character_outside_the_folded_text_has_a_place() -> None:
    with pytest.raises(IndexError, match="no folded character at 3"):
        normalize("abc").raw_range(3)


def test_edges_leave_dropped_characters_out() -> None:
    text = "x \u200b\ufb01ne\u200b y"
    result = normalize(text)
    at = result.text.index("fine")
    start, end = result.raw_span(at, at + 4)
    assert text[start:end] == "\ufb01ne"
