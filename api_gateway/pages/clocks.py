"""Moments, ages and costs in words. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from api_gateway.pages.wording import Badge

_PRECISION = {"year": "%Y", "month": "%b %Y"}
FRESH = Badge("Fresh", "good", "clock", "Checked at its source within the time set for it")
STALE = Badge("Stale", "warn", "clock", "Last checked at its source too long ago")
BY_VERSION = Badge("By version", "quiet", "clock", "Goes by the version, not by the clock")


@dataclass(frozen=True)
class Moment:
    """A moment for people and, as `iso`, for programs."""

    words: str
    iso: str


@dataclass(frozen=True)
class ClockView:
    """Both clocks of a source (invariant 8) at the time when the answer was made.

    `age` is the time since its last check, `limit` the longest that it may be.
    """

    published: Moment | None
    checked: Moment | None
    age: str | None
    limit: str | None
    state: Badge
    dated: bool


def clocks(body: Mapping[str, Any]) -> ClockView:
    """The clocks of an evidence record or a checked source."""
    limit = body.get("sla_hours")
    state = BY_VERSION if limit is None else STALE if body.get("stale") else FRESH
    hours = body.get("freshness_hours")
    return ClockView(
        published=published(body.get("published_at"), body.get("published_precision")),
        checked=published(body.get("fetched_at")),
        age=None if hours is None else span_of_hours(hours),
        limit=None if limit is None else span_of_hours(limit),
        state=state,
        dated=bool(body.get("dated")),
    )


def moment(value: str | datetime | Moment | None) -> Moment | None:
    """A moment to the minute, in UTC; None if there is none or it cannot be parsed."""
    if isinstance(value, Moment):
        return value
    at = _parsed(value)
    return Moment(f"{at.day} {at:%b %Y, %H:%M} UTC", at.isoformat()) if at else None


def second(at: datetime) -> str:
    """A moment to the second, in UTC."""
    at = at.astimezone(UTC)
    return f"{at.day} {at:%b %Y, %H:%M:%S}"


def published(value: str | datetime | None, precision: str | None = "day") -> Moment | None:
    """A date, such as that of publication, to its known precision."""
    at = _parsed(value)
    if at is None:
        return None
    if (form := _PRECISION.get(precision or "")) is not None:
        return Moment(at.strftime(form), at.strftime("%Y" if precision == "year" else "%Y-%m"))
    return Moment(f"{at.day} {at:%b %Y}", at.date().isoformat())


def span_of_hours(hours: float) -> str:
    """An age in words: minutes, hours up to two days, then days."""
    if hours < 1:
        return f"{hours * 60:.0f} min"
    return f"{hours:.0f} h" if hours <= 48 else f"{hours / 24:.0f} d"


def milliseconds(ms: float | None) -> str:
    """A duration in words; empty if it is not known."""
    if ms is None:
        return ""
    return f"{ms:.0f} ms" if ms < 1000 else f"{ms / 1000:.1f} s"


def _parsed(value: str | datetime | None) -> datetime | None:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if value is None:
        return None
    return (value if value.tzinfo else value.replace(tzinfo=UTC)).astimezone(UTC)


def number(value: float | None) -> str:
    """A figure to three places, a large one to the whole; `unknown` if there is none."""
    if value is None:
        return "unknown"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def dollars(cost: Decimal | float) -> str:
    """A cost in US dollars; below one dollar to a hundredth of a cent."""
    return f"US$ {cost:,.4f}" if 0 < cost < 1 else f"US$ {cost:,.2f}"
