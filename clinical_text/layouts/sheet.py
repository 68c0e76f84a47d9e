"""A text whose signs are replaced in their places, and names that stand elsewhere in it. Pure."""

from collections.abc import Iterator
from typing import NamedTuple

FILL = "\u00a0"
"""What stands for the letters of a mark that was written out: no gap between columns."""


class Named(NamedTuple):
    """What a head of a column says of a value that does not stand beside it."""

    start: int
    end: int
    title: str


class Sheet:
    """The signs of a text: what is blanked becomes spaces, line ends stay."""

    def __init__(self, text: str) -> None:
        """Nothing is replaced at first."""
        self._given = text
        self._signs = list(text)
        self.named: list[Named] = []

    def blank(self, start: int, end: int) -> None:
        """Spaces for all but the line ends."""
        for at in range(start, end):
            if self._signs[at] != "\n":
                self._signs[at] = " "

    def put(self, at: int, sign: str) -> None:
        """One sign in a place."""
        self._signs[at] = sign

    def keep(self, start: int, end: int) -> None:
        """The signs as they were given, where they had been blanked."""
        self._signs[start:end] = self._given[start:end]

    def sign(self, at: int) -> str:
        """What stands in a place now."""
        return self._signs[at]

    def text(self) -> str:
        """The text as it stands now, as long as before."""
        return "".join(self._signs)


def lines(text: str) -> Iterator[tuple[int, int]]:
    """Where each line begins and ends, the line end not counted."""
    at = 0
    for line in text.split("\n"):
        yield at, at + len(line)
        at += len(line) + 1
