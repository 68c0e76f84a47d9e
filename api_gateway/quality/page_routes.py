"""The pages of the quality metrics with their charts, and of the report."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse
from sqlmodel import Session

from api_gateway.auth.access import Scope, needs
from api_gateway.auth.limits import midnight_before
from api_gateway.pages.charts import Theme, bar_chart, line_chart
from api_gateway.pages.clocks import moment
from api_gateway.pages.rendering import page
from api_gateway.problems import not_found
from api_gateway.quality.view import (
    cost_alt,
    cost_days,
    groups,
    numeric,
    tiles,
    values,
)
from api_gateway.state import InGateway
from knowledge.operation.quality import quality_metrics
from store.extractions import quality as extraction_quality
from store.models import now
from store.reports import model_usage, quality, quality_report, week_report
from store.reports.model_usage import DayCost
from store.reports.quality_report import Day
from store.reports.week_tables import costs, stops, summary, tables

router = APIRouter(prefix="/operate", include_in_schema=False, dependencies=[needs(Scope.OPERATE)])

Days = Annotated[int, Query(ge=1, le=90)]
CHOICES = (1, 7, 30, 90)


@router.get("/quality")
def quality_page(request: Request, gateway: InGateway, days: Days = 7) -> HTMLResponse:
    """Every metric with its target and its days, what the gate did, and what models cost."""
    at = now()
    with gateway.store.reading() as session:
        report = quality_report.report(session, at - timedelta(days=days), at)
        cost = _cost(session, at, days)
    return page(
        request,
        "operate/quality.html",
        tiles=tiles(report),
        tables=numeric([stops(report.counts), costs(report.counts)]),
        groups=groups(report.metrics, report.trend, days),
        cost=cost,
        cost_alt=cost_alt(cost),
        days=days,
        choices=CHOICES,
        at=moment(at),
    )


@router.get("/quality/cost.svg")
def cost_chart(gateway: InGateway, days: Days = 7, theme: Theme = "light") -> Response:
    """The cost of each day as a drawing."""
    with gateway.store.reading() as session:
        cost = _cost(session, now(), days)
    amounts = [float(day.cost) for day in cost]
    days_shown = [one.day.isoformat() for one in cost]
    return bar_chart("US$ per day", days_shown, amounts, dark=theme == "dark").response()


@router.get("/quality/charts/{name}.svg")
def metric_chart(name: str, gateway: InGateway, days: Days = 7, theme: Theme = "light") -> Response:
    """One metric by day as a drawing."""
    metric = quality_metrics().get(name)
    if metric is None or metric.standing:
        raise not_found("chart")
    at = now()
    with gateway.store.reading() as session:
        extracted = metric.group == "extraction_quality"
        source = extraction_quality if extracted else quality
        figures = source.figures_by_day(session, at - timedelta(days=days), at)
    days_shown = _days(at, days)
    trend = [Day(day, figures.get(day, {})) for day in days_shown]
    bound = list(metric.target.body().values()) if metric.target else [None]
    drawn = line_chart(name, days_shown, values(trend, name), target=bound[0], dark=theme == "dark")
    return drawn.response()


@router.get("/report")
def report_page(request: Request, gateway: InGateway, days: Days = 7) -> HTMLResponse:
    """The weekly report, of the days up to now."""
    at = now()
    since = at - timedelta(days=days)
    with gateway.store.reading() as session:
        report = week_report.report(session, since, at, at)
    return page(
        request,
        "operate/report.html",
        summary=summary(report),
        tables=numeric(tables(report)),
        days=days,
        choices=CHOICES,
        since=moment(since),
        at=moment(at),
    )


def _days(at: datetime, days: int) -> list[str]:
    """The ISO dates of the days in the window, like those in the report's trend."""
    first = (at - timedelta(days=days)).date()
    return [(first + timedelta(days=n)).isoformat() for n in range((at.date() - first).days + 1)]


def _cost(session: Session, at: datetime, days: int) -> Sequence[DayCost]:
    """The cost of language models on each whole day of the window, and today so far."""
    since = midnight_before(at) - timedelta(days=days)
    return cost_days(model_usage.by_day(session, since), since.date(), at.date())
