"""BM25 in memory: what is skipped or forgotten changes no score and no rank."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.index import bm25
from store.index.bm25 import K1, NOWHERE, B, Postings, Scorer, Segment

TERMS = range(6)
COUNTS = st.dictionaries(st.sampled_from(TERMS), st.integers(1, 9), max_size=6)
COLLECTIONS = st.lists(st.lists(COUNTS, max_size=40), min_size=1, max_size=4)


def scorer(collection: list[list[dict[int, int]]], query: list[int], step: int) -> Scorer:
    """The collection as segments; chunk ids descend within a segment, `step` apart, as
    no rule forbids."""
    everything = [counts for segment in collection for counts in segment]
    total = max(len(everything), 1)
    segments: list[tuple[Segment, Postings]] = []
    first = 1
    for counted in collection:
        ids = step * np.arange(first + len(counted) - 1, first - 1, -1, dtype=np.int64)
        first += len(counted)
        lengths = np.array([sum(counts.values()) for counts in counted], np.int32)
        postings = {
            term: (
                np.array([n for n, counts in enumerate(counted) if term in counts], np.uint16),
                np.array([counts[term] for counts in counted if term in counts], np.uint8),
            )
            for term in query
        }
        segments.append((Segment(ids, lengths), postings))
    having = {term: sum(term in counts for counts in everything) for term in query}
    idfs = {
        term: math.log(1 + (total - df + 0.5) / (df + 0.5)) for term, df in having.items() if df
    }
    return Scorer(segments, idfs, max(_mean(collection), 1.0))


def _mean(collection: list[list[dict[int, int]]]) -> float:
    sums = [sum(counts.values()) for segment in collection for counts in segment]
    return sum(sums) / max(len(sums), 1)


def by_the_formula(
    collection: list[list[dict[int, int]]], step: int, given: Scorer, among: set[int] | None
) -> dict[int, float]:
    scores, first = {}, 1
    for counted in collection:
        for place, counts in enumerate(counted):
            key = step * (first + len(counted) - 1 - place)
            norm = K1 * (1 - B + B * sum(counts.values()) / given.mean_length)
            score = sum(
                idf * counts[term] * (K1 + 1) / (counts[term] + norm)
                for term, idf in given.idfs.items()
                if term in counts
            )
            if score > 0 and (among is None or key in among):
                scores[key] = score
        first += len(counted)
    return scores


@given(
    collection=COLLECTIONS,
    query=st.lists(st.sampled_from(TERMS), min_size=1, unique=True),
    step=st.sampled_from([1, 3]),
    asked=st.sets(st.integers(0, 170)),
)
def test_it_is_known_which_terms_a_chunk_holds(
    collection: list[list[dict[int, int]]], query: list[int], step: int, asked: set[int]
) -> None:
    expected, first = dict.fromkeys(asked, frozenset[int]()), 1
    for counted in collection:
        for place, counts in enumerate(counted):
            key = step * (first + len(counted) - 1 - place)
            if key in asked:
                expected[key] = frozenset(counts) & frozenset(query)
        first += len(counted)

    held = scorer(collection, query, step).held(np.array(sorted(asked), np.int64))

    assert held == expected


@given(
    collection=COLLECTIONS,
    query=st.lists(st.sampled_from(TERMS), min_size=1, unique=True),
    k=st.integers(1, 12),
    step=st.sampled_from([1, 3]),
    among=st.none() | st.sets(st.integers(0, 170)),
    lookup=st.sampled_from([0.0, bm25.LOOKUP]),
)
def test_the_best_are_those_of_the_formula_whatever_is_skipped(
    collection: list[list[dict[int, int]]],
    query: list[int],
    k: int,
    step: int,
    among: set[int] | None,
    lookup: float,
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bm25, "LOOKUP", lookup)  # 0: every list is looked up that may be
        given = scorer(collection, query, step)
        chosen = None if among is None else np.array(sorted(among), np.int64)
        found = given.best(k, chosen)
    right = by_the_formula(collection, step, given, among)
    expected = sorted(right.values(), reverse=True)[:k]
    assert [score for _, score in found] == pytest.approx(expected, rel=1e-4)
    assert len({key for key, _ in found}) == len(found)
    for key, score in found:
        assert score == pytest.approx(right[key], rel=1e-4)


def test_what_a_segment_keeps_of_postings_has_a_bound_and_the_oldest_go_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bm25, "LEAST_BYTES", 100_000)
    ids = np.arange(1000, dtype=np.int64)
    segment = Segment(ids, np.ones(1000, np.int32))
    one = np.arange(1000, dtype=np.uint16), np.ones(1000, np.uint8)
    for term in range(200):
        segment.keep({term: one})
    held = segment.known(range(200))
    assert 199 in held
    assert 0 not in held
    most = bm25.BYTES_PER_CHUNK * 1000
    assert most * 0.9 < sum(o.nbytes + f.nbytes + bm25.ENTRY_BYTES for o, f in held.values())
    assert sum(o.nbytes + f.nbytes + bm25.ENTRY_BYTES for o, f in held.values()) <= most


def test_a_term_that_is_nowhere_in_a_segment_is_remembered_too() -> None:
    segment = Segment(np.array([5], np.int64), np.array([3], np.int32))
    segment.keep({1: NOWHERE})
    assert set(segment.known([1, 2])) == {1}
