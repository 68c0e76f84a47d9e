"""Extraction over a window of time: outcomes, scores, durations and cost.

Counts, shares, means and seconds, but no ids and no words. Targets and alerts of the `marc.*`
metrics are in `knowledge/operation/quality.yaml`.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

import sqlalchemy as sa
from sqlmodel import Session


@dataclass(frozen=True)
class Figures:
    """Extractions that ended in a window; a mean of nothing is None. Scores are 0-1."""

    documents: int
    """Extracted to the end, without unreadable and failed ones."""
    unreadable: int
    failed: int
    iterations_mean: float | None
    """Per document; for a composite, of the part that took most."""
    score_mean: float | None
    score_lowest: float | None
    threshold_met_rate: float | None
    processing_ms_p50: float | None
    processing_ms_p95: float | None
    improvement_mean: float | None
    """Gain of an iteration over the previous one."""
    cost_usd: Decimal
    """The sum of the known costs."""
    unpriced: int
    """Documents whose cost is not known."""
    reviews_open: int
    unfinished: int
    """At present, whenever they were accepted."""


_FIGURES = sa.text(
    """
    WITH ended AS (
        SELECT * FROM extraction WHERE finished_at >= :since AND status IN ('done', 'failed')),
    extracted AS (SELECT * FROM ended WHERE outcome = 'extracted' AND status = 'done'),
    longest AS (
        SELECT extraction_id, max(n) AS iterations FROM extraction_iteration
        WHERE extraction_id IN (SELECT id FROM extracted) GROUP BY extraction_id)
    SELECT (SELECT count(*) FROM extracted) AS documents,
           (SELECT count(*) FROM ended WHERE status = 'done' AND outcome = 'unreadable')
               AS unreadable,
           (SELECT count(*) FROM ended WHERE status = 'failed') AS failed,
           (SELECT avg(iterations)::float8 FROM longest) AS iterations_mean,
           (SELECT avg(score) FROM extracted) AS score_mean,
           (SELECT min(score) FROM extracted) AS score_lowest,
           (SELECT avg(met_threshold::int)::float8 FROM extracted) AS threshold_met_rate,
           (SELECT 1000 * percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) FROM extracted)
               AS processing_ms_p50,
           (SELECT 1000 * percentile_cont(0.95) WITHIN GROUP (ORDER BY seconds) FROM extracted)
               AS processing_ms_p95,
           (SELECT avg(gain) FROM extraction_iteration
            WHERE gain IS NOT NULL AND extraction_id IN (SELECT id FROM extracted))
               AS improvement_mean,
           (SELECT coalesce(sum(cost_usd), 0) FROM extracted) AS cost_usd,
           (SELECT count(*) FROM extracted WHERE cost_usd IS NULL) AS unpriced,
           (SELECT count(*) FROM review WHERE status = 'open') AS reviews_open,
           (SELECT count(*) FROM extraction WHERE status IN ('queued', 'running')) AS unfinished
    """
)


def figures(session: Session, since: datetime) -> Figures:
    """The figures of extractions that ended at `since` or later."""
    row = session.execute(_FIGURES, {"since": since}).one()
    return Figures(**{**row._mapping, "cost_usd": Decimal(row.cost_usd)})
