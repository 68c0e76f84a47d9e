"""Does a series grow? Pure: no clock, no server.

The slope is that of Theil and Sen: the median of the slopes between all pairs of points (Theil
1950; Sen 1968, "Estimates of the regression coefficient based on Kendall's tau"). Spikes, and up to
29 points of a hundred that are anything at all, do not move it far. A series grows if that slope
takes it further than is tolerated, if Sen's interval for the slope lies above zero, and if its
floor rises too (a tenth of the points may lie below it): what is cleared away now and then, as dead
rows by vacuum, goes up and down and ends anywhere.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

WARM_UP = 0.3
"""Ours: the share of the time in which caches, plans and connections may still be made."""
FEWEST = 12
"""Ours: with fewer points after the warm-up nothing is shown."""
Z_95 = 1.6449
"""One-sided 95 of 100 of a normal distribution."""


class TooFew(ValueError):
    """Too few points to say anything, which is no good news."""


@dataclass(frozen=True)
class Series:
    """What was measured over time. `points`: seconds since the beginning, value.

    A growth of up to `absolute`, or of up to `share` of its median, whichever is more, is
    tolerated over the time behind the warm-up. `judged` False: it is shown only.
    """

    name: str
    unit: str
    points: Sequence[tuple[float, float]]
    absolute: float
    share: float = 0.0
    judged: bool = True


@dataclass(frozen=True)
class Verdict:
    """What became of a series. `growth`: what the slope amounts to behind the warm-up;
    `at_least` the same by the lower end of its interval; `first` and `last` are the medians of the
    first and the last quarter."""

    series: Series
    first: float
    last: float
    growth: float
    at_least: float
    tolerated: float
    grows: bool


def slopes(points: Sequence[tuple[float, float]]) -> list[float]:
    """The slopes between all pairs of points, in order of size."""
    return sorted(
        (later[1] - sooner[1]) / (later[0] - sooner[0])
        for number, sooner in enumerate(points)
        for later in points[number + 1 :]
        if later[0] > sooner[0]
    )


def judge(series: Series, warm_up: float = WARM_UP) -> Verdict:
    """Whether a series grows behind its warm-up.

    Raises:
        TooFew: there is too little of it.
    """
    begun, ended = series.points[0][0], series.points[-1][0]
    after = begun + (ended - begun) * warm_up
    points = [one for one in series.points if one[0] >= after]
    if len(points) < FEWEST:
        raise TooFew(f"{series.name}: {len(points)} points, at least {FEWEST} are needed")
    values = [value for _, value in points]
    span = points[-1][0] - points[0][0]
    found = slopes(points)
    growth = statistics.median(found) * span
    at_least = found[_lower_rank(len(points), len(found))] * span
    tolerated = max(series.absolute, series.share * abs(statistics.median(values)))
    quarter = max(1, len(values) // 4)
    first, last = values[:quarter], values[-quarter:]
    rises = _floor(last) - _floor(first) > tolerated / 2
    return Verdict(
        series,
        statistics.median(first),
        statistics.median(last),
        growth,
        at_least,
        tolerated,
        grows=series.judged and growth > tolerated and at_least > 0 and rises,
    )


def _floor(values: Sequence[float]) -> float:
    """What a tenth of the values lies below."""
    return sorted(values)[len(values) // 10]


def _lower_rank(points: int, pairs: int) -> int:
    """The place of the lower end of the interval among the ordered slopes: half of what remains
    when the spread of Kendall's statistic is taken off (Sen 1968; Hollander and Wolfe)."""
    spread = math.sqrt(points * (points - 1) * (2 * points + 5) / 18)
    return max(0, min(pairs - 1, int((pairs - Z_95 * spread) / 2)))


def table(verdicts: Sequence[Verdict]) -> str:
    """The verdicts as a Markdown table, what grows first."""
    head = (
        "| what | first quarter | last quarter | growth by slope | tolerated | verdict |\n"
        "| --- | ---: | ---: | ---: | ---: | --- |"
    )
    ordered = sorted(verdicts, key=lambda one: (not one.grows, not one.series.judged))
    rows = [
        f"| {one.series.name}{f' ({one.series.unit})' if one.series.unit else ''} "
        f"| {one.first:,.1f} | {one.last:,.1f} | {one.growth:+,.2f} "
        f"| {f'{one.tolerated:,.1f}' if one.series.judged else '–'} | {_word(one)} |"
        for one in ordered
    ]
    return "\n".join([head, *rows])


def _word(verdict: Verdict) -> str:
    if not verdict.series.judged:
        return "shown only"
    return "**grows**" if verdict.grows else "flat"
