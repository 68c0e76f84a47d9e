"""Views of the quality page: metrics with targets and trends, and the cost. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from api_gateway.operations.view import Tile
from api_gateway.pages.clocks import dollars, milliseconds, number
from api_gateway.pages.wording import Badge
from knowledge.operation.quality import UNKNOWN, Figure, Group
from store.core.plurals import counted
from store.reports.model_usage import DayCost
from store.reports.quality_report import Day, Judged, QualityReport
from store.reports.week_tables import Table

STATE: Mapping[str, Badge] = {
    "met": Badge("Met", "good", "check", "The target is met"),
    "missed": Badge("Missed", "bad", "cross", "The target is missed"),
    "unknown": Badge("Unknown", "quiet", "question", "There was nothing to measure"),
    "untargeted": Badge("No target", "quiet", "clock", "It is told, and nothing sets a target"),
}
ALERTING = Badge("Alert", "bad", "warning", "Somebody must look")
GROUP: Mapping[Group, str] = {
    "retrieval_quality": "Retrieval",
    "grounding_quality": "Grounding",
    "gate_quality": "Gate",
    "extraction_quality": "Extraction",
}
CHARTS = "/operate/quality/charts"


@dataclass(frozen=True)
class Point:
    """A figure of one day in words; `value` is empty if nothing was measured."""

    day: str
    value: str
    over: int


@dataclass(frozen=True)
class MetricView:
    """A metric over the window. `chart` is the address of its chart; None without daily values."""

    name: str
    title: str
    source: str
    value: str
    target: str
    over: int
    badges: Sequence[Badge]
    chart: str | None
    alt: str
    points: Sequence[Point]


@dataclass(frozen=True)
class GroupView:
    """The metrics of one kind, under its title."""

    name: str
    title: str
    metrics: Sequence[MetricView]


def tiles(report: QualityReport) -> list[Tile]:
    """What was answered, in whose words, whether the judges agreed, and what an answer cost."""
    counts = report.counts
    figures = {one.name: one.figure for one in report.metrics}
    own, source, apart = (
        figures.get(name, UNKNOWN)
        for name in ("own_words_rate", "source_words_rate", "judges_disagree_rate")
    )
    asked, priced = sum(one.requests for one in counts.asked), counts.answers - counts.cost_unknown
    took = milliseconds(counts.response_ms_p95)
    return [
        Tile(
            "Answers",
            f"{counts.answers:,}",
            f"{sum(counts.abstained.values()):,} abstained, {counts.failed:,} failed"
            + (f"; 95% took up to {took}" if took else ""),
        ),
        Tile(
            "In a model's own words",
            _share(own),
            f"of {counted(own.over, 'claim')} that it drafted; {_share(source)} in words of sources"
            if own.over
            else "no model drafted a claim",
        ),
        Tile(
            "Judges disagreed on",
            _share(apart),
            f"of {counted(apart.over, 'claim')}" if apart.over else "no claim had two judges",
        ),
        Tile(
            "Requests an answer",
            number(asked / counts.answers) if counts.answers else "none",
            f"{counted(asked, 'request')} to models, those for documents and notes too",
        ),
        Tile(
            "Cost of an answer",
            dollars(counts.cost_usd / priced) if priced else "unknown",
            f"{dollars(counts.cost_usd)} in all"
            + (f"; of {counts.cost_unknown:,} it is not known" if counts.cost_unknown else ""),
        ),
    ]


def _share(figure: Figure) -> str:
    return "none" if figure.value is None else f"{figure.value:.0%}"


def groups(metrics: Iterable[Judged], trend: Sequence[Day], days: int) -> list[GroupView]:
    """The metrics by their kind.

    Args:
        days: the length of the window, for the addresses of the charts.
    """
    by_group: dict[Group, list[MetricView]] = {group: [] for group in GROUP}
    for metric in metrics:
        by_group[metric.metric.group].append(_metric(metric, trend, days))
    return [GroupView(group, GROUP[group], shown) for group, shown in by_group.items() if shown]


def _metric(one: Judged, trend: Sequence[Day], days: int) -> MetricView:
    points = [] if one.metric.standing else [_point(day, one.name) for day in trend]
    target = one.metric.target.words() if one.metric.target else ""
    drawn = sum(1 for point in points if point.value) > 1  # one point says no more than its figure
    return MetricView(
        name=one.name,
        title=one.metric.says[:1].upper() + one.metric.says[1:],
        source=one.metric.source,
        value=number(one.figure.value),
        target=target,
        over=one.figure.over,
        badges=[STATE[one.state], *([ALERTING] if one.alerting else [])],
        chart=f"{CHARTS}/{one.name}.svg?days={days}" if drawn else None,
        alt=_alt(one.name, values(trend, one.name), target),
        points=points,
    )


def _point(day: Day, name: str) -> Point:
    figure = day.figures.get(name)
    if figure is None or figure.value is None:
        return Point(day.day, "", 0)
    return Point(day.day, number(figure.value), figure.over)


def values(trend: Iterable[Day], name: str) -> list[float | None]:
    """The values of a metric by day; None for a day without a measurement."""
    figures = [day.figures.get(name) for day in trend]
    return [None if figure is None else figure.value for figure in figures]


def _alt(name: str, seen: Sequence[float | None], target: str) -> str:
    known = [value for value in seen if value is not None]
    if not known:
        return ""
    between = f"from {number(min(known))} to {number(max(known))}"
    of_days = f"known on {len(known)} of {len(seen)} days"
    summary = f"{name} per day: {between}, last {number(known[-1])}, {of_days}"
    return f"{summary}; target {target}" if target else summary


def numeric(tables: Iterable[Table]) -> list[tuple[Table, Sequence[bool]]]:
    """Tables, each with which of its columns are figures, or words for one that is not known."""
    return [
        (table, [all(map(_FIGURE.fullmatch, column)) for column in zip(*table.rows, strict=True)])
        for table in tables
    ]


_FIGURE = re.compile(r"(?:[≥≤<>] )?-?[\d,.]+(?:e[+-]\d+)?|-|unknown|nothing held")


def cost_days(rows: Iterable[DayCost], first: date, last: date) -> list[DayCost]:
    """The costs of all days from `first` to `last`, including days without requests."""
    known = {row.day: row for row in rows}
    days = (first + timedelta(days=n) for n in range((last - first).days + 1))
    return [known.get(day, DayCost(day, Decimal(0), 0, 0)) for day in days]


def cost_alt(days: Sequence[DayCost]) -> str:
    """The alternative text of the cost chart."""
    total = sum((day.cost for day in days), Decimal(0))
    most = dollars(max(day.cost for day in days))
    return f"Cost per day over {len(days)} days: {dollars(total)} in all, at most {most}"
