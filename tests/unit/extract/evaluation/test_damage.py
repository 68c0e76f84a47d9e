"""Which words a scan damaged, and which are right though one letter away from another."""

import pytest

from tests.grid import grid
from workers.extract.evaluation.damage import damage, meant


@grid(
    "word",
    ["metastases", "states", "breath", "diagnosed", "unclear", "simple", "lisinopril",
     "esomeprazole", "prednisone"],
)  # fmt: skip
def test_a_word_of_the_language_is_not_damaged(word: str) -> None:
    assert meant(word) is None
    assert damage(f"with {word} of the left side").places == []


@pytest.mark.parametrize(
    "word",
    ["furoscmide", "Metf0rmin", "lisinopri1", "apixabam", "margims"],
)
def test_a_drug_or_a_word_of_ours_with_a_wrong_letter_is_damaged(word: str) -> None:
    assert len(damage(f"Takes {word} 20 mg daily").places) == 1
