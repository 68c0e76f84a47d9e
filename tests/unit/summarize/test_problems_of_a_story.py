"""A problem is one by what is said of it, wherever it is named and whatever it is called."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.core.spans import Span
from workers.encoder.tagging import LONGEST
from workers.encoder.tokens import tokens_of
from workers.summarize import note_reader
from workers.summarize.note_reader import stretches
from workers.summarize.summary import read, summarize

NOTE = (
    "Mr Quarshie is a 66-year-old taxi driver with a sore ankle. It began after a long flight. {} "
    "He takes tiotropium. Pitting to mid shin, chest clear. I suggested stockings.\n"
)
_NAMES = (
    "chronic kidney disease", "atrial fibrillation", "type 2 diabetes", "hypertension",
    "achalasia", "keratoconus", "lichen planus", "polycythaemia vera", "trigeminal neuralgia",
    "Addison's disease",
)  # fmt: skip
HAS = [
    "He has {} and asthma.",
    "His past history is notable for {}.",
    "In 2019 he was told that he has {}.",
    "He is known to have {}.",
    "He takes two tablets a day for {}.",
    "For the last ten years he has lived with {}.",
]
HAS_NOT = [
    "He has had no {}.",
    "His father had {}.",
    "His sister is treated for {}.",
    "Tests for {} were negative.",
    "There is no history of {} or anything like it.",
    "He was afraid of {}, but that was ruled out.",
]
FEW = 10
"""One of so many may be read wrong."""


def problems(sentence: str) -> str:
    told = summarize(NOTE.format(sentence))["summary"]
    return " ".join(one["text"] for name in ("key_problems", "assessment") for one in told[name])


def test_what_a_story_says_he_has_is_a_problem() -> None:
    said = [form.format(name) for form in HAS for name in _NAMES]
    lost = [one for one in said if one not in problems(one)]
    assert len(lost) <= len(said) // FEW, lost


def test_what_is_denied_or_another_s_is_none() -> None:
    said = [form.format(name) for form in HAS_NOT for name in _NAMES]
    listed = [one for one in said if one in problems(one)]
    assert len(listed) <= len(said) // FEW, listed


def test_a_complaint_of_the_night_is_no_problem_of_its_own() -> None:
    assert "He has a cough at night." not in problems("He has a cough at night.")


def test_a_problem_that_is_named_twice_is_listed_once() -> None:
    said = "He has achalasia. Because of the achalasia he eats slowly."
    listed = summarize(NOTE.format(said))["summary"]["key_problems"]
    assert sum("achalasia" in one["text"] for one in listed) == 1


@settings(max_examples=60)
@given(st.text(max_size=400))
def test_problems_are_words_of_their_statement(text: str) -> None:
    for unit in read(text).outline.units:
        for one in unit.problems:
            assert unit.start <= one.start < one.end <= unit.end


@settings(max_examples=60)
@given(st.lists(st.integers(1, 80), max_size=12))
def test_stretches_are_whole_statements_and_leave_nothing_out(sizes: list[int]) -> None:
    text, units = "", list[Span]()
    for size in sizes:
        words = "word " * size
        units.append(Span(len(text), len(text) + len(words) - 1))
        text += words
    tokens = tokens_of(text)
    found = list(stretches(tokens, units))
    assert [0, *(end for _, end in found)] == [*(start for start, _ in found), len(tokens.ids)]
    assert all(0 < end - start <= LONGEST for start, end in found)
    assert all(one[1] == two[0] for one, two in pairwise(found))
    starts = {one.start for one in units}
    assert all(tokens.places[first][0] in starts for first, _ in found)


def test_a_problem_far_behind_a_stretch_is_read() -> None:
    told = "He walks to work and sleeps well at night. " * (LONGEST // 4)
    assert "He is known to have achalasia." in problems(told + "He is known to have achalasia.")


def test_the_reader_is_small() -> None:
    weights = sum(one.nbytes for one in note_reader.load().own.values())
    assert weights < 5_000_000


@pytest.mark.parametrize("text", ["", "\n\n", "«»", "." * 300])
def test_a_text_without_words_names_nothing(text: str) -> None:
    assert not any(unit.problems for unit in read(text).outline.units)
