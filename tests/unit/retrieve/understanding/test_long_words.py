"""A question may be any text of its length: reading it takes time in proportion, whatever it is."""

from collections.abc import Callable

import pytest

from tests.grid import grid
from tests.linearity.growth import growth
from workers.retrieve.understanding.read import names
from workers.retrieve.understanding.sentences import sentences


def linear(read: Callable[[str], object], part: str, end: str = "") -> bool:
    """Whether twice as many of `part`, then `end`, take some twice the time."""

    def family(length: int) -> str:
        return part * (length // len(part)) + end

    found = growth(read, family, start=2_000, most=64_000, least_seconds=0.01)
    return found is None or found.linear


@grid("part", ["A", "Ab", "A-", "aA1-", "a"])
@grid("end", ["", "_"])
def test_names_are_read_in_linear_time(part: str, end: str) -> None:
    assert linear(names, part, end)


@grid("part", [".", "?!", "a. ", "\n"])
def test_sentences_are_found_in_linear_time(part: str) -> None:
    assert linear(sentences, part)


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
