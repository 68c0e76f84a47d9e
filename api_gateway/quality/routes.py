"""The API route of quality: every metric of the plans with its target and its alert."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Query

from api_gateway.auth.access import Scope, needs
from api_gateway.problems import documented
from api_gateway.quality.schemas import QualityOut, quality_out
from api_gateway.state import InGateway
from store.models import now
from store.reports import quality, quality_report

router = APIRouter(prefix="/v1/quality", tags=["operators"])


@router.get(
    "",
    summary="How well the service does",
    description="Each metric over the days that are asked for, with its target, when somebody must "
    "look, and over how many questions, claims or documents it is; unknown where there was "
    "nothing. With the counts of the last 24 hours and the metrics of each day.",
    responses=documented(422, 503),
    dependencies=[needs(Scope.OPERATE)],
)
def show_quality(
    gateway: InGateway,
    days: Annotated[int, Query(ge=1, le=90, description="how far back the metrics go")] = 7,
) -> QualityOut:
    """The report."""
    moment = now()
    with gateway.store.reading() as session:
        report = quality_report.report(session, moment - timedelta(days=days), moment)
        last_day = quality.counts(session, moment - quality_report.LAST_DAY, moment)
    return quality_out(report, last_day, days)
