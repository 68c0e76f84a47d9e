"""No reader of foreign text takes more than linear time on any text."""

from collections.abc import Callable

import pytest

from tests.linearity.readers import AREAS, all_readers, steep

READERS = all_readers()


@pytest.mark.parametrize("name", sorted(READERS))
def test_a_reader_takes_time_in_proportion_to_the_text(name: str) -> None:
    found = steep(name, READERS[name])

    assert found is None, found.told()


def test_every_area_lists_its_readers() -> None:
    listed = {name.partition(": ")[0] for name in READERS}

    assert listed == set(AREAS)


def looks_anew_from_each_place(text: str) -> int:
    return sum(text.find("!", at) for at in range(len(text)))


def compares_all_with_all(text: str) -> int:
    words = text.split()
    return sum(1 for one in words if words.count(one) > 1)


def copies_what_is_left(text: str) -> int:
    count = 0
    while text:
        text, count = text[1:], count + 1
    return count


def recurses(text: str) -> int:
    return 0 if not text.startswith("(") else 1 + recurses(text[1:])


@pytest.mark.parametrize(
    "read", [looks_anew_from_each_place, compares_all_with_all, copies_what_is_left]
)
def test_a_quadratic_reader_is_noticed(read: Callable[[str], object]) -> None:
    assert steep("planted", read) is not None


def test_a_reader_that_recurses_is_noticed() -> None:
    with pytest.raises(RecursionError):
        steep("planted", recurses)


@pytest.mark.parametrize("read", [str.split, str.casefold, lambda text: sorted(set(text))])
def test_a_linear_reader_is_not_accused(read: Callable[[str], object]) -> None:
    assert steep("planted", read) is None
