"""Schemas of the quality report, as OpenAPI shows them."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from store.reports.model_usage import Asked
from store.reports.quality import Counts
from store.reports.quality_report import Judged, QualityReport


class QualityMetricOut(BaseModel):
    """One metric over the days that were asked for, beside what it should be."""

    value: float | None = Field(description="null: there was nothing to measure; never 0 for that")
    over: int = Field(description="questions, claims, quotations or documents that it is about")
    state: Literal["met", "missed", "unknown", "untargeted"]
    met: bool | None = Field(description="whether the target is met; null: no target, or unknown")
    target: dict[str, float] | None = Field(
        description="what the value should be: one of below, at_most, at_least, above"
    )
    alert: dict[str, float] | None = Field(description="when somebody must look, in the same form")
    alerting: bool | None = Field(
        description="whether that is so; null: there is no alert, or too little was seen"
    )
    least: int = Field(description="over fewer than this the alert is silent")
    says: str
    source: str = Field(description="what sets the target")


class QualityDayOut(BaseModel):
    """One day (UTC)."""

    day: str = Field(description="such as 2026-11-22")
    metrics: dict[str, float] = Field(description="those that were known on this day")
    over: dict[str, int] = Field(description="and over how many")


class ModelRequestsOut(BaseModel):
    """Requests to models for one purpose; quantiles of those whose time or cost is known."""

    purpose: str
    requests: int
    ms_p50: float | None
    ms_p95: float | None
    cost_usd: float = Field(description="of those whose cost is known")
    cost_usd_p50: float | None
    cost_usd_p95: float | None
    cost_unknown: int


class QualityCountsOut(BaseModel):
    """What ended in the last 24 hours."""

    answers: int = Field(description="sealed answers, abstentions included")
    queries_by_type: dict[str, int]
    abstained: dict[str, int] = Field(description="by reason")
    failed: int = Field(description="questions that a stage gave up on")
    response_ms_p50: float | None = Field(description="from acceptance to the seal")
    response_ms_p95: float | None
    cost_usd: float = Field(description="of the answers whose cost is known")
    cost_unknown: int = Field(description="answers whose cost is not known")
    claims_stopped_by: dict[str, int] = Field(
        description="claims that the gate stopped, by the check that did: the code of a hard fact, "
        "`doubt` and its kind, `judge` or `verifier`; one may be stopped by several"
    )
    model_requests: list[ModelRequestsOut]


class QualityOut(BaseModel):
    """How well the service does (MRD 4.1, MARC 8.1)."""

    at: datetime
    since: datetime = Field(description="what the metrics are over begins here and ends at `at`")
    days: int
    retrieval_quality: dict[str, QualityMetricOut]
    grounding_quality: dict[str, QualityMetricOut]
    gate_quality: dict[str, QualityMetricOut]
    extraction_quality: dict[str, QualityMetricOut]
    missed: list[str] = Field(description="metrics whose target is missed")
    last_24h: QualityCountsOut
    trend: list[QualityDayOut]


def quality_out(report: QualityReport, day: Counts, days: int) -> QualityOut:
    """The response with the report and the counts of the last day."""
    groups: dict[str, dict[str, QualityMetricOut]] = {}
    for item in report.metrics:
        groups.setdefault(item.metric.group, {})[item.name] = _metric(item)
    return QualityOut(
        at=report.until,
        since=report.since,
        days=days,
        retrieval_quality=groups["retrieval_quality"],
        grounding_quality=groups["grounding_quality"],
        gate_quality=groups["gate_quality"],
        extraction_quality=groups["extraction_quality"],
        missed=[item.name for item in report.missed],
        last_24h=QualityCountsOut(
            answers=day.answers,
            queries_by_type=day.by_type,
            abstained=day.abstained,
            failed=day.failed,
            response_ms_p50=_rounded(day.response_ms_p50),
            response_ms_p95=_rounded(day.response_ms_p95),
            cost_usd=float(day.cost_usd),
            cost_unknown=day.cost_unknown,
            claims_stopped_by=dict(day.stops),
            model_requests=[_requests(one) for one in day.asked],
        ),
        trend=[
            QualityDayOut(
                day=item.day,
                metrics={
                    name: round(figure.value, 4)
                    for name, figure in item.figures.items()
                    if figure.value is not None
                },
                over={name: figure.over for name, figure in item.figures.items()},
            )
            for item in report.trend
        ],
    )


def _requests(one: Asked) -> ModelRequestsOut:
    return ModelRequestsOut(
        purpose=one.purpose,
        requests=one.requests,
        ms_p50=_rounded(one.ms_p50),
        ms_p95=_rounded(one.ms_p95),
        cost_usd=float(one.cost_usd),
        cost_usd_p50=_rounded(one.cost_p50, 6),
        cost_usd_p95=_rounded(one.cost_p95, 6),
        cost_unknown=one.unpriced,
    )


def _metric(one: Judged) -> QualityMetricOut:
    metric = one.metric
    return QualityMetricOut(
        value=_rounded(one.figure.value),
        over=one.figure.over,
        state=one.state,
        met=one.met,
        target=metric.target.body() if metric.target else None,
        alert=metric.alert.body() if metric.alert else None,
        alerting=one.alerting,
        least=metric.least,
        says=metric.says,
        source=metric.source,
    )


def _rounded(value: float | None, places: int = 4) -> float | None:
    return None if value is None else round(value, places)
