"""What the gate made of the claims of late, counted from the answers themselves."""

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlmodel import Session

_COUNTS = """
    SELECT count(*) AS answers,
           count(*) FILTER (WHERE abstain_reason IS NOT NULL) AS abstained,
           coalesce(sum((body #>> '{verification_summary,verified_count}')::int), 0) AS verified,
           coalesce(sum((body #>> '{verification_summary,partial_count}')::int), 0) AS partial,
           coalesce(sum((body #>> '{verification_summary,unverified_count}')::int), 0)
               AS unverified,
           coalesce(sum((body #>> '{verification_summary,conflicting_count}')::int), 0)
               AS conflicting,
           coalesce(sum((body #>> '{quotations,inside_claims}')::int), 0) AS quotations,
           coalesce(sum((body #>> '{quotations,unanchored}')::int), 0) AS unanchored
    FROM answer WHERE created_at >= :since
"""


@dataclass(frozen=True)
class TruthReport:
    """Answers since a moment, the drafted claims by what became of them, and the quotation marks
    inside claims, with how many lost them because the words stood nowhere (MRD 3.2)."""

    answers: int
    abstained: int
    verified: int
    partial: int
    unverified: int
    conflicting: int
    quotations: int
    unanchored: int

    @property
    def unanchored_rate(self) -> float | None:
        """Share of quotations that were none; None without quotations."""
        return self.unanchored / self.quotations if self.quotations else None


def truth_report(session: Session, since: datetime) -> TruthReport:
    """The counts of all answers since then."""
    row = session.execute(sa.text(_COUNTS), {"since": since}).one()
    return TruthReport(**{key: int(value) for key, value in row._mapping.items()})
