"""A question may be any text of its length: reading it takes time in proportion, whatever it is."""

import time

import pytest

from tests.grid import grid
from workers.retrieve.understanding.read import names
from workers.retrieve.understanding.sentences import sentences

LENGTH = 100_000


@grid("part", ["A", "Ab", "A-", "aA1-", "a"])
@grid("end", ["", "_"])
def test_names_are_read_in_linear_time(part: str, end: str) -> None:
    started = time.process_time()
    names(part * (LENGTH // len(part)) + end)
    assert time.process_time() - started < 2, "quadratic and worse take minutes"


@pytest.mark.parametrize("part", [".", "?!", "a. ", "\n"])
def test_sentences_are_found_in_linear_time(part: str) -> None:
    started = time.process_time()
    sentences(part * (LENGTH // len(part)))
    assert time.process_time() - started < 3, "quadratic takes minutes"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("c-TRAK and DYNAMIC-III.", ("c-TRAK", "DYNAMIC-III")),
        ("(NCT04120701)", ("NCT04120701",)),
        ("CAPE COX", ("CAPE", "COX")),
        ("ABC_ 5FU Dynamic", ()),
        ("ABC-é", ("ABC",)),
        ("AbC-dEfG-h", ("AbC-dEfG-h",)),
    ],
)
def test_a_name_has_two_capitals_in_one_of_its_parts(text: str, found: tuple[str, ...]) -> None:
    assert names(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("What does PMID 21870978 say?", ("21870978",)),
        ("doi:10.1056/NEJMoa1107039.", ("10.1056/NEJMoa1107039",)),
        ("Results of PMC9875840", ("PMC9875840",)),
        ("a dose of 10.5 mg", ()),
    ],
)
def test_the_identifier_of_a_publication_is_a_name(text: str, found: tuple[str, ...]) -> None:
    assert names(text) == found


@pytest.mark.parametrize(
    "text", ["post-PCI", "MRD-guided", "PD-L1-positive", "AF with RVR", "PMID"]
)
def test_a_compound_or_abbreviation_of_clinical_words_is_no_name(text: str) -> None:
    assert names(text) == ()
