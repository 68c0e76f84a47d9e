"""Patterns with words that they need: the same is found as by trying them all, only sooner."""

import re
from itertools import product
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from knowledge.loader import load
from knowledge.matching.literals import ignoring_case
from knowledge.matching.needs import Needy
from tests.grid import grid
from workers.generate.facets import rank

_PATTERNS = [(["stop", "halt"], r"\b(?:stop|halt) now\b"), (["<"], r"<\w+>"), ([" mode"], "x mode")]


@given(st.text(alphabet="stophaln <>xmode w", max_size=40))
def test_it_finds_what_the_patterns_alone_find(text: str) -> None:
    plainly = any(re.search(pattern, text) for _, pattern in _PATTERNS)

    assert Needy(_PATTERNS).match(text, text) == plainly


_MANY = [([word], re.escape(word)) for word in map("".join, product("ab ", repeat=4))]


@given(st.text(alphabet="ab c", max_size=12), st.integers(1, len(_MANY)), st.randoms())
def test_so_does_it_with_many_words_that_begin_in_one_another(
    text: str, number: int, rng: Random
) -> None:
    chosen = rng.sample([*_MANY, (["ab"], "ab"), (["a"], "ac")], number)
    plainly = any(need in text and re.search(one, text) for (need,), one in chosen)

    assert Needy(chosen).match(text, text) == plainly


def test_the_words_are_looked_for_in_the_folded_text_and_the_pattern_in_the_text() -> None:
    needy = Needy([(["stop"], r"STOP NOW")])

    assert needy.match("STOP NOW", "stop now")
    assert not needy.match("stop now", "stop now")


_STATED = {
    "limitation": [
        "A key limitation is its length.",
        "It was limited by accrual.",
        "The low statistical power leaves this open.",
        "The follow-up was short.",
        "Patients were not randomized.",
        "It was not powered for survival.",
        "All came from a single institution.",
        "Two authors were employees of the maker.",
        "This is industry-funded work.",
        "There is no head-to-head comparison.",
        "Read this with caution.",
        "Read this with care.",
        "Read these results with great care.",
        "It cannot be generalised.",
        "Selection bias was likely, and selection bias limits this.",
        "Heterogeneity was high.",
        "The series is retrospective.",
    ],
    "open_question": [
        "Further studies are needed.",
        "Larger trials are awaited.",
        "More research is warranted.",
        "Its role remains unclear.",
        "The benefit is still uncertain.",
        "Its value is unproven.",
        "The optimum is yet to be shown.",
        "The dose is not well established.",
        "The cause is not defined.",
        "This is not yet understood.",
        "There is too little data.",
        "Evidence is insufficient.",
        "They call for larger trials.",
        "The guideline does not address this.",
    ],
    "dose": ["Take 5 mL twice a day.", "Adults take 2 g every eight hours."],
    "missed_dose": ["If a dose was not taken, go on with the next one."],
}


@grid(("facet", "sentence"), [(name, one) for name, some in _STATED.items() for one in some])
def test_no_need_hides_what_a_facet_states(facet: str, sentence: str) -> None:
    patterns = load("questions/answers")["facets"][facet]["patterns"]

    assert any(re.search(one, sentence, re.IGNORECASE) for one in patterns), "a wrong example"
    assert rank(facet, sentence) is not None
    assert rank(facet, sentence.upper()) is not None


_EVERY = "".join(map(chr, range(0x110000)))


@grid("letter", "abcdefghijklmnopqrstuvwxyz0-")
def test_ignoring_case_has_a_letter_wherever_a_pattern_that_ignores_case_finds_it(
    letter: str,
) -> None:
    found = re.findall(letter, _EVERY, re.IGNORECASE)

    assert letter in found
    assert [one for one in found if ignoring_case(one) != letter] == []


@given(st.text(alphabet="lowerLOWERıİſSsK \u0307é", max_size=20))
def test_a_word_that_a_pattern_finds_is_in_the_folded_text(text: str) -> None:
    for word in ("lower", "sore", "is", "ki"):
        assert not re.search(word, text, re.IGNORECASE) or word in ignoring_case(text)
