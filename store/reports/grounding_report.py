"""Recent verdicts of the gate on claims, as measured when answers were sealed."""

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlmodel import Session

_COUNTS = """
    SELECT count(*) AS answers,
           count(abstain_reason) AS abstained,
           coalesce(sum(verified), 0) AS verified,
           coalesce(sum(partial), 0) AS partial,
           coalesce(sum(unverified), 0) AS unverified,
           coalesce(sum(conflicting), 0) AS conflicting,
           coalesce(sum(quotations - citations), 0) AS quotations,
           coalesce(sum(unanchored), 0) AS unanchored
    FROM answer_quality WHERE sealed_at >= :since
"""


@dataclass(frozen=True)
class TruthReport:
    """Answers since a time, their drafted claims by verdict, the quotations inside claims, and how
    many lost their quotation marks because the words were in no source (MRD 3.2)."""

    answers: int
    abstained: int
    verified: int
    partial: int
    unverified: int
    conflicting: int
    quotations: int
    unanchored: int


def truth_report(session: Session, since: datetime) -> TruthReport:
    """The counts of all answers sealed since `since`."""
    row = session.execute(sa.text(_COUNTS), {"since": since}).one()
    return TruthReport(**{key: int(value) for key, value in row._mapping.items()})
