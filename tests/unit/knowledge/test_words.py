"""Words of a list are found whole, the longest first, as one alternative after the other would."""

import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.loader import load
from knowledge.matching.words import Words, lowered
from knowledge.subjects.tags import KINDS, Kind, tags, telling

LETTERS = "abAB µé1"
some_words = st.text(alphabet=LETTERS, min_size=1, max_size=4).map(str.strip).filter(bool)
"""Short ones of few letters, so that they begin and end in each other."""


def one_after_the_other(words: set[str], text: str) -> list[tuple[int, int]]:
    """What one alternative for each word finds, whatever its first letter."""
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    written = (r"[\s-]+".join(map(re.escape, re.split(r"[\s-]+", one))) for one in longest_first)
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(written)})(?!\w)", re.IGNORECASE)
    return [match.span() for match in pattern.finditer(text)]


@given(
    words=st.sets(some_words.map(str.lower), min_size=1, max_size=8),
    text=st.lists(st.text(alphabet=LETTERS + "-.", max_size=6)).map(" ".join),
)
def test_the_same_is_found_as_by_one_alternative_after_the_other(
    words: set[str], text: str
) -> None:
    found = Words({"thing": words}).mentions(text)
    assert sorted({(one.start, one.end) for one in found}) == one_after_the_other(words, text)


def test_an_abbreviation_is_found_in_capitals_and_a_word_in_any_case() -> None:
    words = Words({"disease": ["AF", "Atrial fibrillation", "afib"]})
    text = "AF, af, atrial-fibrillation, AFib and afar."
    assert [text[one.start : one.end] for one in words.mentions(text)] == [
        "AF",
        "atrial-fibrillation",
        "AFib",
    ]


def test_places_are_those_of_the_text_whatever_letters_come_before() -> None:
    text = "İİ ſ AF diabetes"
    found = Words({"disease": ["AF", "diabetes"]}).mentions(text)
    assert [text[one.start : one.end] for one in found] == ["AF", "diabetes"]


@pytest.mark.parametrize("text", ["dıabetes", "diabeteſ", "dİabetes"])
def test_a_letter_that_only_some_languages_have_stops_nothing(text: str) -> None:
    Words({"disease": ["diabetes"]}).mentions(text)


def test_one_letter_alone_becomes_two_in_lower_case() -> None:
    longer = [letter for letter in map(chr, range(sys.maxunicode + 1)) if len(letter.lower()) > 1]
    assert longer == ["İ"]


@given(
    abbreviations=st.sets(st.text(alphabet="ABS", min_size=2, max_size=4), min_size=1, max_size=4),
    text=st.lists(st.text(alphabet="ABSabs ", max_size=6)).map(" ".join),
)
def test_abbreviations_are_found_as_they_are_written_and_with_a_plural_s(
    abbreviations: set[str], text: str
) -> None:
    found = Words({"thing": abbreviations}).mentions(text)
    written = "|".join(sorted(abbreviations))
    expected = [one.span() for one in re.finditer(rf"\b(?:{written})s?\b", text)]
    assert sorted({(one.start, one.end) for one in found}) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_names_a_tag_holds_what_tells_it(kind: Kind) -> None:
    for tag, entry in load("subjects/vocabulary")[kind].items():
        for word in entry["words"]:
            for text in (word, word.upper(), word.replace(" ", "\n"), f"{word}s"):
                named = frozenset(tags(kind, text))
                assert all(
                    any(one in lowered(text) for one in telling(kind, frozenset({name})))
                    for name in named
                )
        assert telling(kind, frozenset({tag}))


def test_who_stops_at_the_first_gets_it_and_who_does_not_all_of_them() -> None:
    words, text = Words({"one": ["mice"], "other": ["patients"]}), "Patients and mice."
    assert next(words.each(text)).name == "other"
    assert list(words.each(text)) == list(words.mentions(text))
