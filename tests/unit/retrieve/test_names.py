"""A drug is searched for by all its names, and counts once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.documents.content import alike
from store.index.bm25 import NOWHERE, Scorer, Segment
from store.index.terms import term_set
from tests.grid import grid
from workers.retrieve.names import one_by_all_names, with_generic_names

ONE, OTHER, ELSE = 1, 2, 3
COUNTS = st.dictionaries(st.sampled_from([ONE, OTHER, ELSE]), st.integers(1, 9), max_size=3)


def scorer(chunks: list[dict[int, int]]) -> Scorer:
    """A scorer over one segment of chunks, by how often each has the terms."""
    having = {term: [n for n, one in enumerate(chunks) if term in one] for term in (1, 2, 3)}
    postings = {
        term: (np.array(some, np.uint16), np.array([chunks[n][term] for n in some], np.uint8))
        if some
        else NOWHERE
        for term, some in having.items()
    }
    ids = np.arange(1, len(chunks) + 1, dtype=np.int64)
    segment = Segment(ids, np.full(len(chunks), 10, np.int32))
    idfs = {term: 2.0 + term for term, some in having.items() if some}
    return Scorer([(segment, postings)], idfs, 10.0)


def best(chunks: list[dict[int, int]]) -> dict[int, float]:
    """The scores of chunks for a question with two terms, of which one has another name."""
    merged = one_by_all_names(scorer(chunks), {ONE: frozenset({OTHER})})
    assert merged is not None
    return dict(merged.best(99))


def test_a_work_that_uses_the_other_name_is_found_as_well_as_one_that_uses_the_name_asked() -> None:
    chunks = [{ONE: 2, ELSE: 1}, {OTHER: 2, ELSE: 1}, {ELSE: 1}]
    found = best(chunks)
    assert found[1] == pytest.approx(found[2])
    assert found[2] > found[3]


def test_a_label_with_both_names_gains_no_second_word_of_the_question() -> None:
    chunks = [{ONE: 1, OTHER: 1, ELSE: 1}, {ONE: 2, ELSE: 1}]
    found = best(chunks)
    assert found[1] == pytest.approx(found[2])


def test_a_passage_holds_the_term_asked_for_by_any_of_its_names() -> None:
    named = one_by_all_names(scorer([{OTHER: 1}, {ELSE: 1}]), {ONE: frozenset({OTHER})})
    assert named is not None
    assert named.held(np.array([1, 2])) == {1: {ONE}, 2: {ELSE}}


@given(st.lists(COUNTS, min_size=1, max_size=12))
def test_a_question_without_other_names_is_scored_as_before(chunks: list[dict[int, int]]) -> None:
    plain = scorer(chunks)
    assert one_by_all_names(plain, {}) is plain
    assert one_by_all_names(None, {ONE: frozenset({OTHER})}) is None
    assert best(chunks).keys() == {n for n, one in enumerate(chunks, start=1) if one.keys()}


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Is Eliquis better than warfarin?", "Is Eliquis (apixaban) better than warfarin?"),
        ("Tecentriq side effects", "Tecentriq (atezolizumab) side effects"),
        ("Is apixaban (Eliquis) safe?", "Is apixaban (Eliquis) safe?"),
        ("Does ctDNA help?", "Does ctDNA help?"),
    ],
)
def test_the_encoder_is_told_the_generic_name_behind_a_brand(question: str, told: str) -> None:
    assert with_generic_names(question) == told


@grid(
    ("question", "word", "others"),
    [
        ("Is Eliquis safe?", "eliquis", "apixaban"),
        ("Is apixaban safe?", "apixaban", "eliquis"),
        ("Is semaglutide safe?", "semaglutide", "ozempic wegovy rybelsus"),
        ("Is aspirin safe?", "aspirin", ""),
        ("Is AZT safe?", "AZT", "zidovudine"),
        ("Tecentriq side effects", "side", "adverse"),
        ("Tecentriq side effects", "effects", "events reactions"),
        ("A mass on the left side", "side", ""),
        ("Maximum dosage of it", "dosage", "dose"),
    ],
)
def test_what_counts_as_the_same_is_known_by_the_question(
    question: str, word: str, others: str
) -> None:
    (term,) = term_set(word)
    assert alike(question).get(term, frozenset()) == term_set(others)
