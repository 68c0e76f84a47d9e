"""The `marc.*` metrics of the extraction loop, over the extractions that ended in a window.

A document that could not be read has no score and no iteration, so it is not in these figures.
"""

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlmodel import Session

from knowledge.operation.quality import UNKNOWN, Figure

_FIGURES = """
    count(*) AS documents,
    avg(most) AS iterations,
    count(score) AS scored,
    avg(score) AS score,
    count(met_threshold) AS judged,
    count(*) FILTER (WHERE met_threshold) AS met,
    avg(seconds) * 1000 AS ms,
    coalesce(sum(gains), 0) AS gains,
    sum(gained) AS gained
    FROM extraction AS e
    JOIN LATERAL (
        SELECT max(n) AS most, count(gain) FILTER (WHERE n > 1) AS gains,
               sum(gain) FILTER (WHERE n > 1) AS gained
        FROM extraction_iteration WHERE extraction_id = e.id) AS i ON i.most IS NOT NULL
    WHERE finished_at >= :since AND finished_at < :until AND outcome = 'extracted'
"""


def figures(session: Session, since: datetime, until: datetime) -> dict[str, Figure]:
    """The metrics of MARC 8.1 over the extractions that ended in [since, until)."""
    window = {"since": since, "until": until}
    return _figures(session.execute(sa.text(f"SELECT {_FIGURES}"), window).one())


def figures_by_day(
    session: Session, since: datetime, until: datetime
) -> dict[str, dict[str, Figure]]:
    """The same for each day (UTC) on which an extraction ended, by its ISO date."""
    rows = session.execute(
        sa.text(
            f"SELECT (finished_at AT TIME ZONE 'UTC')::date AS day, {_FIGURES} "
            "GROUP BY day ORDER BY day"
        ),
        {"since": since, "until": until},
    )
    return {row.day.isoformat(): _figures(row) for row in rows}


def _figures(row: Any) -> dict[str, Figure]:
    return {
        "marc.iteration_count": _mean(row.iterations, row.documents),
        "marc.final_score": _mean(row.score, row.scored),
        "marc.threshold_met_rate": _mean(row.met / row.judged if row.judged else None, row.judged),
        "marc.processing_time_ms": _mean(row.ms, row.documents),
        "marc.improvement_per_iteration": _mean(
            float(row.gained) / int(row.gains) if row.gains else None, row.gains
        ),
    }


def _mean(value: Any, over: int) -> Figure:
    return Figure(float(value), int(over)) if over else UNKNOWN
