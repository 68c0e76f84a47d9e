"""Stretches of a text as one set of places, asked in logarithmic time. Pure."""

from bisect import bisect_left
from collections.abc import Iterable


class Places:
    """The places of spans `[start, end)`, those that touch joined."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(spans):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)

    def meet(self, start: int, end: int) -> bool:
        """Whether any of them is in `[start, end)`."""
        before = bisect_left(self._starts, end) - 1
        return before >= 0 and self._ends[before] > start
