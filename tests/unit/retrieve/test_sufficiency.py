"""Sufficiency of what was found."""

import pytest

from workers.retrieve.sufficiency import sufficiency


@pytest.mark.parametrize(
    ("covered", "score", "level"),
    [([], 0, "insufficient"), ([0.4], 37, "limited"), ([0.5, 0.5, 0.5], 75, "good")],
)
def test_sufficiency_is_scored_from_0_to_100(covered: list[float], score: int, level: str) -> None:
    found = sufficiency(covered)
    assert (found["score"], found["level"]) == (score, level)
