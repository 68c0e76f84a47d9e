"""The handed kinds of PDF: a raised digit is no part of its number, a note none of a sentence."""

import pytest

from workers.file_formats.layout import Run, laid_out

HEIGHT, SMALL = 12.9, 8.2


@pytest.mark.parametrize("at", [50.0, 129.0])
def test_a_raised_digit_is_raised_wherever_its_font_is_set(at: float) -> None:
    """Some writers do not move on: the mark has the place of the margin."""
    runs = [
        Run("Mortality was 12 ", 50, 129, 760, HEIGHT, 1),
        Run("3 ", at, at + 4, 764, SMALL, 1),
        Run("percent and dose 10 ", at + 3, at + 103, 760, HEIGHT, 1),
        Run("9", at, at + 4, 764, SMALL, 1),
    ]
    (laid,) = laid_out([runs])
    assert laid.text == "Mortality was 12³ percent and dose 10⁹"
