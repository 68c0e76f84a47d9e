"""Fusion of two ranked lists."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.retrieve.fusion import fuse

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
