"""Rows of a table whose cells reach over several rows or columns. Pure.

A value that slips into the next column speaks of another arm. So a cell that reaches over several
rows is repeated in each of them, and one over several columns is followed by empty ones: every cell
stands in its own column.
"""

from collections.abc import Iterable
from dataclasses import dataclass

_MAX_SPAN = 60  # rows or columns that a cell may reach over; more is a broken table
_MAX_REPEATED_ALL = 100_000  # characters of a table's cells repeated in the rows they reach over
_MAX_REACHED_ALL = 20_000  # places of a table that cells reach over; more is meant to blow it up


@dataclass(frozen=True)
class Cell:
    """The words of a cell, and how far it reaches."""

    text: str
    rows: int = 1
    columns: int = 1


def whole(written: str | None) -> int | None:
    """An attribute that is a whole number from 1 to 999; None for any other."""
    digits = (written or "").strip()
    if not (digits.isascii() and digits.isdigit() and len(digits) < 4):
        return None
    return int(digits) or None


def span(written: str | None) -> int:
    """How far `rowspan` or `colspan` says that a cell reaches; 1 for what cannot be meant."""
    return min(whole(written) or 1, _MAX_SPAN)


class Grid:
    """Lays out the rows of one table, one after the other."""

    def __init__(self) -> None:
        self._reaching: dict[int, tuple[int, str]] = {}  # column → rows left, and its words
        self._repeatable = _MAX_REPEATED_ALL
        self._reachable = _MAX_REACHED_ALL

    def row(self, cells: Iterable[Cell]) -> list[str]:
        """The texts of the next row, each in its column; none that is empty at the end."""
        laid: list[str] = []
        for cell in cells:
            self._fill(laid)
            self._reachable -= cell.rows * cell.columns - 1
            if self._reachable < 0:
                laid.append(cell.text)
                continue
            self._repeatable -= len(cell.text) * (cell.rows - 1)
            below = cell.text if self._repeatable > 0 else ""
            for column in range(cell.columns):
                if cell.rows > 1:
                    self._reaching[len(laid)] = (cell.rows - 1, "" if column else below)
                laid.append("" if column else cell.text)
        self._fill(laid)
        while laid and not laid[-1]:
            laid.pop()
        return laid

    def _fill(self, laid: list[str]) -> None:
        """Append the cells of rows above that reach into this place."""
        while len(laid) in self._reaching:
            left, text = self._reaching.pop(len(laid))
            if left > 1:
                self._reaching[len(laid)] = (left - 1, text)
            laid.append(text)
