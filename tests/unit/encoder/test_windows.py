"""The rule that cuts a long text into pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.encoder.base import even_cuts


def never(_: int) -> bool:
    return False


def always(_: int) -> bool:
    return True


@pytest.mark.parametrize(
    ("count", "starts"),
    [(0, [0]), (10, [0]), (11, [0, 6]), (20, [0, 10]), (21, [0, 7, 14])],
)
def test_pieces_are_as_even_as_can_be(count: int, starts: list[int]) -> None:
    assert even_cuts(count, 10, always, always) == starts


def test_a_preferred_place_is_taken_before_an_allowed_one() -> None:
    assert even_cuts(11, 10, lambda i: i == 9, always) == [0, 9]
    assert even_cuts(11, 10, lambda i: i == 5, always) == [0, 5]


def test_a_preferred_place_that_would_leave_a_crumb_is_not_taken() -> None:
    assert even_cuts(11, 10, lambda i: i == 1, always) == [0, 6]


def test_without_any_place_the_limit_cuts() -> None:
    assert even_cuts(25, 10, never, never) == [0, 10, 20]


PLACES = st.sets(st.integers(0, 500))


@given(st.integers(0, 500), st.integers(1, 40), PLACES, PLACES)
def test_no_piece_is_empty_or_above_the_limit(
    count: int, limit: int, preferred: set[int], allowed: set[int]
) -> None:
    starts = even_cuts(count, limit, preferred.__contains__, allowed.__contains__)
    lengths = [b - a for a, b in zip(starts, [*starts[1:], count], strict=True)]
    assert sum(lengths) == count
    assert max(lengths) <= limit
    assert min(lengths) > 0 or count == 0
