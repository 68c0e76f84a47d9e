"""A grid is one test that tries every row and names those that fail."""

import hypothesis
import pytest
from hypothesis import strategies as st

from tests.grid import grid


def test_every_row_is_tried_and_those_that_fail_are_named() -> None:
    tried = []

    @grid(("one", "two"), [(1, 1), (1, 2), (2, 2), pytest.param(3, 4, id="last")])
    def both_are_equal(one: int, two: int) -> None:
        tried.append(one)
        assert one == two

    with pytest.raises(ExceptionGroup, match="2 of 4 rows") as caught:
        both_are_equal()

    assert tried == [1, 1, 2, 3]
    assert "row 2: one=1, two=2\nrow 4: one=3, two=4" in caught.value.message
    assert [error.__notes__ for error in caught.value.exceptions] == [
        ["in row 2: one=1, two=2"],
        ["in row 4: one=3, two=4"],
    ]


def test_what_pytest_calls_a_failure_is_one() -> None:
    @grid("reason", ["a"])
    def fail(reason: str) -> None:
        pytest.fail(reason)

    with pytest.raises(BaseExceptionGroup, match="1 of 1 rows"):
        fail()


def test_a_skip_is_no_failure() -> None:
    @grid("reason", ["a"])
    def skip(reason: str) -> None:
        pytest.skip(reason)

    with pytest.raises(pytest.skip.Exception):
        skip()


def test_grids_stand_above_each_other_and_multiply() -> None:
    seen = set()

    @grid("letter", "ab")
    @grid("number", [1, 2])
    def see(letter: str, number: int) -> None:
        seen.add((letter, number))

    see()

    assert seen == {("a", 1), ("a", 2), ("b", 1), ("b", 2)}


@grid("least", [3, 5])
@hypothesis.given(number=st.integers(min_value=5))
def test_a_property_may_have_rows(least: int, number: int) -> None:
    assert number >= least


@grid("suffix", [".txt", ".md"])
def test_fixtures_are_those_of_the_test(suffix: str, tmp_path_factory: object) -> None:
    assert suffix
    assert tmp_path_factory is not None


@pytest.mark.parametrize("row", [(1,), (1, 2, 3)], ids=["short", "long"])
def test_a_row_has_a_value_for_each_name(row: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="argument"):
        grid(("one", "two"), [row])


def test_a_grid_without_rows_is_skipped() -> None:
    @grid("one", [])
    def cannot_fail(one: int) -> None:
        raise AssertionError(one)

    with pytest.raises(pytest.skip.Exception, match="no rows of one"):
        cannot_fail()
