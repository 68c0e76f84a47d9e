"""Fusion of two ranked lists, and what documents lend to those near them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from knowledge.answering.policy import retrieval_policy
from workers.retrieve.fusion import Fused, fuse, support

RANKED = st.lists(
    st.tuples(st.integers(0, 200), st.floats(0.01, 50.0)), unique_by=lambda pair: pair[0]
).map(lambda pairs: sorted(pairs, key=lambda pair: -pair[1]))


def test_fusion_weighs_words_by_two_fifths_and_meaning_by_three() -> None:
    fused = {one.chunk_id: one.score for one in fuse([(1, 10.0), (2, 5.0)], [(2, 0.8), (1, 0.4)])}
    assert fused[1] == pytest.approx(0.4 * 1.0 + 0.6 * 0.5)
    assert fused[2] == pytest.approx(0.4 * 0.5 + 0.6 * 1.0)


def test_a_score_that_is_missing_from_a_full_list_counts_as_its_last() -> None:
    words = [(key, 50.0 - key) for key in range(50)]
    fused = {one.chunk_id: one.score for one in fuse(words, [(99, 0.9)])}
    assert fused[99] == pytest.approx(0.4 * (1.0 / 50.0) + 0.6)


def test_a_score_that_is_missing_from_a_short_list_counts_as_nothing() -> None:
    fused = {one.chunk_id: one.score for one in fuse([(1, 10.0)], [(2, 0.9)])}
    assert fused[1] == pytest.approx(0.4)
    assert fused[2] == pytest.approx(0.6)


@given(RANKED, RANKED)
def test_fusion_keeps_every_candidate_once_in_order_of_its_score(
    words: list[tuple[int, float]], meaning: list[tuple[int, float]]
) -> None:
    fused = fuse(words, meaning)
    assert {one.chunk_id for one in fused} == {key for key, _ in words + meaning}
    assert [one.score for one in fused] == sorted((one.score for one in fused), reverse=True)
    assert all(0.0 <= one.score <= 1.0 + 1e-9 for one in fused)


def chunks(*scores: float) -> list[Fused]:
    return [Fused(key, score, None, None) for key, score in enumerate(scores)]


def unit(*vectors: tuple[float, ...]) -> NDArray[np.float32]:
    rows = np.array(vectors, np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


def test_a_document_beside_a_good_one_passes_an_equal_one_that_stands_alone() -> None:
    vectors = unit((1, 0, 0), (0, 0, 1), (0.9, 0.1, 0))
    ranked = support(chunks(0.9, 0.5, 0.5), {0: 0, 1: 1, 2: 2}, vectors)
    assert [one.chunk_id for one in ranked] == [0, 2, 1]


def test_a_document_gets_a_fifth_of_its_score_from_the_mean_of_its_neighbours() -> None:
    vectors = unit((1, 0), (0.6, 0.8), (0.8, 0.6))
    scores = {
        one.chunk_id: one.score
        for one in support(chunks(1.0, 0.5, 0.2), {0: 0, 1: 1, 2: 2}, vectors)
    }
    assert scores[0] == pytest.approx(0.8 * 1.0 + 0.2 * (0.6 * 0.5 + 0.8 * 0.2) / (0.6 + 0.8))


def test_only_the_nearest_documents_lend() -> None:
    count = retrieval_policy().neighbours.count
    near = [(1.0, 0.01 * n) for n in range(count + 1)]
    scores = chunks(*[0.5] * (count + 1), 1.0)
    vectors = unit(*near, (0.3, 1.0))
    ranked = support(scores, {n: n for n in range(count + 2)}, vectors)
    lent = {one.chunk_id: one.score for one in ranked}
    assert lent[0] == pytest.approx(0.5), "the best document is not among its nearest"


def test_passages_of_one_document_keep_their_order_and_lend_each_other_nothing() -> None:
    vectors = unit((1, 0), (1, 0.1))
    ranked = support(chunks(0.9, 0.4, 0.6), {0: 0, 1: 0, 2: 1}, vectors)
    scores = {one.chunk_id: one.score for one in ranked}
    assert scores[0] == pytest.approx(0.8 * 0.9 + 0.2 * 0.6)
    assert scores[1] == pytest.approx(0.8 * 0.4 + 0.2 * 0.6)


def test_a_document_without_neighbours_keeps_its_score() -> None:
    assert support(chunks(0.7), {0: 0}, unit((1, 0))) == chunks(0.7)
    opposite = support(chunks(0.7, 0.3), {0: 0, 1: 1}, unit((1, 0), (-1, 0)))
    assert [one.score for one in opposite] == pytest.approx([0.7, 0.3])
    assert support([], {}, np.zeros((0, 0), np.float32)) == []


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 3)), max_size=30), st.integers(0, 99))
def test_support_keeps_every_chunk_once_in_order_and_in_range(
    found: list[tuple[float, int]], seed: int
) -> None:
    found = sorted(found, reverse=True)
    fused = chunks(*(score for score, _ in found))
    numbers = {name: row for row, name in enumerate(dict.fromkeys(name for _, name in found))}
    document = {key: numbers[name] for key, (_, name) in enumerate(found)}
    drawn = np.random.default_rng(seed).normal(size=(len(numbers), 8)).astype(np.float32)
    ranked = support(fused, document, unit(*drawn) if numbers else drawn)
    assert sorted(one.chunk_id for one in ranked) == [one.chunk_id for one in fused]
    assert [one.score for one in ranked] == sorted((one.score for one in ranked), reverse=True)
    assert all(-1e-9 <= one.score <= 1 + 1e-9 for one in ranked)
